import { and, asc, count, desc, eq, gte, inArray, lte, type SQL } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import { z } from "zod"
import type { AuditLine } from "../domain/audit-log"
import type { PassOverErrorCode } from "../domain/errors"
import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"
import { DefaultPreference, PassOverPreferences } from "../domain/preference"
import type { AuditFilter, Outcome, PassFilter, Store } from "../service/port"
import {
  AttemptTable,
  AuditTable,
  DefaultTable,
  DeliveryTable,
  PassOverRequestTable,
  PreferenceTable,
  ReturnContextTable,
  WorkArtifactTable,
  WorkContextTable,
  WorkOutputTable,
} from "./pass-over.sql"
import { toLine, toPass } from "./row"

const passes = (db: BunSQLiteDatabase, where: SQL | undefined, limit?: number): Pass[] =>
  db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(where)
    .orderBy(asc(PassOverRequestTable.id))
    .limit(limit ?? -1)
    .all()
    .map((row) => toPass(row.pass_over_requests, row.return_contexts))

export const findPass = (db: BunSQLiteDatabase, id: PassID) => passes(db, eq(PassOverRequestTable.id, id), 1)[0]

function outcome(db: BunSQLiteDatabase, id: PassID): Outcome | undefined {
  const row = db.select().from(WorkOutputTable).where(eq(WorkOutputTable.work_id, id)).get()
  const pass = row && findPass(db, id)
  if (!row || !pass) return
  const artifacts = db
    .select({ body: WorkArtifactTable.body })
    .from(WorkArtifactTable)
    .where(eq(WorkArtifactTable.pass_over_id, id))
    .orderBy(asc(WorkArtifactTable.position))
    .all()
  return {
    output: {
      work_id: id,
      subagent_id: pass.subagent_id,
      originating_agent_id: pass.originating_agent_id,
      status: row.status,
      ...(row.completion_reason === null ? {} : { completion_reason: row.completion_reason }),
      artifacts: artifacts.map((artifact) => artifact.body),
      summary: row.summary,
      return_to: pass.originating_agent_id,
      auto_apply_allowed: row.auto_apply_allowed,
      metadata: row.metadata,
    },
    usage: row.usage,
    error_code: row.error_code as PassOverErrorCode | null,
  }
}

function stored(db: BunSQLiteDatabase, directory: string): PassOverPreferences {
  const rows = db.select().from(PreferenceTable).where(eq(PreferenceTable.directory, directory)).all()
  const defaults = db.select().from(DefaultTable).where(eq(DefaultTable.directory, directory)).all()
  if (rows.length === 0 && defaults.length === 0) return {}
  const of = (level: "pair" | "subagent") => rows.filter((row) => row.level === level)
  return PassOverPreferences.parse({
    defaults: DefaultPreference.parse(Object.fromEntries(defaults.map((row) => [row.key, row.value]))),
    pairs: Object.fromEntries(of("pair").map((row) => [`${row.from_agent}->${row.to_agent}`, row.settings])),
    subagents: Object.fromEntries(of("subagent").map((row) => [row.to_agent, row.settings])),
  })
}

const list = (db: BunSQLiteDatabase, filter: PassFilter): Pass[] =>
  passes(
    db,
    and(
      filter.session_id === undefined ? undefined : eq(PassOverRequestTable.session_id, filter.session_id),
      filter.root_session_id === undefined
        ? undefined
        : eq(PassOverRequestTable.root_session_id, filter.root_session_id),
      filter.parent_pass_id === undefined ? undefined : eq(PassOverRequestTable.parent_pass_id, filter.parent_pass_id),
      filter.directory === undefined ? undefined : eq(PassOverRequestTable.directory, filter.directory),
      filter.status === undefined ? undefined : inArray(ReturnContextTable.status, [...filter.status]),
    ),
    filter.limit ?? 200,
  )

const audit = (db: BunSQLiteDatabase, filter: AuditFilter): AuditLine[] =>
  db
    .select()
    .from(AuditTable)
    .where(
      and(
        filter.session_id === undefined ? undefined : eq(AuditTable.session_id, filter.session_id),
        filter.pass_over_id === undefined ? undefined : eq(AuditTable.pass_over_id, filter.pass_over_id),
        filter.originating_agent === undefined ? undefined : eq(AuditTable.originating_agent, filter.originating_agent),
        filter.subagent === undefined ? undefined : eq(AuditTable.subagent, filter.subagent),
        filter.action === undefined ? undefined : eq(AuditTable.action, filter.action),
        filter.start_time === undefined ? undefined : gte(AuditTable.timestamp, filter.start_time),
        filter.end_time === undefined ? undefined : lte(AuditTable.timestamp, filter.end_time),
      ),
    )
    .orderBy(desc(AuditTable.id))
    .limit(filter.limit ?? 100)
    .all()
    .map(toLine)

type Reads = Pick<
  Store,
  | "find"
  | "byChild"
  | "byCall"
  | "list"
  | "request"
  | "staged"
  | "outcome"
  | "attempts"
  | "repeated"
  | "audit"
  | "deliveries"
  | "preferences"
>

/** Only short reads by index: what goes over many rows belongs to the API process or a Worker, never to opencode's event loop. */
export function createReads(db: BunSQLiteDatabase): Reads {
  return {
    find: async (id) => (z.uuid().safeParse(id).success ? findPass(db, id) : undefined),

    byChild: async (session_id) => passes(db, eq(PassOverRequestTable.child_session_id, session_id), 1)[0],

    byCall: async (session_id, call_id) =>
      passes(db, and(eq(PassOverRequestTable.session_id, session_id), eq(PassOverRequestTable.call_id, call_id)), 1)[0],

    list: async (filter) => list(db, filter),

    request: async (id) => {
      const pass = findPass(db, id)
      const row = db.select().from(WorkContextTable).where(eq(WorkContextTable.pass_over_id, id)).get()
      if (!pass || !row) return
      return {
        manifest: row.manifest,
        request: {
          id: pass.id,
          originating_agent_id: pass.originating_agent_id,
          subagent_id: pass.subagent_id,
          work_context: row.context,
          reason: pass.reason,
          priority: pass.priority,
          timeout_ms: pass.timeout_ms,
          return_required: pass.return_required,
          auto_apply_on_success: pass.auto_apply_on_success,
          constraints: pass.constraints,
          expected_output_type: pass.expected_output_type,
        },
      }
    },

    staged: async (id) =>
      db
        .select({ staged: ReturnContextTable.staged })
        .from(ReturnContextTable)
        .where(eq(ReturnContextTable.pass_over_id, id))
        .get()?.staged ?? undefined,

    outcome: async (id) => outcome(db, id),

    attempts: async (id) =>
      db.select().from(AttemptTable).where(eq(AttemptTable.pass_over_id, id)).orderBy(asc(AttemptTable.attempt)).all(),

    repeated: async ({ root_session_id, from, to, objective_hash }) =>
      db
        .select({ count: count() })
        .from(PassOverRequestTable)
        .where(
          and(
            eq(PassOverRequestTable.root_session_id, root_session_id),
            eq(PassOverRequestTable.objective_hash, objective_hash),
            eq(PassOverRequestTable.originating_agent_id, from),
            eq(PassOverRequestTable.subagent_id, to),
          ),
        )
        .get()?.count ?? 0,

    audit: async (filter) => audit(db, filter),

    deliveries: async (session_id) =>
      db
        .select()
        .from(DeliveryTable)
        .where(and(eq(DeliveryTable.session_id, session_id), inArray(DeliveryTable.status, ["pending", "held"])))
        .all(),

    preferences: async (directory) => stored(db, directory),
  }
}
