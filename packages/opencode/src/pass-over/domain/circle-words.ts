/**
 * Texts as they are compared when a child may be going in circles: without what only tells when and where they were
 * printed, as numbers in place of words, and only a bounded part of them. A watched child costs some kilobytes however
 * much its tools print, and no piece of a large answer is held in memory.
 */
export type Words = {
  /** The same for texts that say the same in the same order. */
  key: string
  /** A number for each word, sorted; its two lowest bits tell what kind of word it is. */
  bag: Int32Array
  /** It tells of something that is not as it should be. */
  complains: boolean
}

// A word in a sentence; a name, a number or a state, which is news where it differs; a place in a file, which moves with
// every line that is put in above it.
const PLAIN = 0
const NEWS = 1
const PLACE = 2

export type Difference = {
  /** How many words the two have in common, and how many only one of them has. */
  shared: number
  left: number
  right: number
  /** A name, a number or a state is among the words that differ. */
  news: boolean
  /** A place in a file is. */
  moved: boolean
}

const PIECE = 2_000

// Whole lines where there are any: a duration at the top that is a digit longer moves every cut.
const lines = (piece: string, first: boolean, last: boolean) => {
  const from = first ? 0 : piece.indexOf("\n") + 1
  const to = last ? piece.length : piece.lastIndexOf("\n")
  return to > from ? piece.slice(from, to) : piece
}

/** Beginning, middle and end of a long text. */
export function pieces(text: string): string {
  if (text.length <= 3 * PIECE) return text
  // On a grid, so that texts of nearly the same length have the same middle.
  const middle = Math.floor((text.length - PIECE) / 2 / PIECE) * PIECE
  const head = lines(text.slice(0, PIECE), true, false)
  return `${head}\n${lines(text.slice(middle, middle + PIECE), false, false)}\n${lines(text.slice(-PIECE), false, true)}`
}

