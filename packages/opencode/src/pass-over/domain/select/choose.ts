import { messageText } from "../brief"
import { byteLength } from "../bytes"
import type { ContextMessage } from "../context"
import { candidates } from "./candidate"
import { MAY_LOSE } from "./condense"
import { digest, digestLines } from "./digest"
import { lexicon } from "./lexicon"
import { ordered, pack, prepared, type Bench, type Room, type Taken } from "./pack"
import { score, type Scored } from "./score"
import { view } from "./variant"
import { ROOMY, SHARE, WEIGHTS, type Weights } from "./weights"
import { scan } from "./words"

export type Ask = {
  objective: string
  /** Paths in question. */
  files?: readonly string[]
  max_tokens: number
  max_bytes?: number
  /** Counts tokens exactly. */
  count: (text: string) => number
  weights?: Partial<Omit<Weights, "kind">> & { kind?: Partial<Weights["kind"]> }
  /** Whether the choice is counted once more as one text, or only message by message. */
  counted?: "whole" | "parts"
  /** How much of its five-word runs a message may give up to make room for others; 0 keeps every word. */
  may_lose?: number
  /** What a model makes of the messages: by id, between 0 and 1. Those it does not name keep their place. */
  ranked?: ReadonlyMap<string, number>
}

export type Chosen = {
  ref: string
  taken: "whole" | "part" | "none"
  why: string
  /** Of what went along; of what did not, an estimate. */
  tokens: number
  bytes: number
}

export type Choice = {
  /** In the order of the log; a digest of the others comes first, under an id of its own. */
  messages: ContextMessage[]
  items: Chosen[]
  tokens: number
  bytes: number
}

export const DIGEST_ID = "pass_over_digest"

const digestMessage = (text: string, first: ContextMessage | undefined): ContextMessage => ({
  id: DIGEST_ID,
  role: "assistant",
  agent_name: "pass-over",
  timestamp: first?.timestamp ?? 0,
  parts: [{ id: DIGEST_ID, type: "text", text, synthetic: true }],
})

/** The first thing that the user asked and the last that the user said, unless the objective says it already. */
function pinned(list: readonly Scored[], asked: Float64Array): Scored[] {
  const user = list.filter(({ kind, index }) => kind === "user" && (asked[index] ?? 0) < 0.7)
  const [first] = user
  const last = user.at(-1)
  return [first, last].filter((one, at, all) => one !== undefined && all.indexOf(one) === at) as Scored[]
}

const MOST_DIGEST = 1_500
// What a token of a digest takes at most, with what stands around it.
const BYTES = 5

const VIEW = 120
const LEAST_VIEW = 40
const MOST_VIEWS = 40

/** Long messages that did not fit, by their head, tail and what matches, the best first, within the room. */
function views(list: readonly Scored[], room: Room, bench: Bench, taken: Map<number, Taken>): Room {
  const left = { ...room }
  const long = list
    .filter(({ index, tokens, kind }) => !taken.has(index) && tokens > LEAST_VIEW && kind !== "bookkeeping")
    .toSorted((a, b) => b.value - a.value || a.index - b.index)
    .slice(0, MOST_VIEWS)
  for (const { index, message } of long) {
    if (left.tokens < LEAST_VIEW) break
    const made = prepared(bench, view(message, bench.query, Math.min(VIEW, left.tokens * 0.7)))
    if (made.tokens > left.tokens || made.bytes > left.bytes) continue
    taken.set(index, made)
    left.tokens -= made.tokens
    left.bytes -= made.bytes
  }
  return left
}

function describe(one: Scored, taken: Taken | undefined): Chosen {
  const why = one.reasons.join(", ")
  const base = { ref: one.message.id, why }
  if (!taken) {
    return {
      ...base,
      taken: "none",
      why: `${why}; did not fit beside what matters more`,
      tokens: one.tokens,
      bytes: byteLength(one.text),
    }
  }
  const whole = !taken.cut && taken.lost === 0
  const how = taken.cut ? "; cut inside" : `; condensed by ${Math.ceil(taken.lost * 100)} %`
  return {
    ...base,
    taken: whole ? "whole" : "part",
    why: whole ? why : `${why}${how}`,
    tokens: taken.tokens,
    bytes: taken.bytes,
  }
}

function weightsOf({ weights }: Ask): Weights {
  return { ...WEIGHTS, ...weights, kind: { ...WEIGHTS.kind, ...weights?.kind } }
}

