import { sql } from "drizzle-orm"
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import type { WorkArtifact } from "../domain/artifact"
import type { AuditAction } from "../domain/audit-log"
import type { WorkContext } from "../domain/context"
import type { ArtifactID, OwnerID, PassID, ReturnID } from "../domain/id"
import type { Manifest } from "../domain/manifest"
import type { OutputStatus, PassOverMetadata, ReviewDecision, WorkSummary } from "../domain/output"
import type { PassEvent } from "../domain/pass"
import type { ExpectedOutputType, Priority } from "../domain/request"
import type { ReturnStatus } from "../domain/return-context"
import type { Usage } from "../domain/run"
import type { AttemptKind } from "../service/port"
import type { StoredArtifact, StoredReport } from "./content"

type Json = Record<string, unknown>

const pass_over_id = () =>
  text()
    .$type<PassID>()
    .notNull()
    .references(() => PassOverRequestTable.id)

/** The opencode processes that run passes. One that is gone without a word leaves its passes to be recovered. */
export const OwnerTable = sqliteTable("pass_over_owners", {
  owner_id: text().$type<OwnerID>().primaryKey(),
  pid: integer().notNull(),
  /** Together with the pid it names a process for good: pids come round again. */
  process_start: text().notNull(),
  host: text().notNull(),
  /** Boot and process namespace: only within the same place does a pid say anything. */
  place: text().notNull(),
  time_started: integer().notNull(),
  time_heartbeat: integer().notNull(),
})

export const PassOverRequestTable = sqliteTable(
  "pass_over_requests",
  {
    id: text().$type<PassID>().primaryKey(),
    session_id: text().notNull(),
    root_session_id: text().notNull(),
    message_id: text(),
    call_id: text(),
    directory: text().notNull(),
    user_id: text(),
    originating_agent_id: text().notNull(),
    subagent_id: text().notNull(),
    reason: text().notNull(),
    objective: text().notNull(),
    objective_hash: text().notNull(),
    background: text(),
    priority: text().$type<Priority>().notNull(),
    expected_output_type: text().$type<ExpectedOutputType>().notNull(),
    constraints: text({ mode: "json" }).$type<string[]>().notNull(),
    return_required: integer({ mode: "boolean" }).notNull(),
    wait: integer({ mode: "boolean" }).notNull(),
    auto_apply_on_success: integer({ mode: "boolean" }).notNull(),
    model: text(),
    timeout_ms: integer().notNull(),
    context_bytes: integer().notNull(),
    parent_pass_id: text().$type<PassID>(),
    continues_pass_id: text().$type<PassID>(),
    trace_id: text().$type<PassID>().notNull(),
    policy: text().notNull(),
    overrides: text({ mode: "json" }).$type<Json>().notNull(),
    preference: text({ mode: "json" }).$type<Json>().notNull(),
    owner_id: text().$type<OwnerID>().notNull(),
    fence: integer().notNull(),
    child_session_id: text(),
    time_created: integer().notNull(),
    time_started: integer(),
    time_ended: integer(),
  },
  (table) => [
    // A tool call that the host runs twice is one pass. Some providers give the calls of each answer the same ids, so the
    // answer that a call stands in belongs to its name. (No coalesce: drizzle-kit cuts an expression at its commas.)
    uniqueIndex("pass_over_requests_session_id_call_id_idx").on(
      table.session_id,
      table.call_id,
      sql`(case when ${table.message_id} is null then '' else ${table.message_id} end)`,
    ),
    // A child belongs to one pass, and after it to the one that continues it: never to two that continue the same.
    uniqueIndex("pass_over_requests_child_session_id_idx").on(
      table.child_session_id,
      sql`(case when ${table.continues_pass_id} is null then '' else ${table.continues_pass_id} end)`,
    ),
    index("pass_over_requests_continues_pass_id_idx")
      .on(table.continues_pass_id)
      .where(sql`${table.continues_pass_id} is not null`),
    index("pass_over_requests_root_session_id_idx").on(table.root_session_id, table.objective_hash),
    index("pass_over_requests_parent_pass_id_idx").on(table.parent_pass_id),
    index("pass_over_requests_trace_id_idx").on(table.trace_id),
    index("pass_over_requests_owner_id_idx").on(table.owner_id),
    index("pass_over_requests_time_created_idx").on(table.time_created),
    check("pass_over_requests_not_itself", sql`${table.originating_agent_id} <> ${table.subagent_id}`),
  ],
)

