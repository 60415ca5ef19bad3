/**
 * Whether a child goes in circles. Repetition is judged by call and answer together: the same call with the same
 * answer, or near to it. The call alone says nothing: paging, polling with progress, a test after each edit and
 * batches repeat their calls and are honest work.
 */

/** One tool call with its answer. */
export type Turn = { tool: string; input: string; output: string; failed: boolean }

export type CircleOptions = {
  /** How often the same has to come back before the child is told. */
  tell: number
  /** And before it is ended. */
  end: number
  /** How far back is looked. */
  window: number
}

export const CIRCLES: CircleOptions = { tell: 4, end: 8, window: 48 }

// What changes from one run to the next without meaning anything. Plain numbers stay: they are what progress looks like.
const NOISE: readonly [RegExp, string][] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, "@time"],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[AP]M)?\b/gi, "@time"],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? +(?:\d{1,2} +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}(?: +\d{1,2})?(?:,? +\d{4})?/g,
    "@time",
  ],
  [/\b1[5-9]\d{8}(?:\d{3})?(?:\.\d{1,6})?\b/g, "@time"],
  [/\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds|min|minutes)\b/gi, "@took"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "@id"],
  [/\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b/gi, "@hash"],
  [/\b(?:pid|process|request[-_ ]?id|req|trace|session)[ :=#-]{1,3}[\w-]{1,40}/gi, "@run"],
  [/(?:\/private)?\/(?:tmp|var\/folders)\/[\w./-]{1,200}/g, "@tmp"],
  [/\b(?:0x)[0-9a-f]{4,16}\b/gi, "@address"],
]

const LONGEST = 20_000

/** A text without what only tells when and where it was printed. */
export function calm(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST / 2)}\n${text.slice(-LONGEST / 2)}` : text
  const quiet = NOISE.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), cut)
  return quiet.toLowerCase().replaceAll(/\s+/g, " ").trim()
}

const WORDS = /[\p{L}\p{N}_@]+/gu

const words = (text: string) => text.match(WORDS) ?? []

/** Overlapping pairs of words: order counts, a word more or less does not. */
function shingles(text: string): Map<string, number> {
  const list = words(text)
  const all = new Map<string, number>()
  const add = (key: string) => all.set(key, (all.get(key) ?? 0) + 1)
  if (list.length === 1) add(list[0] ?? "")
  for (let index = 0; index + 1 < list.length; index += 1) add(`${list[index]} ${list[index + 1]}`)
  return all
}

function overlap(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0
  let total = 0
  for (const [key, count] of a) {
    shared += Math.min(count, b.get(key) ?? 0)
    total += count
  }
  for (const count of b.values()) total += count
  return total === 0 ? 1 : (2 * shared) / total
}

type Seen = {
  turn: Turn
  call: string
  answer: string
  callWords: Map<string, number>
  answerWords: Map<string, number>
  numbers: string
}

const NUMBER = /\d+(?:\.\d+)?/g

function see(turn: Turn): Seen {
  const call = calm(`${turn.tool} ${turn.input}`)
  const answer = calm(turn.output)
  return {
    turn,
    call,
    answer,
    callWords: shingles(call),
    answerWords: shingles(answer),
    numbers: (answer.match(NUMBER) ?? []).join(" "),
  }
}

// A failure that stays word for word the same is the same however the call was worded around it: tiny edits between
// two runs of one failing command change the call's neighbours, not its answer.
const SAME_CALL = 0.6
const SAME_ANSWER = 0.9

const sameAnswer = (a: Seen, b: Seen) =>
  a.answer === b.answer || (a.numbers === b.numbers && overlap(a.answerWords, b.answerWords) >= SAME_ANSWER)

/** The same thing done again with the same result. */
function again(a: Seen, b: Seen): boolean {
  if (a.turn.tool !== b.turn.tool || a.turn.failed !== b.turn.failed || !sameAnswer(a, b)) return false
  if (a.call === b.call) return true
  // Two calls that both found nothing, or both just worked, are alike in nothing but that.
  if (a.answerWords.size < 4) return false
  return overlap(a.callWords, b.callWords) >= SAME_CALL
}

const short = (text: string) => (text.length > 120 ? `${text.slice(0, 119)}…` : text)

export type Circle = {
  /** How often the same was done, this time included. */
  turns: number
  what: string
  /** It was told and went on; there is nothing more to wait for. */
  over: boolean
}

export type Circles = { next(turn: Turn): Circle | undefined }

/** Looks at one turn after another. Each is read once; what lies too far back is forgotten. */
export function watchCircles(options: CircleOptions = CIRCLES): Circles {
  let seen: Seen[] = []
  return {
    next(turn) {
      const latest = see(turn)
      const turns = seen.filter((earlier) => again(earlier, latest)).length + 1
      seen = [...seen, latest].slice(-options.window)
      if (turns < options.tell) return
      return { turns, what: short(`${turn.tool} ${turn.input}`), over: turns >= options.end }
    },
  }
}
