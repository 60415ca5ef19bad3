import type { ContextMessage } from "./pass-over/domain/context"
import { select as choose, type SelectOptions } from "./pass-over/domain/history-selector"

export { SPEC_LIMIT, type SelectLimit, type SelectOptions } from "./pass-over/domain/history-selector"

/** The guide's entry (4.2), with the architecture's limits, §6.2: the window ends now, where no other time is given. */
export const select = (messages: readonly ContextMessage[], options: SelectOptions = {}): ContextMessage[] =>
  choose(messages, { ...options, now: options.now ?? Date.now() })

export * as HistorySelector from "./history-selector"
