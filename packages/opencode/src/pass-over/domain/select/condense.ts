import { linesOf, type Line, type Unit } from "./unit"

/**
 * A message is readable while four fifths of its runs of five words are there. What is condensed stays above that: it
 * gives up white space, strings that nobody reads, what stands word for word in another message that goes along, and
 * the stretch that says least. It gives up nothing of its code.
 */
export const MAY_LOSE = 0.18

const RUN = 5
const LEAST_WORDS = 40
const LONG_WORD = 40
const KEPT_OF_WORD = 16
const MARK = "…"
// Beyond this nothing is looked at: a text so long goes along only where there is room for all of it.
const MOST = 200_000

// Addresses, tokens and encoded data: one word to a reader, dozens of tokens to a model.
const LONG = new RegExp(`\\S{${LONG_WORD},}`, "g")

/** Lines of other messages that go along already, as `lineKey` names them. */
export type Known = ReadonlySet<string>

const KEY_WORDS = 4

/** A line that is worth pointing to instead of saying it twice. */
export function lineKey(line: string): string | undefined {
  const text = line.trim().replaceAll(/\s+/g, " ")
  return text.length > 24 && text.split(" ", KEY_WORDS).length >= KEY_WORDS ? text : undefined
}

type Totals = { words: number; marks: number }
type Size = { words: number; marks: number }

/** The share of all runs that goes with a stretch of so many words, as both ways to count words see it. */
const lost = (size: Size, totals: Totals, around = RUN - 1) =>
  Math.max(
    (size.words + around) / Math.max(1, totals.words - RUN + 1),
    (size.marks + around) / Math.max(1, totals.marks - RUN + 1),
  )

const sum = (units: readonly Unit[]): Totals => ({
  words: units.reduce((total, one) => total + one.words, 0),
  marks: units.reduce((total, one) => total + one.marks, 0),
})

/** Leaves out lines that others say already; what may be lost of runs is only what crosses their edges. */
function pointed(lines: readonly Line[], known: Known, totals: Totals, may: number) {
  let gone = 0
  const elsewhere: string[] = []
  let before = false
  for (const { units, code } of lines) {
    const key = code ? undefined : lineKey(units.map(({ text }) => text).join(" "))
    const said = key !== undefined && known.has(key)
    const price = lost({ words: 0, marks: 0 }, totals, before ? 0 : 2 * (RUN - 1))
    if (said && gone + price <= may) {
      gone += price
      elsewhere.push(key)
      for (const one of units) Object.assign(one, { text: MARK, words: 0, marks: 0, tokens: 1 })
    }
    before = said
  }
  return { gone, elsewhere }
}

type Word = { unit: Unit; word: string; saves: number; loses: number }

function shortened(units: readonly Unit[], totals: Totals, may: number): number {
  const words = units.flatMap((unit): Word[] =>
    [...unit.text.matchAll(LONG)].map(([word]) => ({
      unit,
      word,
      saves: word.length,
      loses: lost({ words: 1, marks: word.match(/\w+/g)?.length ?? 1 }, totals),
    })),
  )
  let gone = 0
  for (const { unit, word, loses } of words.toSorted((a, b) => b.saves / b.loses - a.saves / a.loses)) {
    if (gone + loses > may) continue
    gone += loses
    unit.text = unit.text.replace(word, () => `${word.slice(0, KEPT_OF_WORD).toWellFormed()}${MARK}`)
  }
  return gone
}

