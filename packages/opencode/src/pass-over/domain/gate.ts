import { z } from "zod"
import { PassID, SessionID } from "./id"
import { GateDefault } from "./preference"

/**
 * What a person is asked.
 *
 * - `confirmation`  may this pass start?
 * - `delivery`      may this result reach its originator?
 * - `approval`      may these changes be applied?
 * - `question`      something that an agent or a flow needs to know
 * - `escalation`    something that agents could not settle among themselves
 */
export const GateKind = z.enum(["confirmation", "delivery", "approval", "question", "escalation"])
export type GateKind = z.infer<typeof GateKind>

/** A question sends the asker back with the person's own words: neither a yes nor a no. */
export const GateVerdict = z.enum(["approve", "reject", "question"])
export type GateVerdict = z.infer<typeof GateVerdict>

export const GateStatus = z.enum(["pending", "approved", "rejected", "questioned", "withdrawn"])
export type GateStatus = z.infer<typeof GateStatus>

/** A pass that waits for a person outlives its opencode, also where they have answered while none was there to hear it. */
export const KEEPS = ["pending", "approved", "rejected", "questioned"] as const satisfies readonly GateStatus[]

/** A question to a person, as it is stored. The row is the gate: whoever answers it first has answered it. */
export const Gate = z.strictObject({
  gate_id: z.string(),
  /** What makes it this question and no other: asking again with the same key finds the same gate. */
  key: z.string().min(1),
  kind: GateKind,
  pass_over_id: PassID.nullable(),
  run_id: z.string().nullable(),
  session_id: SessionID,
  directory: z.string(),
  asked_by: z.string(),
  question: z.string(),
  detail: z.record(z.string(), z.unknown()),
  /** The setting that wants a person here, and where it is written. */
  policy: z.string(),
  default_action: GateDefault,
  status: GateStatus,
  note: z.string().nullable(),
  /** Null where nobody answered and the default holds. */
  answered_by: z.string().nullable(),
  surface: z.string().nullable(),
  time_created: z.number(),
  time_expires: z.number(),
  time_answered: z.number().nullable(),
  /** When its answer was carried out. */
  time_acted: z.number().nullable(),
})
export type Gate = z.infer<typeof Gate>

/** The detail of an approval that nobody waits for: a yes is carried out by whoever has the project open. */
export const AutoApproval = z.looseObject({ auto: z.literal(true), change_id: z.string(), approval: z.string() })

/** Whether nobody waits for the answer to an approval. */
export const isAuto = ({ detail }: Pick<Gate, "detail">) => AutoApproval.safeParse(detail).success

export type GateAnswer = {
  verdict: GateVerdict
  note: string | null
  /** Null where the default answers. */
  by: string | null
  surface: string
}

const BECOMES = {
  approve: "approved",
  reject: "rejected",
  question: "questioned",
} as const satisfies Record<GateVerdict, GateStatus>

export const statusAfter = (verdict: GateVerdict): GateStatus => BECOMES[verdict]

/** "rejected by ada in the terminal: not now", for an agent, an audit line and whoever came second. */
export function told(gate: Gate): string {
  if (gate.status === "pending") return "not answered yet"
  if (gate.status === "withdrawn") return "withdrawn, because nobody waits for the answer any more"
  const who = gate.answered_by === null ? "by default, because nobody answered in time" : `by ${gate.answered_by}`
  const where = gate.answered_by !== null && gate.surface ? ` in ${gate.surface}` : ""
  return `${gate.status} ${who}${where}${gate.note ? `: ${gate.note}` : ""}`
}
