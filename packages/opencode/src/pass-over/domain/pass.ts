import { z } from "zod"
import type { AuditAction, PassOverAuditEntry } from "./audit-log"
import { ERRORS, errorName, type PassOverErrorCode, type Refusal } from "./errors"
import { AgentID, OwnerID, PassID, SessionID } from "./id"
import type { OutputStatus, ReviewDecision, WorkOutput } from "./output"
import { ExpectedOutputType, Priority } from "./request"
import { ReturnStatus } from "./return-context"

/** A pass as it is stored: what was asked, where it stands, who runs it. Context, artifacts and outcome lie beside it. */
export const Pass = z.strictObject({
  id: PassID,
  session_id: SessionID,
  root_session_id: SessionID,
  message_id: z.string().nullable(),
  call_id: z.string().nullable(),
  directory: z.string(),
  user_id: z.string().nullable(),

  originating_agent_id: AgentID,
  subagent_id: AgentID,
  reason: z.string(),
  objective: z.string(),
  objective_hash: z.string(),
  background: z.string().nullable(),
  priority: Priority,
  expected_output_type: ExpectedOutputType,
  constraints: z.array(z.string()),
  return_required: z.boolean(),
  wait: z.boolean(),
  auto_apply_on_success: z.boolean(),
  model: z.string().nullable(),
  timeout_ms: z.int().positive(),
  context_bytes: z.int().nonnegative(),

  parent_pass_id: PassID.nullable(),
  /** The earlier pass in whose child session this one goes on. */
  continues_pass_id: PassID.nullable(),
  trace_id: PassID,
  chain_depth: z.int().positive(),
  max_chain_depth: z.int().positive(),
  ancestors: z.array(AgentID),

  policy: z.string(),
  overrides: z.record(z.string(), z.unknown()),
  preference: z.record(z.string(), z.unknown()),

  status: ReturnStatus,
  revision: z.int().nonnegative(),
  owner_id: OwnerID,
  fence: z.int().positive(),
  child_session_id: SessionID.nullable(),

  time_created: z.number(),
  time_started: z.number().nullable(),
  time_ended: z.number().nullable(),
})
export type Pass = z.infer<typeof Pass>

/** What one change of a pass leaves in the audit, before it is given its place in the chain. */
export type AuditNote = PassOverAuditEntry & {
  action: AuditAction
  actor: string
  error_code: PassOverErrorCode | null
  decision: ReviewDecision | null
  detail: Record<string, unknown> | null
}

type Said = Pick<Refusal, "message"> & Partial<Refusal>

/** Guide 7.3: what is known of an error, for whoever looks for it later. Never a stack: it would name our own insides. */
const told = (code: PassOverErrorCode, pass: Noted, { message, suggestion, detail = {} }: Said) => ({
  code,
  name: errorName(code),
  message,
  recoverable: ERRORS[code].recoverable,
  suggested_action: suggestion ?? ERRORS[code].action,
  ...(Object.keys(detail).length > 0 ? { detail } : {}),
  context: {
    session_id: pass.session_id,
    from_agent: pass.originating_agent_id,
    to_agent: pass.subagent_id,
    chain_depth: pass.chain_depth ?? null,
  },
})

export type NoteOptions = {
  action: AuditAction
  actor: string
  at: number
  output?: WorkOutput | undefined
  error_code?: PassOverErrorCode | undefined
  /** Why it was refused, as whoever asked for it was told. */
  refusal?: Refusal
  summary?: string
  /** What else a lost database is rebuilt from. */
  detail?: Record<string, unknown>
}

const ENDED: readonly AuditAction[] = ["returned", "timed_out", "cancelled"]

const files = (output: WorkOutput | undefined) => output?.summary.files_modified ?? 0

/** What of a pass its audit entry tells; a pass that was refused has no more than this. */
export type Noted = Pick<
  Pass,
  | "id"
  | "session_id"
  | "directory"
  | "user_id"
  | "originating_agent_id"
  | "subagent_id"
  | "reason"
  | "expected_output_type"
  | "context_bytes"
  | "policy"
  | "overrides"
  | "time_started"
> & { chain_depth?: number }

function detailOf(pass: Noted, { error_code, refusal, output, action, detail }: NoteOptions, summary: string) {
  // What stood in its way is told once, with its outcome.
  const met = ENDED.includes(action) ? (output?.summary.errors ?? []) : []
  if (!error_code && met.length === 0) return detail ?? null
  const errors = met.map(({ code, message, suggested_action }) =>
    told(code, pass, { message, suggestion: suggested_action }),
  )
  return {
    ...detail,
    ...(error_code ? { error: told(error_code, pass, refusal ?? { message: summary }) } : {}),
    ...(errors.length > 0 ? { errors } : {}),
  }
}

/** When its result reached the originator: by its delivery, which is written down with the line that it was dealt with. */
const returnedAt = ({ action, at, output }: NoteOptions) =>
  output?.metadata.returned_at ?? (action === "processed" ? at : null)

/** The audit entry of §7.1 for a pass at one moment: what it has not reached is null. */
export function note(pass: Noted, options: NoteOptions): AuditNote {
  const { output } = options
  const returned_at = returnedAt(options)
  const status: OutputStatus | null = output?.status ?? null
  const summary = options.summary ?? output?.completion_reason ?? output?.summary.decision ?? ""
  return {
    pass_over_id: pass.id,
    session_id: pass.session_id,
    timestamp: options.at,
    originating_agent: pass.originating_agent_id,
    subagent: pass.subagent_id,
    user_id: pass.user_id,
    reason: pass.reason,
    work_context_size_bytes: pass.context_bytes,
    expected_output_type: pass.expected_output_type,
    started_at: pass.time_started,
    completed_at: output?.metadata.completed_at ?? null,
    duration_ms: output ? output.metadata.wall_time_ms : null,
    status,
    artifacts_count: output?.artifacts.length ?? 0,
    files_modified_count: files(output),
    issues_found_count: output?.summary.issues_found ?? 0,
    returned: returned_at !== null,
    returned_at,
    applied: output?.metadata.applied ?? false,
    applied_by: output?.metadata.applied_by ?? null,
    policy_applied: pass.policy,
    policy_overrides: pass.overrides,
    summary,
    action: options.action,
    actor: options.actor,
    error_code: options.error_code ?? null,
    decision: output?.summary.decision ?? null,
    detail: detailOf(pass, options, summary),
  }
}

/** What the rest of the world hears of a change, in order, through the event stream. */
export const PassEvent = z.strictObject({
  type: z.enum([
    "pass.requested",
    "pass.queued",
    "pass.refused",
    "pass.dispatched",
    "pass.attempt",
    "pass.artifact",
    "pass.said",
    "pass.staged",
    "pass.message",
    "pass.circle",
    "pass.returned",
    "pass.timed_out",
    "pass.cancelled",
    "pass.processed",
    "pass.changed",
    "pass.reviewed",
    "pass.applied",
    "pass.undone",
    "pass.verified",
    "gate.asked",
    "gate.answered",
    "flow.started",
    "flow.moved",
    "flow.ended",
  ]),
  pass_over_id: z.string(),
  session_id: SessionID,
  directory: z.string(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
})
export type PassEvent = z.infer<typeof PassEvent>

export const event = (
  pass: Pick<Pass, "id" | "session_id" | "directory">,
  type: PassEvent["type"],
  at: number,
  data: Record<string, unknown> = {},
): PassEvent => ({ type, pass_over_id: pass.id, session_id: pass.session_id, directory: pass.directory, at, data })
