import { z } from "zod"
import type { WorkArtifact } from "../domain/artifact"
import type { AuditLine } from "../domain/audit-log"
import { ofFlow } from "../domain/call"
import { heldBySettings, type Result } from "../domain/delivery"
import { GateKind, GateVerdict } from "../domain/gate"
import type { WorkOutput } from "../domain/output"
import type { Pass } from "../domain/pass"

/** How a result went on its way, as the line of its outcome tells it; older lines do not. */
export const Sent = z.object({
  mode: z.enum(["tool", "message", "none"]),
  status: z.enum(["pending", "held", "sending", "delivered"]),
})

const Answered = z.object({ gate: z.object({ kind: GateKind, verdict: GateVerdict }) })

export type EndedPass = {
  pass: Pass
  output: WorkOutput
  error_code: Result["error_code"]
  /** Artifacts that the lines do not hold. */
  omitted: number
  sent: z.infer<typeof Sent> | undefined
  /** The lines of the pass after that of its outcome. */
  later: readonly AuditLine[]
}

type Arrival = { mode: "message" | "none"; status: "held" | "delivered"; time_delivered: number | null }

// Whether it ever arrived is not known: it can be read, and is not sent into a session a second time.
const READABLE: Arrival = { mode: "none", status: "delivered", time_delivered: null }
const HELD: Arrival = { mode: "message", status: "held", time_delivered: null }
const DROPPED: Arrival = { mode: "none", status: "held", time_delivered: null }

const findings = (artifacts: readonly WorkArtifact[]) => artifacts.filter(({ type }) => type === "finding").length

/** Whether a person was to see it first, by what is left of it: what is not, may be the reason why. */
function withheld({ pass, output, error_code, omitted }: EndedPass): boolean {
  if (ofFlow(pass)) return false
  const whole = findings(output.artifacts) >= output.summary.issues_found
  const seen: WorkOutput = whole ? output : { ...output, status: "partial" }
  return heldBySettings(pass, { output: seen, error_code, transcript: omitted > 0 ? "unread" : "read" })
}

const verdictOf = (lines: readonly AuditLine[]) =>
  lines.map((line) => Answered.safeParse(line.detail).data?.gate).findLast((gate) => gate?.kind === "delivery")?.verdict

/** How far a result has come on its way, by the lines: what a person holds back, or has refused, stays so. */
export function arrivalOf(ended: EndedPass): Arrival {
  const { pass, sent, later } = ended
  const processed = later.find(({ action }) => action === "processed")
  if (processed) return { ...READABLE, time_delivered: processed.returned_at ?? processed.timestamp }
  if (!pass.return_required) return withheld(ended) ? DROPPED : READABLE
  const held = sent ? sent.status === "held" : withheld(ended)
  if (!held) return READABLE
  const verdict = verdictOf(later)
  if (verdict === "approve") return READABLE
  const over = verdict !== undefined || later.some(({ action }) => action === "cancelled" || action === "timed_out")
  return over ? DROPPED : HELD
}
