import { ofFlow } from "../domain/call"
import { headline } from "../domain/envelope"
import { blockers } from "../domain/outcome"
import type { Pass } from "../domain/pass"
import { sourceOf, valuesOf } from "../domain/policy"
import type { Notify } from "../domain/preference"
import type { Log, Outcome } from "./port"
import type { Host } from "./port-host"

/**
 * How loud the user is told. A result that is brought to nobody would otherwise be heard of by nobody: it is told unless
 * somebody has said how loud it shall be. A flow reads what its steps leave.
 */
function loudness(pass: Pass): Notify {
  const { notify_on_return } = valuesOf(pass)
  const source = sourceOf(pass, "notify_on_return")
  const said = source !== undefined && source.origin !== "product"
  return pass.return_required || ofFlow(pass) || said ? notify_on_return : "always"
}

/** Tells the user of a result, as far as they want to hear of it. */
export function notify({ host, log }: { host: Host; log: Log }, pass: Pass, outcome: Outcome) {
  const wanted = loudness(pass)
  const issues = blockers(outcome.output)
  // A question is no news of a result.
  const quiet = wanted === "only_issues" && !issues && !outcome.asked
  if (wanted === "never" || quiet) return
  const text = outcome.held
    ? `A result for ${pass.originating_agent_id} waits for you: pass-over inbox`
    : `${headline(outcome.output, outcome.usage.cost)}${outcome.asked ? " · may it be applied? pass-over inbox" : ""}`
  host
    .notify({ text, issues })
    .catch((error: unknown) => log("warn", "the user could not be told of a result", { error: String(error) }))
}
