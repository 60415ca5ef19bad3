import { z } from "zod"
import { Given } from "./given"
import { AgentID, OwnerID, PassID, SessionID } from "./id"
import { InlineOverride } from "./preference"
import { ExpectedOutputType, Priority } from "./request"
import { DurationMs } from "./time"

const Text = z.string().trim().min(1).max(20_000)
const Line = z.string().trim().min(1).max(4_096)

/** What somebody outside of opencode wants passed to an agent: a script, another program, a person in a shell. */
export const StartAsk = z.strictObject({
  subagent: AgentID,
  objective: Text,
  reason: Line.default("asked for from outside"),
  from: AgentID.default("alice").describe("The originator: its preferences and its rights hold."),
  background: Text.optional(),
  files: z.array(Line).max(200).optional().describe("Paths that matter, in the project."),
  given: Given.optional().describe("What the caller has of its own: it is chosen from as a session is."),
  constraints: z.array(Line).max(50).optional(),
  expected_output_type: ExpectedOutputType.optional(),
  priority: Priority.optional(),
  timeout_ms: DurationMs.optional(),
  model: z
    .string()
    .regex(/^[^/]+\/.+$/, 'A model is written "provider/model".')
    .optional(),
  return_required: z
    .boolean()
    .optional()
    .describe("Whether the result is brought into the session; only where one is named, and then by itself."),
  auto_apply_on_success: z.boolean().optional(),
  override: InlineOverride.optional(),
})
export type StartAsk = z.infer<typeof StartAsk>

export const StartID = z.string().regex(/^sta_[0-9a-f]{32}$/)

export const StartState = z.enum(["pending", "claimed", "started", "refused"])
export type StartState = z.infer<typeof StartState>

/** The order to start a pass in a project. Whoever has the project open carries it out, and once. */
export const StartOrder = z.strictObject({
  start_id: z.custom<`sta_${string}`>((value) => StartID.safeParse(value).success),
  directory: z.string().min(1),
  /** A session that is named by whoever asks, or the one that was made for it. */
  session_id: SessionID.nullable(),
  /** Whether it was named: then its agent wants to know how it went. */
  named: z.boolean(),
  ask: StartAsk,
  actor: z.string(),
  state: StartState,
  owner_id: OwnerID.nullable(),
  pass_over_id: PassID.nullable(),
  /** Why there is no pass. */
  refusal: z.strictObject({ code: z.string(), message: z.string(), suggestion: z.string() }).nullable(),
  time_created: z.number(),
  /** Nobody is surprised by a pass that they have forgotten: what was not begun by then never is. */
  time_expires: z.number(),
})
export type StartOrder = z.infer<typeof StartOrder>

export const settledStart = ({ state }: Pick<StartOrder, "state">) => state === "started" || state === "refused"
