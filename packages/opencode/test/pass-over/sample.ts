import type { FindingArtifact } from "../../src/pass-over/domain/artifact"
import type { ContextMessage, MessagePart, WorkContext } from "../../src/pass-over/domain/context"
import { PassID } from "../../src/pass-over/domain/id"
import type { PassOverMetadata, WorkOutput, WorkSummary } from "../../src/pass-over/domain/output"
import type { PassOverRequest } from "../../src/pass-over/domain/request"

/** Values that are whole and plain, for tests that care about one field of them. */
export const PASS = PassID.parse("0198c0de-0000-7000-8000-000000000001")
export const NOW = 1_760_000_000_000

export const part = (more: Partial<MessagePart> = {}): MessagePart => ({ id: "prt_1", type: "text", ...more })

export const message = (more: Partial<ContextMessage> = {}): ContextMessage => ({
  id: "msg_1",
  role: "assistant",
  agent_name: "audit",
  parts: [],
  timestamp: NOW,
  ...more,
})

/** A message of audit's with these parts. */
export const says = (...parts: Partial<MessagePart>[]) =>
  message({ parts: parts.map((more, index) => part({ id: `prt_${index + 1}`, ...more })) })

export const context = (more: Partial<WorkContext> = {}): WorkContext => ({
  session_id: "ses_1",
  directory: "/project",
  files: [],
  messages: [],
  objective: "Review the sums in src/total.ts",
  ...more,
})

export const request = (more: Partial<PassOverRequest> = {}): PassOverRequest => ({
  id: PASS,
  originating_agent_id: "alice",
  subagent_id: "audit",
  work_context: context(),
  reason: "review_changes",
  return_required: true,
  ...more,
})

export const metadata = (more: Partial<PassOverMetadata> = {}): PassOverMetadata => ({
  created_at: NOW,
  started_at: NOW + 1_000,
  completed_at: NOW + 41_000,
  returned_at: NOW + 41_000,
  pass_over_id: PASS,
  chain_depth: 1,
  origination_chain: [],
  wall_time_ms: 41_000,
  subagent_compute_ms: 40_000,
  applied: false,
  ...more,
})

export const summary = (more: Partial<WorkSummary> = {}): WorkSummary => ({
  findings: [],
  files_modified: 0,
  files_reviewed: 0,
  issues_found: 0,
  time_elapsed_ms: 41_000,
  ...more,
})

export const finding = (more: Partial<FindingArtifact> = {}): FindingArtifact => ({
  type: "finding",
  severity: "warning",
  category: "logic_error",
  message: "sums the wrong column",
  ...more,
})

export const output = (more: Partial<WorkOutput> = {}): WorkOutput => ({
  work_id: PASS,
  subagent_id: "audit",
  originating_agent_id: "alice",
  status: "completed",
  artifacts: [],
  summary: summary(),
  return_to: "alice",
  auto_apply_allowed: false,
  metadata: metadata(),
  ...more,
})
