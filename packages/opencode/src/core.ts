/**
 * The rules of Pass Over by themselves, for scripts and other plugins. All of it is pure: no file, no network, and no
 * clock but where HistorySelector.select is told no `now`.
 *
 *     import { ChainValidator, Extract, HistorySelector, PassOver } from "opencode-pass-over/core"
 *
 *     ChainValidator.validatePassOverChain({ originating_agent_id: "scout", subagent_id: "audit" }, { above: ["alice"] })
 *     HistorySelector.select(messages, { max_tokens: 20_000 })
 *     Extract.artifacts(messages, "audit")
 *     PassOver.WorkOutput.parse(answer)
 */
export { ChainValidator } from "./pass-over/domain/chain-validator"
export { PassOverError, PassOverErrorCode, userFacingErrorMessage } from "./pass-over/domain/errors"
export { Extract } from "./pass-over/domain/extract"
export { HistorySelector } from "./history-selector"
export { summarise } from "./pass-over/domain/summary"
export { PassOver } from "./pass-over/domain/types"
