/** Words of a text as 32-bit hashes: no substrings are made, so that a log of megabytes is read in tens of milliseconds. */
export type Words = {
  /** In order, stop words left out. */
  terms: Uint32Array
  /** Whether each of them is specific: a number, an identifier, a long word. */
  specific: Uint8Array
  /** Hashes of runs of four words, every fourth of them by content, so that copies share the same ones. */
  runs: Uint32Array
  /** What o200k makes of it, near enough to rank by. What goes along is counted exactly. */
  tokens: number
}

const BASE = 0x811c9dc5
const PRIME = 0x01000193
const mix = (hash: number, code: number) => Math.imul(hash ^ code, PRIME) >>> 0

const STOP_WORDS =
  "a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is it its let may me more my no not now of on or our out she should so some than that the their them then there these they this to up us was we were what when where which who will with would you your about also all just only other over such very here please"

const CJK = 0x2e80

function fold(code: number): number {
  if (code >= 65 && code <= 90) return code + 32
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95) return code
  return code > 127 && code !== 0x2026 && !(code >= 0x2000 && code <= 0x206f) ? code : 0
}

const E = 101
const S = 115

/** How much of a word its light stem keeps: "sums", "summed" and "summing" meet where that costs nothing. */
function stem(codes: Uint16Array, length: number): number {
  const last = codes[length - 1] ?? 0
  const before = codes[length - 2] ?? 0
  if (length > 5 && last === 103 && before === 110 && codes[length - 3] === 105) return length - 3
  if (length > 4 && last === 100 && before === E) return length - 2
  if (length > 4 && last === S && before === E) return length - 2
  if (length > 3 && last === S && before !== S) return length - 1
  return length > 4 && last === E ? length - 1 : length
}

const LONGEST = 64
const buffer = new Uint16Array(LONGEST)

function hashOf(length: number): number {
  const end = stem(buffer, length)
  let hash = BASE
  for (let at = 0; at < end; at += 1) hash = mix(hash, buffer[at] ?? 0)
  return hash
}

export function termOf(word: string): number {
  const length = Math.min(word.length, LONGEST)
  for (let at = 0; at < length; at += 1) buffer[at] = fold(word.charCodeAt(at))
  return hashOf(length)
}

const STOP = new Set(STOP_WORDS.split(" ").map(termOf))

type Scan = { terms: number[]; specific: number[]; runs: number[]; last: [number, number, number]; tokens: number }

const weight = (length: number, digits: number) => {
  if (digits === 0) return length < 9 ? 1.05 : length / 6.5
  return digits === length ? Math.ceil(length / 3) : Math.max(1, length / 2.5)
}

function take(scan: Scan, length: number, digits: number) {
  const hash = hashOf(length)
  scan.tokens += weight(length, digits)
  const [a, b, c] = scan.last
  const run = mix(mix(mix(mix(BASE, a), b), c), hash)
  if (run % 4 === 0) scan.runs.push(run)
  scan.last = [b, c, hash]
  if (STOP.has(hash) || (length < 2 && digits === 0 && (buffer[0] ?? 0) < CJK)) return
  scan.terms.push(hash)
  scan.specific.push(digits > 1 || length > 7 ? 1 : 0)
}

/** A blank belongs to the word after it, a line break mostly to what is around it; other marks are half a token each. */
const marks = (code: number) => {
  if (code === 32 || Number.isNaN(code)) return 0
  return code === 10 ? 0.4 : 0.6
}

export function scan(text: string): Words {
  const found: Scan = { terms: [], specific: [], runs: [], last: [0, 0, 0], tokens: 0 }
  let length = 0
  let digits = 0
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? fold(text.charCodeAt(at)) : 0
    const whole = code >= CJK
    if ((code === 0 || whole) && length > 0) {
      take(found, length, digits)
      length = 0
      digits = 0
    }
    if (code === 0) {
      found.tokens += marks(text.charCodeAt(at))
      continue
    }
    if (length < LONGEST) buffer[length++] = code
    if (code <= 57) digits += 1
    // Scripts without blanks: every character is a word.
    if (!whole) continue
    take(found, length, 0)
    length = 0
    digits = 0
  }
  return {
    terms: Uint32Array.from(found.terms),
    specific: Uint8Array.from(found.specific),
    runs: Uint32Array.from(found.runs),
    tokens: Math.ceil(found.tokens),
  }
}