/** What went along, and the account of what did not. Large, so it lies apart from what is listed all the time. */
export const WorkContextTable = sqliteTable("work_contexts", {
  pass_over_id: pass_over_id().primaryKey(),
  context: text({ mode: "json" }).$type<WorkContext>().notNull(),
  manifest: text({ mode: "json" }).$type<Manifest>().notNull(),
})

export const ReturnContextTable = sqliteTable(
  "return_contexts",
  {
    return_id: text().$type<ReturnID>().primaryKey(),
    pass_over_id: pass_over_id(),
    session_id: text().notNull(),
    auto_return_enabled: integer({ mode: "boolean" }).notNull(),
    auto_apply_enabled: integer({ mode: "boolean" }).notNull(),
    chain_depth: integer().notNull(),
    max_chain_depth: integer().notNull(),
    ancestors: text({ mode: "json" }).$type<string[]>().notNull(),
    status: text().$type<ReturnStatus>().notNull(),
    revision: integer().notNull(),
    /** The child's first valid return, held until the step that carried it is over. */
    staged: text({ mode: "json" }).$type<StoredReport>(),
    created_at: integer().notNull(),
    returned_at: integer(),
  },
  (table) => [
    uniqueIndex("return_contexts_pass_over_id_idx").on(table.pass_over_id),
    index("return_contexts_session_id_idx").on(table.session_id),
    index("return_contexts_status_idx").on(table.status),
    check(
      "return_contexts_status_known",
      sql`${table.status} in ('initial', 'waiting_for_return', 'returned', 'processed', 'timed_out', 'cancelled')`,
    ),
    check(
      "return_contexts_depth_bounded",
      sql`${table.chain_depth} >= 1 and ${table.chain_depth} < ${table.max_chain_depth}`,
    ),
  ],
)

/** Exactly one outcome a pass: the primary key is the law. */
export const WorkOutputTable = sqliteTable(
  "work_outputs",
  {
    work_id: text()
      .$type<PassID>()
      .primaryKey()
      .references(() => PassOverRequestTable.id),
    status: text().$type<OutputStatus>().notNull(),
    completion_reason: text(),
    summary: text({ mode: "json" }).$type<WorkSummary>().notNull(),
    auto_apply_allowed: integer({ mode: "boolean" }).notNull(),
    metadata: text({ mode: "json" }).$type<PassOverMetadata>().notNull(),
    usage: text({ mode: "json" }).$type<Usage>().notNull(),
    error_code: text(),
    /** Whether what the child had done is in here already. After a crash the outcome comes first and its work later. */
    transcript: text().$type<"read" | "unread">().notNull(),
    time_created: integer().notNull(),
  },
  (table) => [
    index("work_outputs_status_idx").on(table.status),
    // Only the few that still wait for their transcript are in it.
    index("work_outputs_transcript_idx")
      .on(table.transcript)
      .where(sql`${table.transcript} = 'unread'`),
  ],
)

export const WorkArtifactTable = sqliteTable(
  "work_artifacts",
  {
    artifact_id: text().$type<ArtifactID>().primaryKey(),
    pass_over_id: pass_over_id(),
    position: integer().notNull(),
    type: text().$type<WorkArtifact["type"]>().notNull(),
    path: text(),
    severity: text(),
    body: text({ mode: "json" }).$type<StoredArtifact>().notNull(),
  },
  (table) => [
    uniqueIndex("work_artifacts_pass_over_id_position_idx").on(table.pass_over_id, table.position),
    index("work_artifacts_path_idx").on(table.path),
  ],
)

export const AttemptTable = sqliteTable(
  "pass_over_attempts",
  {
    pass_over_id: pass_over_id(),
    attempt: integer().notNull(),
    kind: text().$type<AttemptKind>().notNull(),
    child_session_id: text(),
    error_code: text(),
    error_message: text(),
    usage: text({ mode: "json" }).$type<Usage>(),
    time_started: integer().notNull(),
    time_ended: integer(),
  },
  (table) => [primaryKey({ columns: [table.pass_over_id, table.attempt] })],
)

