import { headline } from "../domain/envelope"
import { blockers } from "../domain/outcome"
import type { Pass } from "../domain/pass"
import { valuesOf } from "../domain/policy"
import type { Log, Outcome } from "./port"
import type { Host } from "./port-host"

/** Tells the user of a result, as far as they want to hear of it. */
export function notify({ host, log }: { host: Host; log: Log }, pass: Pass, outcome: Outcome) {
  const { notify_on_return } = valuesOf(pass)
  const issues = blockers(outcome.output)
  // A question is no news of a result.
  const quiet = notify_on_return === "only_issues" && !issues && !outcome.asked
  if (notify_on_return === "never" || quiet) return
  const text = outcome.held
    ? `A result for ${pass.originating_agent_id} waits for you: pass-over inbox`
    : `${headline(outcome.output, outcome.usage.cost)}${outcome.asked ? " · may it be applied? pass-over inbox" : ""}`
  host
    .notify({ text, issues })
    .catch((error: unknown) => log("warn", "the user could not be told of a result", { error: String(error) }))
}
