/**
 * The selection of context for any log of agents' work, without opencode:
 *
 *     import { selectLog } from "opencode-pass-over/context"
 *
 *     const { text, tokens, items } = await selectLog({
 *       messages: [
 *         { role: "user", text: "How many of them are left?" },
 *         { role: "assistant", agent: "Coder", text: "I assume that the list is complete …" },
 *       ],
 *       objective: "How many of them are left?",
 *       max_tokens: 4_000,
 *     })
 *
 * `text` holds what was chosen in its order, each message under a line "### <agent>", with a digest of the others in
 * front; all of it together is at most `max_tokens` long, counted exactly for o200k. `items` accounts for every message
 * in order: whether it went along whole, in part or not at all, its tokens, and why. Equal input gives equal output; no
 * clock, no network, no model. Options: `weights`, `may_lose` (0 keeps every word of what is chosen), `files`,
 * `max_bytes`, and `ranked`, a ranking of messages by id that somebody else made. See docs/context.md.
 */
import { chooseLog, type LogAsk, type LogChoice } from "./pass-over/domain/select/log"
import { tokens } from "./session/tokens"

export type { LogAsk, LogChoice, LogMessage } from "./pass-over/domain/select/log"
export type { Chosen } from "./pass-over/domain/select/choose"
export { WEIGHTS, type Kind, type Weights } from "./pass-over/domain/select/weights"

/** Counts tokens exactly for o200k; control tokens count as the text that they look like. */
export const countTokens = tokens

export async function selectLog(ask: Omit<LogAsk, "count"> & { count?: LogAsk["count"] }): Promise<LogChoice> {
  return chooseLog({ ...ask, count: ask.count ?? (await tokens()) })
}