/** What still has to reach the originator. A delivered row stays, so that nothing is delivered twice. */
export const DeliveryTable = sqliteTable(
  "pass_over_deliveries",
  {
    pass_over_id: pass_over_id().primaryKey(),
    session_id: text().notNull(),
    mode: text().$type<"tool" | "message" | "none">().notNull(),
    status: text().$type<"pending" | "held" | "sending" | "delivered">().notNull(),
    message_id: text(),
    /** Who is writing it into the session just now. */
    owner_id: text().$type<OwnerID>(),
    time_created: integer().notNull(),
    time_delivered: integer(),
  },
  (table) => [
    index("pass_over_deliveries_session_id_idx")
      .on(table.session_id)
      .where(sql`${table.status} <> 'delivered'`),
  ],
)

/** Append-only. (session_id, seq) is unique, so two writers can never both claim the same place in a chain. */
export const AuditTable = sqliteTable(
  "pass_over_audit",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    session_id: text().notNull(),
    seq: integer().notNull(),
    pass_over_id: text().notNull(),
    action: text().$type<AuditAction>().notNull(),
    actor: text().notNull(),
    error_code: text(),
    timestamp: integer().notNull(),
    directory: text().notNull(),
    originating_agent: text().notNull(),
    subagent: text().notNull(),
    user_id: text(),
    reason: text().notNull(),
    work_context_size_bytes: integer().notNull(),
    expected_output_type: text().notNull(),
    started_at: integer(),
    completed_at: integer(),
    duration_ms: integer(),
    status: text().$type<OutputStatus>(),
    artifacts_count: integer().notNull(),
    files_modified_count: integer().notNull(),
    issues_found_count: integer().notNull(),
    returned: integer({ mode: "boolean" }).notNull(),
    returned_at: integer(),
    applied: integer({ mode: "boolean" }).notNull(),
    applied_by: text(),
    policy_applied: text().notNull(),
    policy_overrides: text({ mode: "json" }).$type<Json>().notNull(),
    summary: text().notNull(),
    decision: text().$type<ReviewDecision>(),
    detail: text({ mode: "json" }).$type<Json>(),
    prev: text().notNull(),
    hash: text().notNull(),
  },
  (table) => [
    uniqueIndex("pass_over_audit_session_id_seq_idx").on(table.session_id, table.seq),
    index("pass_over_audit_pass_over_id_idx").on(table.pass_over_id),
    // For filters of which each fits many: all of it can be judged without looking at a single line.
    index("pass_over_audit_timestamp_idx").on(
      table.timestamp,
      table.originating_agent,
      table.subagent,
      table.action,
      table.status,
      table.decision,
      table.error_code,
    ),
    // For those that fit few. The newest come first without sorting.
    index("pass_over_audit_directory_idx").on(table.directory, table.timestamp),
    index("pass_over_audit_agents_idx").on(table.originating_agent, table.subagent, table.timestamp),
    index("pass_over_audit_subagent_idx").on(table.subagent, table.timestamp),
    index("pass_over_audit_action_idx").on(table.action, table.timestamp),
    index("pass_over_audit_status_idx")
      .on(
        table.status,
        table.timestamp,
        table.decision,
        table.originating_agent,
        table.subagent,
        table.action,
        table.error_code,
      )
      .where(sql`${table.status} is not null`),
    index("pass_over_audit_decision_idx")
      .on(table.decision, table.timestamp, table.originating_agent, table.subagent, table.action, table.status)
      .where(sql`${table.decision} is not null`),
    index("pass_over_audit_error_code_idx")
      .on(table.error_code, table.timestamp)
      .where(sql`${table.error_code} is not null`),
    check("pass_over_audit_actor_named", sql`length(${table.actor}) > 0`),
  ],
)

/** How far each log file has caught up with the audit table. */
export const AuditFileTable = sqliteTable("pass_over_audit_files", {
  session_id: text().primaryKey(),
  seq: integer().notNull(),
  time_updated: integer().notNull(),
})

export const EventTable = sqliteTable(
  "pass_over_events",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    pass_over_id: text().notNull(),
    session_id: text().notNull(),
    directory: text().notNull(),
    type: text().$type<PassEvent["type"]>().notNull(),
    data: text({ mode: "json" }).$type<Json>().notNull(),
    at: integer().notNull(),
  },
  (table) => [index("pass_over_events_pass_over_id_idx").on(table.pass_over_id)],
)
