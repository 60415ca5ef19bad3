/** How many bits a character of a text carries, by how often each occurs in it. */
export function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0)
}

// Only where it cannot be a real one: documentation, forms to fill in, and what we have put in its place ourselves.
const STAND_IN =
  /example|placeholder|changeme|change[-_]me|your[-_]|redacted|dummy|\bfake|insert[-_]|replace[-_]?(?:me|with)|x{6}|\*{3}|\.{3}|0{12}|1234567890ab|deadbeef|abcdefghij/i

/** Whether a text is written out, and not a stand-in for something secret. */
export const real = (value: string) => !STAND_IN.test(value)

export const literal = (match: RegExpExecArray) => {
  const value = match.groups?.value ?? match[0]
  return real(value) && new Set(value).size > 6
}

const REFERENCE =
  /^(?:\$|%[A-Za-z_]|\{\{|<|process\.|import\.|os\.|env[.[(]|secrets?\.|vars\.|config\.|vault:|op:\/\/|arn:|projects\/|keyring:|file:|\.{0,2}\/|~\/|https?:|sha\d{3}[-:]|md5[-:]|data:|@)/i
const NAME = /^[A-Za-z_$][\w$-]*(?:[?!]?[.:][A-Za-z_$][\w$-]*)*[!?]?$/
const FILE = /\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|txt|py|go|rs|java|rb|sh|pem|key|crt|css|html)$/i
const DATE = /^\d{4}-\d\d-\d\d(?:T|$)/

/** Random by its looks: letters and digits well mixed, or many letters of both cases. */
function random(value: string): boolean {
  if (value.length < 12) return false
  const bits = entropy(value)
  if (/[A-Za-z]/.test(value) && /\d/.test(value)) return bits >= 3
  if (/^\d+$/.test(value)) return value.length >= 32
  return value.length >= 20 && /[a-z]/.test(value) && /[A-Z]/.test(value) && bits >= 4.1
}

const HUMP = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g
const WORD = /[aeiou]/i

// "V2CredentialError" and "kebab-case-name-1" are made of words, "a8Kd02mVq9" is not.
function named(value: string): boolean {
  if (!NAME.test(value)) return false
  const words = (value.match(HUMP) ?? []).filter((hump) => hump.length > 2 && WORD.test(hump))
  return words.reduce((sum, word) => sum + word.length, 0) >= value.length * 0.7
}

/** Whether what stands beside the name of a secret is one. `word` is that name, without what comes before and after it. */
export function sensitive(word: string, whole: string, quoted: boolean): boolean {
  // The beginning is enough to tell, and a text full of such names costs less.
  const value = whole.slice(0, 64)
  if (!real(value) || REFERENCE.test(value) || FILE.test(value) || DATE.test(value)) return false
  if (new Set(value).size < 4 || value.includes("${")) return false
  const password = /^p/i.test(word) && !/^private/i.test(word)
  if (!password) return random(value) && !named(value) && !/\s/.test(value)
  if (random(value) && !named(value)) return true
  // People choose passwords of few characters; a sentence or a name in the code is none.
  if (value.length < 6 || !/[A-Za-z]/.test(value)) return false
  if (quoted) return /\d|[^\w\s.-]/.test(value) || (/[a-z][A-Z]/.test(value) && !named(value))
  return /\d/.test(value) && !named(value)
}
