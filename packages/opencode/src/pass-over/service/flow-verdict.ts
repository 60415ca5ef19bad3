import { blockers, findingsOf } from "../domain/outcome"
import type { EnvelopeStatus } from "../handoff/envelope"
import type { Outcome } from "./port"

/**
 * What a step's envelope says of it. VERIFIED is more than claims that are borne out: nothing may be left to be
 * concerned about either.
 */
export function verdictOf({ output, error_code }: Outcome): EnvelopeStatus {
  const { verdict, decision } = output.summary
  if (verdict?.status === "BLOCKED" || decision === "blocked") return "BLOCKED"
  if (error_code !== null || blockers(output) || decision === "needs_modification") return "UNVERIFIED"
  if (findingsOf(output).some(({ severity }) => severity !== "info")) return "UNVERIFIED"
  return verdict?.status ?? "UNVERIFIED"
}
