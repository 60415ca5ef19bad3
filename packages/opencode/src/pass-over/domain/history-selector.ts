import { byteLength } from "./bytes"
import type { ContextMessage } from "./context"

export type SelectLimit = {
  max_messages?: number | undefined
  max_tokens?: number | undefined
  lookback_minutes?: number | undefined
}

export type SelectOptions = SelectLimit & {
  /** The present, for the time window. Without it the newest message's own time serves. */
  now?: number
  count?: (message: ContextMessage) => number
}

/** The architecture's limits, §6.2. */
export const SPEC_LIMIT = { max_messages: 20, max_tokens: 50_000, lookback_minutes: 60 } as const

/** Never an underestimate for byte-level encodings: a token is at least one byte. */
const bytes = (message: ContextMessage) => byteLength(JSON.stringify(message.parts))

/**
 * The most recent messages that fit the limits, in their order. A limit that is not given does not bind, except that a
 * call without any limit gets those of the architecture.
 */
export function select(messages: readonly ContextMessage[], options: SelectOptions = {}): ContextMessage[] {
  const none =
    options.max_messages === undefined && options.max_tokens === undefined && options.lookback_minutes === undefined
  const limit: SelectLimit = none ? SPEC_LIMIT : options
  const now = options.now ?? messages.at(-1)?.timestamp ?? 0
  const since = limit.lookback_minutes === undefined ? -Infinity : now - limit.lookback_minutes * 60_000
  const recent = messages.filter((message) => message.timestamp >= since)
  const counted = limit.max_messages === undefined ? recent : recent.slice(-limit.max_messages || recent.length)
  if (limit.max_tokens === undefined) return counted
  const count = options.count ?? bytes
  const kept: ContextMessage[] = []
  let used = 0
  for (const message of counted.toReversed()) {
    used += count(message)
    if (used > limit.max_tokens) break
    kept.push(message)
  }
  return kept.toReversed()
}

export * as HistorySelector from "./history-selector"
