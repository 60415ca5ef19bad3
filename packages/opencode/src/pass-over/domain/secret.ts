import { CONTEXTS, sensitiveField } from "./secret-context"
import { createFinder } from "./secret-find"
import { TOKENS, type Rule } from "./secret-rules"

export type Redacted = { text: string; found: string[] }

type Span = { from: number; to: number; kind: string }

const RULES: readonly Rule[] = [...TOKENS, ...CONTEXTS]

const find = createFinder(RULES.flatMap((rule) => rule.words.map((word) => ({ word, item: rule }))))

const LETTER = /[A-Za-z0-9]/
const GOES_ON = /[A-Za-z0-9_+/=~-]/

// In JSON inside a text a new line is the letter n behind a backslash, in a URL a quote is %22.
function inWord(text: string, at: number): boolean {
  if (at === 0 || !LETTER.test(text.charAt(at - 1))) return false
  if (text.charAt(at - 2) === "\\" && /[nrt]/.test(text.charAt(at - 1))) return false
  return !/%[0-9A-Fa-f]{2}$/.test(text.slice(Math.max(0, at - 3), at))
}

function begin(rule: Rule, text: string, at: number): number {
  if (!rule.before) return at
  const { most, of } = rule.before
  const least = Math.max(0, at - most)
  let from = at
  while (from > least && of.test(text.charAt(from - 1))) from -= 1
  return from
}

function match(rule: Rule, text: string, at: number): Span | undefined {
  const from = begin(rule, text, at)
  if (!rule.inside && inWord(text, from)) return
  rule.pattern.lastIndex = from
  const found = rule.pattern.exec(text)
  if (!found || (rule.accept && !rule.accept(found, text))) return
  const end = found.index + found[0].length
  return { from: end - (found.groups?.value ?? found[0]).length, to: end, kind: rule.kind }
}

/** A token that is longer than we thought is a secret to its end. */
function whole(text: string, span: Span): Span {
  let to = span.to
  while (to < text.length && GOES_ON.test(text.charAt(to))) to += 1
  return { ...span, to }
}

function spans(text: string): Span[] {
  const found: Span[] = []
  let done = 0
  find.each(text, (rule, at) => {
    if (at < done) return
    const span = match(rule, text, at)
    if (!span || span.from < done) return
    const { from, to, kind } = whole(text, span)
    found.push({ from, to, kind })
    done = to
  })
  return found
}

/** No secret is that short, and none has no word to be known by. */
const plainly = (text: string) => text.length < 8 || !find.any(text)

const mark = (kind: string) => `[redacted:${kind}]`

/** Whether something was taken out of a text: it is not what it was, and nothing may be written from it. */
export const isRedacted = (text: string) => /\[redacted:[a-z-]+\]/.test(text)

/** Puts a mark in the place of everything in a text that looks like a secret. In time that grows with its length alone. */
export function redact(text: string): Redacted {
  const found = plainly(text) ? [] : spans(text)
  if (found.length === 0) return { text, found: [] }
  const pieces = found.map(({ from, kind }, index) => text.slice(found[index - 1]?.to ?? 0, from) + mark(kind))
  return { text: pieces.join("") + text.slice(found.at(-1)?.to), found: found.map(({ kind }) => kind) }
}

const DEEPEST = 64

/**
 * The same with everything in a value, at any depth, names included. A value in which nothing was found comes back
 * itself. Bytes are not text: they stay as they are, which is how exact contents pass.
 */
export function redactDeep<T>(value: T): T {
  return deep(value, { name: "", depth: 0, seen: new Map() }) as T
}

// Values that never change any more: how deep they go, and whether nothing was found in them.
const unchanging = new WeakMap<object, { height: number; clean: boolean }>()

/**
 * Closes a value for good, at every depth, and gives it back. What a pass carries along through all of its operations is
 * looked through with the first of them.
 */
export function closed<T extends object>(value: T): T {
  if (unchanging.has(value)) return value
  const kept = { height: Infinity, clean: false }
  unchanging.set(value, kept)
  const inside = Object.values(value).filter((inner) => typeof inner === "object" && inner !== null)
  kept.height = 1 + Math.max(0, ...inside.map((inner) => unchanging.get(closed(inner))?.height ?? 0))
  return Object.freeze(value)
}

/** Where in a value we are; one object in several places is looked through once, and again only where more of it is. */
type Where = { name: string; depth: number; seen: Map<object, { now: unknown; depth: number }> }

function deep(value: unknown, where: Where): unknown {
  if (typeof value === "string") return cleaned(value, where.name)
  if (typeof value !== "object" || value === null || where.depth > DEEPEST) return value
  if (Array.isArray(value)) return list(value, where)
  if (!plain(value)) return value
  const kept = unchanging.get(value)
  if (kept?.clean) return value
  const known = where.seen.get(value)
  if (known && known.depth <= where.depth) return known.now
  const now = fields(value, where)
  where.seen.set(value, { now, depth: where.depth })
  if (kept && now === value && where.depth + kept.height <= DEEPEST) kept.clean = true
  return now
}

function cleaned(text: string, name: string): string {
  if (sensitiveField(name, text)) return mark("secret")
  return plainly(text) ? text : redact(text).text
}

function list(items: readonly unknown[], { name, depth, seen }: Where): readonly unknown[] {
  const inside = { name, depth: depth + 1, seen }
  let changed: unknown[] | undefined
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at]
    const now = deep(item, inside)
    if (now !== item) changed ??= items.slice(0, at)
    changed?.push(now)
  }
  return changed ?? items
}

/** Of every operation of the store all arguments come by here, so nothing is built where nothing has changed. */
function fields(value: Record<string, unknown>, { depth, seen }: Where): Record<string, unknown> {
  const keys = Object.keys(value)
  let changed: [string, unknown][] | undefined
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? ""
    const item = value[key]
    const now =
      typeof item === "string" || typeof item === "object" ? deep(item, { name: key, depth: depth + 1, seen }) : item
    const called = key.length < 16 ? key : redact(key).text
    if (now !== item || called !== key) changed ??= keys.slice(0, at).map((before) => [before, value[before]])
    changed?.push([called, now])
  }
  return changed ? Object.fromEntries(changed) : value
}

function plain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const SECRET_NAME =
  /^(?:\.env(?:\..+|rc)?|\.?npmrc|\.pypirc|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.git-credentials|\.dockercfg|credentials(?:\.(?:json|ya?ml|toml|db))?|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|kubeconfig|secrets?\.(?:json|ya?ml|toml|env|ini|properties)|service[-_]?account.*\.json|client_secret.*\.json|terraform\.tfstate(?:\.backup)?|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|ppk|asc|gpg|tfvars|ovpn|env)|wallet\.dat|master\.key|shadow)$/i
const SECRET_PLACE =
  /(?:^|[\\/])(?:\.aws[\\/]credentials|\.docker[\\/]config\.json|\.kube[\\/]config|\.ssh[\\/](?!.*\.pub$|known_hosts|config$).+|\.gnupg[\\/].+|\.azure[\\/].+|gcloud[\\/].+\.(?:json|db)|opencode[\\/]auth\.json)$/i
const SAMPLE = /\.(?:example|sample|template|dist|defaults?)$|(?:^|\.)(?:example|sample|template)\.|\.pub$/i

/** Whether a file is made to hold secrets, by its name: such files do not go along with a pass. */
export function secretFile(path: string): boolean {
  const name = path.split(/[\\/]/).at(-1) ?? ""
  if (SAMPLE.test(name)) return false
  return SECRET_NAME.test(name) || SECRET_PLACE.test(path)
}

export * as Secret from "./secret"
