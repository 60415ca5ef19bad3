import { z } from "zod"
import { WorkArtifact } from "./artifact"
import { ChangeID, ChangeOrigin } from "./change/change"
import { PassOverErrorCode } from "./errors"
import { Evidence, OutputVerdict } from "./evidence-schema"
import { AgentID, PassID } from "./id"
import { Timestamp } from "./time"

export const OutputStatus = z.enum(["completed", "failed", "aborted", "partial"])
export type OutputStatus = z.infer<typeof OutputStatus>

export const ReviewDecision = z.enum(["approved", "rejected", "needs_modification", "blocked"])
export type ReviewDecision = z.infer<typeof ReviewDecision>

/** An error as an outcome names it: which one, in words, and what to do about it. */
export const ErrorNote = z.strictObject({
  code: z.enum(PassOverErrorCode),
  message: z.string(),
  suggested_action: z.string(),
})
export type ErrorNote = z.infer<typeof ErrorNote>

export const WorkSummary = z.strictObject({
  /** Computed from what the child was seen doing; it stands first in what the originator reads. */
  verdict: OutputVerdict.optional(),
  evidence: z.array(Evidence).optional(),
  /** What the pass wants changed, or has changed: to be reviewed, applied and undone under this id. */
  change: z
    .strictObject({
      change_id: ChangeID,
      origin: ChangeOrigin,
      files: z.int().nonnegative(),
      notes: z.array(z.string()),
    })
    .optional(),
  /** What stood in its way while it worked, though the pass itself may have ended well. */
  errors: z.array(ErrorNote).optional(),
  generated_summary: z.string().optional(),
  decision: ReviewDecision.optional(),
  decision_reason: z.string().optional(),
  findings: z.array(z.string()),
  recommendations: z.array(z.string()).optional(),
  files_modified: z.int().nonnegative(),
  files_reviewed: z.int().nonnegative(),
  issues_found: z.int().nonnegative(),
  time_elapsed_ms: z.number().nonnegative(),
})
export type WorkSummary = z.infer<typeof WorkSummary>

export const OriginationLink = z.strictObject({
  agent_id: AgentID,
  timestamp: Timestamp,
  action: z.enum(["initiated", "delegated", "returned"]),
})
export type OriginationLink = z.infer<typeof OriginationLink>

export const PassOverMetadata = z.strictObject({
  created_at: Timestamp,
  started_at: Timestamp.optional(),
  completed_at: Timestamp.optional(),
  returned_at: Timestamp.optional(),
  pass_over_id: PassID,
  trace_id: z.string().optional(),
  chain_depth: z.int().positive(),
  origination_chain: z.array(OriginationLink),
  policy_name: z.string().optional(),
  policy_override: z.boolean().optional(),
  wall_time_ms: z.number().nonnegative(),
  subagent_compute_ms: z.number().nonnegative(),
  applied: z.boolean(),
  applied_at: Timestamp.optional(),
  applied_by: z.string().optional(),
})
export type PassOverMetadata = z.infer<typeof PassOverMetadata>

/** What comes back from a pass: always exactly one, whatever happened to the child. */
export const WorkOutput = z.strictObject({
  work_id: PassID,
  subagent_id: AgentID,
  originating_agent_id: AgentID,
  status: OutputStatus,
  completion_reason: z.string().optional(),
  artifacts: z.array(WorkArtifact),
  summary: WorkSummary,
  return_to: AgentID,
  auto_apply_allowed: z.boolean(),
  metadata: PassOverMetadata,
})
export type WorkOutput = z.infer<typeof WorkOutput>

/** §8.2's `statistics`, derived: the numbers are stored once, flat in the summary. */
export const statistics = (summary: WorkSummary) => ({
  files_modified: summary.files_modified,
  issues_found: summary.issues_found,
  time_elapsed_ms: summary.time_elapsed_ms,
})

export const SummaryRequest = z.strictObject({
  artifacts: z.array(WorkArtifact),
  style: z.enum(["bullet_points", "narrative", "decision_tree"]),
  max_length: z.int().positive().optional(),
  focus: z.enum(["critical", "all", "high_level"]).optional(),
})
export type SummaryRequest = z.infer<typeof SummaryRequest>
