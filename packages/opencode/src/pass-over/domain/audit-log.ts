import { z } from "zod"
import { AgentID, SessionID } from "./id"
import { OutputStatus, ReviewDecision } from "./output"

/** What happened to a pass, as its audit line names it. */
export const AuditAction = z.enum([
  "requested",
  "refused",
  "asked",
  "answered",
  "dispatched",
  "returned",
  "timed_out",
  "cancelled",
  "processed",
  "reviewed",
  "applied",
  "undone",
  /** Written by a script or another plugin, through `AuditLog.record`. */
  "recorded",
])
export type AuditAction = z.infer<typeof AuditAction>

/**
 * §7.1: the whole pass as it is known at one moment. Fields that it has not reached, or never will, are null, so that
 * every line has the same shape.
 */
export const PassOverAuditEntry = z.strictObject({
  pass_over_id: z.string(),
  session_id: SessionID,
  timestamp: z.number(),
  originating_agent: AgentID,
  subagent: AgentID,
  user_id: z.string().nullable(),
  reason: z.string(),
  work_context_size_bytes: z.int().nonnegative(),
  expected_output_type: z.string(),
  started_at: z.number().nullable(),
  completed_at: z.number().nullable(),
  duration_ms: z.number().nullable(),
  status: OutputStatus.nullable(),
  artifacts_count: z.int().nonnegative(),
  files_modified_count: z.int().nonnegative(),
  issues_found_count: z.int().nonnegative(),
  returned: z.boolean(),
  returned_at: z.number().nullable(),
  applied: z.boolean(),
  applied_by: z.string().nullable(),
  policy_applied: z.string(),
  policy_overrides: z.record(z.string(), z.unknown()),
  summary: z.string(),
})
export type PassOverAuditEntry = z.infer<typeof PassOverAuditEntry>

/**
 * A line of the log: the entry, what happened, who did it, and its place in the chain of its session. `detail` is what a
 * lost database is rebuilt from, and what an error was.
 */
export const AuditLine = PassOverAuditEntry.extend({
  seq: z.int().positive(),
  action: AuditAction,
  actor: z.string().min(1),
  error_code: z.string().nullable(),
  decision: ReviewDecision.nullable(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  prev: z.string(),
  hash: z.string(),
})
export type AuditLine = z.infer<typeof AuditLine>

export type Unchained = Omit<AuditLine, "prev" | "hash">

const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

// Not every store keeps the order of an object's keys, so it must not count.
function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(byKey)
      .map(([key, inner]) => [key, ordered(inner)]),
  )
}

const HASHED = Object.keys(AuditLine.shape).filter((key) => key !== "hash" && key !== "prev") as (keyof Unchained)[]

/** What is hashed: every field but the hash, in the order of the schema, with the line before it. */
export const canonical = (line: Unchained, prev: string) =>
  JSON.stringify([prev, ...HASHED.map((key) => ordered(line[key]))])

/** The first line of a session has nothing before it. */
export const GENESIS = "0".repeat(64)
