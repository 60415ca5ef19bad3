import { and, asc, desc, eq, gt, gte, inArray, lt, lte, or, sql } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import { once } from "remeda"
import type { WorkArtifact } from "../domain/artifact"
import type { AuditLine } from "../domain/audit-log"
import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { AuditFilter, Outcome, PassFilter, Store } from "../service/port"
import {
  AttemptTable,
  AuditTable,
  EventTable,
  PassOverRequestTable,
  ReturnContextTable,
  WorkContextTable,
} from "./pass-over.sql"
import { toLine, toOutcome } from "./row"
import { passesWhere, preparedPasses, type Base } from "./statement"

const at = sql.placeholder

function outcome({ run, contents }: Base, id: PassID): Outcome | undefined {
  const row = run.select.output.get({ id })
  const pass = row && run.pass.byId({ id })
  if (!row || !pass) return
  return toOutcome(
    pass,
    row,
    run.select.artifacts.all({ id }).map(({ body }) => contents.whole<WorkArtifact>(body)),
    run.select.delivery.get({ id }),
  )
}

const list = (db: BunSQLiteDatabase, filter: PassFilter): Pass[] =>
  passesWhere(
    db,
    and(
      filter.session_id === undefined ? undefined : eq(PassOverRequestTable.session_id, filter.session_id),
      filter.root_session_id === undefined
        ? undefined
        : eq(PassOverRequestTable.root_session_id, filter.root_session_id),
      filter.parent_pass_id === undefined ? undefined : eq(PassOverRequestTable.parent_pass_id, filter.parent_pass_id),
      filter.continues_pass_id === undefined
        ? undefined
        : eq(PassOverRequestTable.continues_pass_id, filter.continues_pass_id),
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
  | "ofCall"
  | "list"
  | "request"
  | "staged"
  | "outcome"
  | "attempts"
  | "repeated"
  | "audit"
  | "events"
  | "version"
>

/** Only short reads by index: what goes over many rows belongs to the API process or a Worker, never to opencode's event loop. */
export function createReads(base: Base, version: () => number): Reads {
  const { db, run, contents } = base
  const calls = once(() => passesOfCall(db))
  return {
    find: async (id) => run.pass.byId({ id }),
    byChild: async (session_id) => run.pass.byChild({ session_id }),
    byCall: async (session_id, call_id) => run.pass.byCall({ session_id, call_id }),
    ofCall: async (session_id, call_id) => {
      const nth = (pass: Pass) => Number(pass.call_id?.slice(call_id.length + 1) || 1)
      return calls()({ session_id, call_id, from: `${call_id}#`, to: `${call_id}$` }).toSorted(
        (a, b) => nth(a) - nth(b),
      )
    },
    list: async (filter) => list(db, filter),
    request: async (id) => request(base, id),

    staged: async (id) => {
      const row = db
        .select({ staged: ReturnContextTable.staged })
        .from(ReturnContextTable)
        .where(eq(ReturnContextTable.pass_over_id, id))
        .get()
      return row?.staged ? contents.report(row.staged) : undefined
    },

    outcome: async (id) => outcome(base, id),

    attempts: async (id) =>
      db.select().from(AttemptTable).where(eq(AttemptTable.pass_over_id, id)).orderBy(asc(AttemptTable.attempt)).all(),

    repeated: async (input) => run.select.repeated.get(input)?.count ?? 0,
    audit: async (filter) => audit(db, filter),

    events: async (after, limit) =>
      db.select().from(EventTable).where(gt(EventTable.seq, after)).orderBy(asc(EventTable.seq)).limit(limit).all(),

    version: async () => version(),
  }
}

// A range of the index by call: everything that begins with the call's id and our mark.
function passesOfCall(db: Base["db"]) {
  const { session_id, call_id } = PassOverRequestTable
  const further = and(gt(call_id, at("from")), lt(call_id, at("to")))
  return preparedPasses(db, and(eq(session_id, at("session_id")), or(eq(call_id, at("call_id")), further)))
}

function request({ db, run }: Base, id: PassID) {
  const pass = run.pass.byId({ id })
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
}
