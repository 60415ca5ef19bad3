import { byteLength } from "./bytes"
import type { ContextMessage } from "./context"
import { milliseconds } from "./time"

export type SelectLimit = {
  max_messages?: number | undefined
  max_tokens?: number | undefined
  lookback_minutes?: number | undefined
}

type Count = (message: ContextMessage) => number

export type SelectOptions = SelectLimit & {
  /** The present, for the time window. Without it the newest message's own time serves. */
  now?: number | undefined
  count?: Count
}

/** The architecture's limits, §6.2. */
export const SPEC_LIMIT = { max_messages: 20, max_tokens: 50_000, lookback_minutes: 60 } as const

/** Never an underestimate for byte-level encodings: a token is at least one byte. */
const bytes: Count = (message) => byteLength(JSON.stringify(message.parts))

/** The most recent messages that are together no larger than a budget, whole, in their order. */
export function latest(messages: readonly ContextMessage[], most: number, count: Count): ContextMessage[] {
  const kept: ContextMessage[] = []
  let used = 0
  for (const message of messages.toReversed()) {
    used += count(message)
    if (used > most) break
    kept.push(message)
  }
  return kept.toReversed()
}

// As in the architecture's own code, 0 messages or tokens is no limit.
const open = (limit: number) => limit === 0 || limit === Infinity

/**
 * The most recent messages that fit the limits, in their order. A limit that is not given is the architecture's; Infinity
 * leaves it open. Times may be seconds (decision 5).
 */
export function select(messages: readonly ContextMessage[], options: SelectOptions = {}): ContextMessage[] {
  const max_messages = options.max_messages ?? SPEC_LIMIT.max_messages
  const max_tokens = options.max_tokens ?? SPEC_LIMIT.max_tokens
  const lookback_minutes = options.lookback_minutes ?? SPEC_LIMIT.lookback_minutes
  const now = milliseconds(options.now ?? messages.at(-1)?.timestamp ?? 0)
  const since = now - lookback_minutes * 60_000
  const recent = messages.filter((message) => milliseconds(message.timestamp) >= since)
  const counted = open(max_messages) ? recent : recent.slice(-max_messages)
  return open(max_tokens) ? counted : latest(counted, max_tokens, options.count ?? bytes)
}