const STAMP =
  /\d{4}-\d\d-\d\d(?:[T_]\d\d[:-]?\d\d(?:[:-]?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|(?<!\d)20\d{6}[-_T]?\d{6}(?!\d)|(?<!\d)1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?(?!\d)|(?<!\d)\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g
const STAMPED = /\d\d?[-:]\d\d|\d{8}/
const RANDOM = /(?:\/private)?\/tmp\/tmp[\w.-]{4,}|\/var\/folders\/[\w./-]+|\btmp[._-][\w]{6,}/g
const ID =
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<![a-z0-9])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}(?![a-z0-9])|0x[0-9a-f]{4,16}|\b[a-z]{2,5}_[0-9a-z]{16,}/gi
const ID_LIKE = /[0-9a-f]{7}|0x|_[0-9a-z]{16}/i
const SCRATCH = /^(?:\/private)?\/tmp\/\S+/
const TOOK = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|sec|m|min|h))+$/i
const NUMBER = /^[\d.,]+$/
const KEYED = /^(?:pid|process|req|request[-_]?id|trace[-_]?id|attempt|try|retry)[:#-]+\S*\d/i

const set = (words: string) => new Set(words.split(" "))

const UNITS = set("ns us µs ms s sec secs second seconds min mins minute minutes")
const LEFT = set("left remaining to")
// What follows one of these tells which run it was, not what came of it.
const RUN = set(
  "pid process req request request-id request_id x-request-id trace trace-id trace_id attempt try retry elapsed elapsed_ms took duration duration_ms uptime timestamp time ts seed session nonce",
)
// Rewording moves these about and means nothing by it.
const FILLER = set(
  "a an the is are was were be been to of in on at by for from with and or but so that this these those it its there here again still now just please very as if then than we i you",
)
// A different state is news even where everything around it stays.
const STATES = set(
  "pending queued waiting scheduled starting started running active building built compiling linking packaging testing deploying deployed uploading downloading done complete completed finished success succeeded successful ok ready healthy unhealthy up down open opened closed merged failed failing failure fail pass passed passing error errored cancelled canceled aborted skipped stopped stopping idle busy locked unlocked enabled disabled true false yes no none null on off approved rejected modified added deleted removed created changed unchanged clean dirty empty partial",
)

const COMPLAINTS = set(
  "fail failed failing failure failures error errors exception traceback panic fatal abort aborted cannot can't not couldn't unable refused denied rejected invalid undefined expected missing unauthorized unauthorised unhealthy wrong",
)
const ALL_WELL = set("0 no without")
const AT = /:\d+(?::\d+)?$/
const LINE = set("line column col ln")
const NAME = /\d|[/\\_$@]|[a-z]\.[a-z]|[a-z][A-Z]/
const DIGIT = /\d/
const WORD = /[^\s"'`,;()[\]{}<>|=]+/g
const EDGE = ":.!?*#"
// A longer one is no word. It is compared, and no pattern is tried on it.
const LONG_WORD = 200

const PRIME = 0x01000193
const SEED = 0x811c9dc5

function hash(text: string, from: number): number {
  let value = from
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    value = Math.imul(value ^ (code >= 65 && code <= 90 ? code | 32 : code), PRIME)
  }
  return value
}

/** What stays of a word that holds digits, or nothing where it is a time, a duration or the like. */
function quiet(word: string, before: string, after: readonly string[], ids: boolean): string {
  if (TOOK.test(word) && before !== "eta" && !LEFT.has(after[0] ?? "")) return ""
  if (NUMBER.test(word) && UNITS.has(after[0] ?? "") && before !== "eta" && !LEFT.has(after[1] ?? "")) return ""
  if (RUN.has(before) || KEYED.test(word)) return ""
  if (ids && SCRATCH.test(word)) return ""
  const timeless = STAMPED.test(word) ? word.replaceAll(STAMP, "") : word
  const rest = /tmp|\/var\//.test(timeless) ? timeless.replaceAll(RANDOM, "") : timeless
  return ids && ID_LIKE.test(rest) ? rest.replaceAll(ID, "") : rest
}

const kindOf = (word: string, low: string) => (STATES.has(low) || NAME.test(word) ? NEWS : PLAIN)

function trimmed(word: string): string {
  let [from, to] = [0, word.length]
  while (from < to && EDGE.includes(word[from] ?? "")) from += 1
  while (to > from && EDGE.includes(word[to - 1] ?? "")) to -= 1
  return word.slice(from, to)
}

const bare = (word: string | undefined) =>
  word === undefined || word.length > LONG_WORD ? "" : trimmed(word).toLowerCase()

/** What stands between two words, spaces left out. */
function gap(text: string, from: number, to: number, start: number): number {
  let value = start
  for (let index = from; index < to; index += 1) {
    const code = text.charCodeAt(index)
    if (code > 32) value = Math.imul(value ^ code, PRIME)
  }
  return value
}

/**
 * Reads a text. Ids and hashes are left out of answers, where each run prints new ones; in a call they are what the
 * call is about.
 */
export function words(text: string, ids: "with ids" | "without ids"): Words {
  const some = pieces(text)
  const found = some.match(WORD) ?? []
  const bag: number[] = []
  let [first, second] = [SEED, 0x1b873593]
  let end = 0
  let complains = false
  for (const [index, match] of found.entries()) {
    const at = some.indexOf(match, end)
    first = gap(some, end, at, first)
    end = at + match.length
    const raw = match.length > LONG_WORD ? match : trimmed(match)
    const digits = match.length <= LONG_WORD && DIGIT.test(raw)
    const before = digits ? bare(found[index - 1]) : ""
    const after = digits ? [bare(found[index + 1]), bare(found[index + 2])] : []
    const word = digits ? quiet(raw, before, after, ids === "without ids") : raw
    if (word === "") continue
    const value = hash(word, SEED)
    first = Math.imul(first ^ value, PRIME)
    second = Math.imul(second + value, 0x85ebca6b) ^ (second >>> 13)
    const low = word.toLowerCase()
    if (FILLER.has(low)) continue
    if (!complains && (COMPLAINTS.has(low) || low.endsWith("error"))) complains = !ALL_WELL.has(bare(found[index - 1]))
    const place = LINE.has(before) ? word : (digits && AT.exec(word)?.[0]) || ""
    if (place !== "") bag.push((hash(place, SEED) & ~3) | PLACE)
    const rest = place === "" ? word : word.slice(0, -place.length)
    if (rest !== "") bag.push(((place === "" ? value : hash(rest, SEED)) & ~3) | kindOf(rest, low))
  }
  return { key: `${first >>> 0}.${second >>> 0}`, bag: Int32Array.from(bag).sort(), complains }
}

/** What two bags of words have in common. `news` ends the comparison: nothing that follows could undo it. */
export function compare(a: Int32Array, b: Int32Array, until: "news" | "end"): Difference {
  const difference = { shared: 0, left: 0, right: 0, news: false, moved: false }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const left = i < a.length ? (a[i] ?? 0) : Infinity
    const right = j < b.length ? (b[j] ?? 0) : Infinity
    if (left === right) {
      difference.shared += 1
      i += 1
      j += 1
      continue
    }
    const one = left < right ? left : right
    if (left < right) i += 1
    if (right < left) j += 1
    difference[left < right ? "left" : "right"] += 1
    if ((one & NEWS) !== 0) difference.news = true
    if (difference.news && until === "news") return difference
    if ((one & PLACE) !== 0) difference.moved = true
  }
  return difference
}

/** How much of two texts is the same, from 0 to 1. */
export const share = ({ shared, left, right }: Difference) =>
  shared + left + right === 0 ? 1 : (2 * shared) / (2 * shared + left + right)