function fill(list: Scored[], asked: Float64Array, ask: Ask, bench: Bench): Map<number, Taken> {
  const taken = new Map<number, Taken>()
  const all: Room = { tokens: ask.max_tokens, bytes: ask.max_bytes ?? Infinity }
  const free = all.tokens < ROOMY ? 0 : all.tokens
  const kept = Math.floor(free * (SHARE.digest + SHARE.views))
  const user = pack(
    pinned(list, asked),
    { tokens: Math.floor(all.tokens * SHARE.user), bytes: Math.floor(all.bytes * SHARE.user) },
    bench,
    taken,
  )
  const spent = {
    tokens: Math.floor(all.tokens * SHARE.user) - user.tokens,
    bytes: all.bytes === Infinity ? 0 : Math.floor(all.bytes * SHARE.user) - user.bytes,
  }
  const line = all.bytes === Infinity ? 0 : Math.min(MOST_DIGEST * BYTES, Math.floor(all.bytes * SHARE.digest))
  const room = { tokens: all.tokens - kept - spent.tokens, bytes: all.bytes - spent.bytes - line }
  const order = ordered(list, room.tokens)
  const left = pack(order, room, bench, taken)
  // Nothing is kept free where that would leave nothing at all.
  if (taken.size === 0) pack(order, all, bench, taken)
  if (taken.size > 0) {
    views(order, { tokens: left.tokens + Math.floor(free * SHARE.views), bytes: left.bytes }, bench, taken)
  }
  return taken
}

const textOf = (list: readonly ContextMessage[]) => list.map(messageText).join("\n")

const fits = (text: string, ask: Ask) => {
  const tokens = ask.count(text)
  return { tokens, ok: tokens <= ask.max_tokens && byteLength(text) <= (ask.max_bytes ?? Infinity) }
}

const inOrder = (taken: ReadonlyMap<number, Taken>) =>
  [...taken].toSorted((a, b) => a[0] - b[0]).map(([, one]) => one.message)

/** Drops the least of what was taken until the whole, counted as one text, fits. Almost always it does at once. */
function settle(taken: Map<number, Taken>, list: readonly Scored[], ask: Ask): number {
  const sum = taken.values().reduce((total, one) => total + one.tokens, 0)
  if (ask.counted === "parts") return sum
  const least = [...taken.keys()].toSorted((a, b) => (list[a]?.value ?? 0) - (list[b]?.value ?? 0))
  for (;;) {
    const { tokens, ok } = fits(textOf(inOrder(taken)), ask)
    if (ok || taken.size === 0) return tokens
    taken.delete(least.shift() ?? -1)
  }
}

const HEADER = 12

type Front = { messages: ContextMessage[]; tokens: number }

/** Puts the digest in front where it fits beside everything else. */
function withDigest(taken: ReadonlyMap<number, Taken>, tokens: number, list: readonly Scored[], ask: Ask): Front {
  const messages = inOrder(taken)
  const bytes = (ask.max_bytes ?? Infinity) - byteLength(textOf(messages))
  const room = Math.min(ask.max_tokens - tokens - HEADER, MOST_DIGEST, Math.floor(bytes / BYTES) - HEADER)
  const text = digest(digestLines(list, taken), list.length, room, ask.count)
  if (text === undefined) return { messages, tokens }
  const front = digestMessage(text, messages[0])
  const all = [front, ...messages]
  if (ask.counted === "parts") {
    const sum = byteLength(textOf(all)) + all.length
    return sum <= (ask.max_bytes ?? Infinity)
      ? { messages: all, tokens: tokens + ask.count(messageText(front)) + 1 }
      : { messages, tokens }
  }
  const whole = fits(textOf(all), ask)
  return whole.ok ? { messages: all, tokens: whole.tokens } : { messages, tokens }
}

/**
 * The part of a log that an objective needs, within a budget of tokens. What goes along is counted exactly, as one text,
 * with all that stands around it. The same log and question give the same choice.
 */
export function choose(messages: readonly ContextMessage[], ask: Ask): Choice {
  const list = candidates(messages, messageText)
  const words = lexicon(list, ask.objective)
  const scored = score(list, words, {
    objective: ask.objective,
    files: ask.files ?? [],
    weights: weightsOf(ask),
    ranked: ask.ranked ?? new Map(),
  })
  const bench: Bench = {
    textOf: messageText,
    count: ask.count,
    size: byteLength,
    query: new Set(scan(ask.objective).terms),
    may_lose: ask.may_lose ?? MAY_LOSE,
  }
  const taken = fill(scored, words.asked, ask, bench)
  const made = withDigest(taken, settle(taken, scored, ask), scored, ask)
  return {
    messages: made.messages,
    items: scored.map((one) => describe(one, taken.get(one.index))),
    tokens: made.messages.length === 0 ? 0 : made.tokens,
    bytes: byteLength(textOf(made.messages)),
  }
}
