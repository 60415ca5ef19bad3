import type { ContextMessage } from "../context"
import { lineKey } from "./condense"
import type { Scored } from "./score"
import { whole, type Variant } from "./variant"

/** A message that goes along, as it goes along. */
export type Taken = Variant & { text: string; tokens: number; bytes: number }

export type Room = { tokens: number; bytes: number }

export type Bench = {
  textOf: (message: ContextMessage) => string
  /** Exactly, for what goes along. */
  count: (text: string) => number
  size: (text: string) => number
  query: ReadonlySet<number>
  may_lose: number
}

// Between two messages stands a line break.
const JOINT = 1

/** Notes which lines go along now, so that no other message says them again. */
function note(lines: Set<string>, { text }: Taken) {
  for (const line of text.split("\n")) {
    const key = lineKey(line)
    if (key !== undefined) lines.add(key)
  }
}

export const prepared = (bench: Bench, variant: Variant): Taken => {
  const text = bench.textOf(variant.message)
  return { ...variant, text, tokens: bench.count(text) + JOINT, bytes: bench.size(text) + JOINT }
}

// Value for its price, and variants of it that let dearer messages through: which serves best depends on how coarse the
// messages are against the budget.
const LEANINGS = [1, 0.8, 0.6, 0.4]

/** What condensing usually leaves of a price. */
const LEAVES = 0.88

const order = (list: readonly Scored[], leaning: number) =>
  list
    .map((one) => ({ one, rank: one.value / Math.max(1, one.tokens) ** leaning }))
    .toSorted((a, b) => b.rank - a.rank || a.one.index - b.one.index)
    .map(({ one }) => one)

function worth(list: readonly Scored[], room: number): number {
  let left = room
  let value = 0
  for (const one of list) {
    const price = one.tokens * LEAVES
    if (price > left) continue
    left -= price
    value += one.value
  }
  return value
}

/** The order in which messages are tried: the one that would bring in most. */
export function ordered(list: readonly Scored[], room: number): Scored[] {
  const orders = LEANINGS.map((leaning) => order(list, leaning))
  const best = orders.map((one) => worth(one, room))
  return orders[best.indexOf(Math.max(...best))] ?? []
}

// What a message takes at least of what it was estimated at. Fewer tries are counted exactly and in vain for it.
const LEAST_OF_ESTIMATE = 0.6
const SURE_AFTER = 12
const SLACK = 0.85

/** Learns from what was counted how far the estimates of this log are off. */
function createGuess() {
  let estimated = 0
  let counted = 0
  let times = 0
  return {
    learn(estimate: number, count: number) {
      estimated += estimate
      counted += count
      times += 1
    },
    least: (estimate: number) =>
      estimate * (times < SURE_AFTER ? LEAST_OF_ESTIMATE : Math.max(0.3, SLACK * (counted / estimated))),
  }
}

// When so many in a row did not fit, what is left is too little for any.
const PATIENCE = 24

/** Takes one after the other what still fits, counted exactly. */
export function pack(list: readonly Scored[], room: Room, bench: Bench, taken: Map<number, Taken>): Room {
  const left = { ...room }
  const lines = new Set<string>()
  const guess = createGuess()
  let vain = 0
  for (const one of taken.values()) note(lines, one)
  for (const { index, message, tokens, kind } of list) {
    if (left.tokens < 4 || vain > PATIENCE) break
    if (taken.has(index) || guess.least(tokens) > left.tokens) continue
    const made = prepared(bench, whole(message, bench.query, kind === "user" ? 0 : bench.may_lose, lines))
    guess.learn(tokens, made.tokens)
    vain += 1
    if (made.tokens > left.tokens || made.bytes > left.bytes) continue
    vain = 0
    taken.set(index, made)
    note(lines, made)
    left.tokens -= made.tokens
    left.bytes -= made.bytes
  }
  return left
}
