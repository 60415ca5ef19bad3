import type { Candidate } from "./candidate"
import { scan } from "./words"

/** What the words of a log tell about its messages, each figure between 0 and 1. */
export type Lexicon = {
  /** How much of what the objective asks about a message speaks of; rare words weigh most. */
  relevance: Float64Array
  /** How much of what it says first is taken up later. */
  origin: Float64Array
  /** How much of it was said before. */
  repeated: Float64Array
  /** How much of it stands in the objective itself. */
  asked: Float64Array
}

const K1 = 1.2
const B = 0.6

type Counts = { frequency: Map<number, number>; first: Map<number, number> }

function count(list: readonly Candidate[]): Counts {
  const frequency = new Map<number, number>()
  const first = new Map<number, number>()
  const last = new Map<number, number>()
  for (const { index, words } of list) {
    const { terms } = words
    for (let at = 0; at < terms.length; at += 1) {
      const term = terms[at] ?? 0
      if (last.get(term) === index) continue
      last.set(term, index)
      frequency.set(term, (frequency.get(term) ?? 0) + 1)
      if (!first.has(term)) first.set(term, index)
    }
  }
  return { frequency, first }
}

const scaled = (values: Float64Array) => {
  let top = 0
  for (const value of values) if (value > top) top = value
  return top > 0 ? values.map((value) => value / top) : values
}

function relevance(list: readonly Candidate[], { frequency }: Counts, query: ReadonlySet<number>): Float64Array {
  const size = Math.max(1, list.length)
  const average = list.reduce((sum, { words }) => sum + words.terms.length, 0) / size || 1
  return scaled(
    Float64Array.from(list, ({ words }) => {
      const found = new Map<number, number>()
      for (let at = 0; at < words.terms.length; at += 1) {
        const term = words.terms[at] ?? 0
        if (query.has(term)) found.set(term, (found.get(term) ?? 0) + 1)
      }
      const norm = K1 * (1 - B + (B * words.terms.length) / average)
      let score = 0
      for (const [term, times] of found) {
        const among = frequency.get(term) ?? 0
        score += Math.log(1 + (size - among + 0.5) / (among + 0.5)) * ((times * (K1 + 1)) / (times + norm))
      }
      return score
    }),
  )
}

/** A term that is in every tenth message is the talk's furniture and nobody's contribution. */
const COMMON = 0.1
const FEW = 4

function origin(list: readonly Candidate[], { frequency, first }: Counts, query: ReadonlySet<number>): Float64Array {
  const most = Math.max(FEW, list.length * COMMON)
  return scaled(
    Float64Array.from(list, ({ index, words }) => {
      let taken = 0
      for (let at = 0; at < words.terms.length; at += 1) {
        const term = words.terms[at] ?? 0
        if (words.specific[at] !== 1 || first.get(term) !== index || query.has(term)) continue
        const among = frequency.get(term) ?? 1
        if (among >= 2 && among <= most) taken += 1
      }
      return taken / Math.sqrt(words.terms.length + 20)
    }),
  )
}

const LEAST_RUNS = 3

function share(runs: Uint32Array, seen: ReadonlySet<number>): number {
  if (runs.length < LEAST_RUNS) return 0
  let found = 0
  for (let at = 0; at < runs.length; at += 1) if (seen.has(runs[at] ?? 0)) found += 1
  return found / runs.length
}

function repeated(list: readonly Candidate[]): Float64Array {
  const seen = new Set<number>()
  return Float64Array.from(list, ({ words }) => {
    const before = share(words.runs, seen)
    for (let at = 0; at < words.runs.length; at += 1) seen.add(words.runs[at] ?? 0)
    return before
  })
}

export function lexicon(list: readonly Candidate[], objective: string): Lexicon {
  const asked = scan(objective)
  const query = new Set(asked.terms)
  const counts = count(list)
  const said = new Set(asked.runs)
  return {
    relevance: relevance(list, counts, query),
    origin: origin(list, counts, query),
    repeated: repeated(list),
    asked: Float64Array.from(list, ({ words }) => share(words.runs, said)),
  }
}