/** The stretch that costs most and says least, within what may still be lost. Neither the first nor the last line. */
function stretch(units: readonly Unit[], totals: Totals, may: number): number {
  let best = { saves: 0, loses: 0, from: 0, to: 0 }
  let window = { from: 1, saves: 0, words: 0, marks: 0 }
  const take = (one: Unit, sign: 1 | -1) => {
    window.saves += (sign * one.tokens) / (1 + one.worth)
    window.words += sign * one.words
    window.marks += sign * one.marks
  }
  // One window slides over the text: what is added at its end falls out at its beginning when it is too much.
  for (let to = 1; to < units.length - 1; to += 1) {
    const one = units[to]
    if (!one || one.fixed) {
      window = { from: to + 1, saves: 0, words: 0, marks: 0 }
      continue
    }
    take(one, 1)
    while (window.from <= to && lost(window, totals) > may) {
      const first = units[window.from]
      if (first) take(first, -1)
      window.from += 1
    }
    if (window.from <= to && window.saves > best.saves) {
      best = { saves: window.saves, loses: lost(window, totals), from: window.from, to: to + 1 }
    }
  }
  for (const one of units.slice(best.from, best.to)) one.text = MARK
  return best.loses
}

const tidy = ({ units, code }: Line) => {
  const text = units.map((one) => one.text).join(" ")
  return code
    ? text
    : text
        .replaceAll(/(?:… )+…/g, MARK)
        .replaceAll(/[ \t\r\f\v]+/g, " ")
        .trimEnd()
}

function joined(lines: readonly Line[]): string {
  const kept: string[] = []
  for (const line of lines) {
    const text = tidy(line)
    if (text.trim() === "" || (text.trim() === MARK && kept.at(-1) === MARK)) continue
    kept.push(text.trim() === MARK ? MARK : text)
  }
  return kept.join("\n")
}

/** The words of a text as hashes, by white space. */
function wordHashes(text: string): number[] {
  const found: number[] = []
  let hash = 0
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 32
    const blank = code === 32 || (code >= 9 && code <= 13) || code === 160
    if (!blank) hash = Math.imul(hash ^ code, 0x01000193) + 0x9e3779b9
    if (!blank || hash === 0) continue
    found.push(hash)
    hash = 0
  }
  return found
}

/** The five-word runs of texts; each counts once. */
function runsOf(texts: readonly string[]): Set<number> {
  const found = new Set<number>()
  for (const text of texts) {
    const words = wordHashes(text)
    for (let at = 0; at + RUN <= words.length; at += 1) {
      let run = 0
      for (let next = at; next < at + RUN; next += 1) run = Math.imul(run ^ (words[next] ?? 0), 0x85ebca6b) + next - at
      found.add(run)
    }
  }
  return found
}

/** Which share of a text's five-word runs cannot be read in these texts. */
export function missing(text: string, within: readonly string[]): number {
  const present = runsOf(within)
  const all = runsOf([text])
  let gone = 0
  for (const run of all) if (!present.has(run)) gone += 1
  return gone / Math.max(1, all.size)
}

export type Condensed = { text: string; /** The share of its five-word runs that it may have lost. */ lost: number }

const NOTHING: Known = new Set()

/** The same words in less white space; code keeps its own. */
const spare = (lines: readonly Line[]) =>
  lines
    .map(({ units, code }) => {
      const text = units.map((one) => one.text).join(" ")
      return code ? text : text.replaceAll(/[ \t\r\f\v]+/g, " ").trimEnd()
    })
    .filter((line) => line.trim() !== "")
    .join("\n")

/** A text with less white space, and shorter by what says least, as far as it stays readable. */
export function condense(text: string, query: ReadonlySet<number>, may = MAY_LOSE, known = NOTHING): Condensed {
  if (may <= 0 || text.length > MOST) return { text, lost: 0 }
  const lines = linesOf(text, query)
  const units = lines.flatMap((line) => line.units)
  const totals = sum(units)
  if (Math.min(totals.words, totals.marks) < LEAST_WORDS) return { text: spare(lines), lost: 0 }
  const free = units.filter(({ fixed }) => !fixed)
  const { gone, elsewhere } = pointed(lines, known, totals, may)
  const words = gone + shortened(free, totals, may - gone)
  stretch(units, totals, may - words)
  const short = joined(lines)
  // In a text that repeats itself a stretch may hold more of its different runs than its length says.
  const away = missing(text, [short, ...elsewhere])
  return away > may ? { text: spare(linesOf(text, query)), lost: 0 } : { text: short, lost: away }
}
