import { z } from "zod"
import { WorkContext } from "./context"
import { AgentID, PassID } from "./id"
import { OutputStatus, ReviewDecision } from "./output"
import { DurationMs } from "./time"

export const Priority = z.enum(["low", "medium", "high"])
export type Priority = z.infer<typeof Priority>

export const ExpectedOutputType = z.enum(["decision", "artifacts", "report", "mixed"])
export type ExpectedOutputType = z.infer<typeof ExpectedOutputType>

/** A bounded piece of work, handed by one agent to another. The originating agent is written once and never changes. */
export const PassOverRequest = z.strictObject({
  id: PassID,
  originating_agent_id: AgentID,
  subagent_id: AgentID,
  work_context: WorkContext,
  reason: z.string().trim().min(1).max(2_000),
  priority: Priority.optional(),
  timeout_ms: DurationMs.optional(),
  return_required: z.boolean(),
  auto_apply_on_success: z.boolean().optional(),
  constraints: z.array(z.string().trim().min(1).max(2_000)).max(100).optional(),
  expected_output_type: ExpectedOutputType.optional(),
})
export type PassOverRequest = z.infer<typeof PassOverRequest>

/** Metadata on the originator's message part at the moment of the pass, so that a session read back later shows it. */
export const PassOverMarker = z.strictObject({
  pass_over_id: PassID,
  originating_agent: AgentID,
  subagent: AgentID,
  reason: z.string(),
})
export type PassOverMarker = z.infer<typeof PassOverMarker>

/** Metadata on the part that carries the result back and on the one that closes the child's transcript. */
export const PassOverReturnMarker = z.strictObject({
  work_output: z.strictObject({
    work_id: PassID,
    status: OutputStatus,
    decision: ReviewDecision.optional(),
    artifacts_count: z.int().nonnegative(),
  }),
  return_to: AgentID,
})
export type PassOverReturnMarker = z.infer<typeof PassOverReturnMarker>
