import {
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  isNull,
  notInArray,
  sql,
  type InferSelectModel,
  type SQL,
} from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"
import type { Pass } from "../domain/pass"
import {
  AttemptTable,
  AuditTable,
  DeliveryTable,
  EventTable,
  PassOverRequestTable,
  ReturnContextTable,
  WorkArtifactTable,
  WorkContextTable,
  WorkOutputTable,
} from "./pass-over.sql"
import { AuditAnchorTable } from "./audit.sql"
import type { Contents } from "./content"
import { GateTable } from "./gate.sql"
import { direct, insertInto, type Drizzled } from "./direct"
import { LiveTable } from "./live.sql"
import { toPass } from "./row"
import type { SlotStatements } from "./slot"
import type { Writer } from "./write"

const at = sql.placeholder

export const OPEN = inArray(ReturnContextTable.status, ["initial", "waiting_for_return"])

const EXACT_CALL = and(
  eq(PassOverRequestTable.session_id, at("session_id")),
  eq(PassOverRequestTable.call_id, at("call_id")),
  sql`coalesce(${PassOverRequestTable.message_id}, '') = ${at("message_id")}`,
)

function passBy(db: BunSQLiteDatabase, where: SQL | undefined) {
  const statement = db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(where)
    // Of several the newest: ids sort by the time that they were made.
    .orderBy(desc(PassOverRequestTable.id))
    .limit(1)
    .prepare()
  return (values: Record<string, string>): Pass | undefined => {
    const row = statement.get(values)
    return row && toPass(row.pass_over_requests, row.return_contexts)
  }
}

function inserts(db: Drizzled) {
  return {
    request: insertInto(db, PassOverRequestTable),
    context: insertInto(db, WorkContextTable),
    return: insertInto(db, ReturnContextTable),
    output: insertInto(db, WorkOutputTable),
    artifact: insertInto(db, WorkArtifactTable),
    delivery: insertInto(db, DeliveryTable),
    audit: insertInto(db, AuditTable, { leave: ["id"] }),
    event: insertInto(db, EventTable, { leave: ["seq"] }),
    attempt: insertInto(db, AttemptTable, { over: true }),
    live: insertInto(db, LiveTable, { over: true }),
  }
}

/** What of a pass may change without a move. */
type Held = Pick<Pass, "child_session_id" | "time_started" | "time_ended">

/** The last line of a session's chain. */
type Known = { seq: number; hash: string }

function updates(db: Drizzled) {
  const moved = direct(
    db,
    db
      .update(ReturnContextTable)
      .set({
        status: sql`${at("to")}`,
        revision: sql`${at("next")}`,
        returned_at: sql`coalesce(${at("returned_at")}, ${ReturnContextTable.returned_at})`,
      })
      .where(
        and(
          eq(ReturnContextTable.pass_over_id, at("id")),
          eq(ReturnContextTable.revision, at("revision")),
          eq(ReturnContextTable.status, at("from")),
        ),
      )
      .returning({ id: ReturnContextTable.return_id }),
  )
  const stamped = direct(
    db,
    db
      .update(PassOverRequestTable)
      .set({
        time_started: sql`coalesce(${at("time_started")}, ${PassOverRequestTable.time_started})`,
        time_ended: sql`coalesce(${at("time_ended")}, ${PassOverRequestTable.time_ended})`,
      })
      .where(eq(PassOverRequestTable.id, at("id"))),
  )
  const bound = direct(
    db,
    db
      .update(PassOverRequestTable)
      .set({ child_session_id: sql`${at("child_session_id")}` })
      .where(and(eq(PassOverRequestTable.id, at("id")), eq(PassOverRequestTable.fence, at("fence")))),
  )
  const staged = direct(
    db,
    db
      .update(ReturnContextTable)
      .set({ staged: sql`${at("staged")}` })
      .where(and(eq(ReturnContextTable.pass_over_id, at("id")), isNull(ReturnContextTable.staged)))
      .returning({ id: ReturnContextTable.return_id }),
  )
  const dropLive = direct(db, db.delete(LiveTable).where(eq(LiveTable.pass_over_id, at("id"))))
  // Whether its result may go back and its changes may be applied is asked when it is over.
  const unasked = direct(
    db,
    db
      .update(GateTable)
      .set({ status: "withdrawn", time_answered: sql`${at("at")}` })
      .where(
        and(
          eq(GateTable.pass_over_id, at("id")),
          eq(GateTable.status, "pending"),
          notInArray(GateTable.kind, ["approval", "delivery"]),
        ),
      ),
  )
  return { moved, stamped, bound, staged, dropLive, unasked }
}

function selects(db: Drizzled) {
  const fenced = direct<Held>(
    db,
    db
      .select({
        child_session_id: PassOverRequestTable.child_session_id,
        time_started: PassOverRequestTable.time_started,
        time_ended: PassOverRequestTable.time_ended,
      })
      .from(PassOverRequestTable)
      .where(and(eq(PassOverRequestTable.id, at("id")), eq(PassOverRequestTable.fence, at("fence")))),
  )
  const goesOn = direct(
    db,
    db
      .select({ id: PassOverRequestTable.id })
      .from(PassOverRequestTable)
      .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
      .where(and(eq(PassOverRequestTable.id, at("id")), eq(PassOverRequestTable.fence, at("fence")), OPEN)),
  )
  const called = direct(db, db.select({ id: PassOverRequestTable.id }).from(PassOverRequestTable).where(EXACT_CALL))
  const lastLine = direct<Known>(
    db,
    db
      .select({ seq: AuditTable.seq, hash: AuditTable.hash })
      .from(AuditTable)
      .where(eq(AuditTable.session_id, at("session_id")))
      .orderBy(desc(AuditTable.seq))
      .limit(1),
  )
  const anchor = direct<Known>(
    db,
    db
      .select({ seq: AuditAnchorTable.seq, hash: AuditAnchorTable.hash })
      .from(AuditAnchorTable)
      .where(eq(AuditAnchorTable.session_id, at("session_id"))),
  )
  const repeated = direct<{ count: number }>(
    db,
    db
      .select({ count: count().as("count") })
      .from(PassOverRequestTable)
      .where(
        and(
          eq(PassOverRequestTable.root_session_id, at("root_session_id")),
          eq(PassOverRequestTable.objective_hash, at("objective_hash")),
          eq(PassOverRequestTable.originating_agent_id, at("from")),
          eq(PassOverRequestTable.subagent_id, at("to")),
        ),
      ),
  )
  return { fenced, goesOn, called, lastLine, anchor, repeated }
}

/** What an outcome is put together from. */
function outcomes(db: Drizzled) {
  const output = db
    .select()
    .from(WorkOutputTable)
    .where(eq(WorkOutputTable.work_id, at("id")))
    .prepare()
  const artifacts = db
    .select({ body: WorkArtifactTable.body })
    .from(WorkArtifactTable)
    .where(eq(WorkArtifactTable.pass_over_id, at("id")))
    .orderBy(asc(WorkArtifactTable.position))
    .prepare()
  const delivery = direct<Row<typeof DeliveryTable>>(
    db,
    db
      .select()
      .from(DeliveryTable)
      .where(eq(DeliveryTable.pass_over_id, at("id"))),
  )
  return { output, artifacts, delivery }
}

/** All that runs in every pass, built once. */
export function createStatements(db: Drizzled) {
  return {
    insert: inserts(db),
    update: updates(db),
    select: { ...selects(db), ...outcomes(db) },
    pass: {
      byId: passBy(db, eq(PassOverRequestTable.id, at("id"))),
      byChild: passBy(db, eq(PassOverRequestTable.child_session_id, at("session_id"))),
      /** What goes on from a pass just now, or is about to. */
      continuing: passBy(db, and(eq(PassOverRequestTable.continues_pass_id, at("id")), OPEN)),
      byCall: passBy(
        db,
        and(eq(PassOverRequestTable.session_id, at("session_id")), eq(PassOverRequestTable.call_id, at("call_id"))),
      ),
      byExactCall: passBy(db, EXACT_CALL),
    },
  }
}

export type Statements = ReturnType<typeof createStatements>

/** What every part of the store works with. */
export type Base = {
  db: Drizzled
  run: Statements
  slots: SlotStatements
  /** The contents of files that artifacts and returns have. */
  contents: Contents
} & Writer

export type Row<T extends SQLiteTable> = InferSelectModel<T>

/** Passes by a condition with placeholders, the oldest first. */
export function preparedPasses(db: BunSQLiteDatabase, where: SQL | undefined) {
  const statement = db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(where)
    .orderBy(asc(PassOverRequestTable.id))
    .prepare()
  return (values: Record<string, string>): Pass[] =>
    statement.all(values).map((row) => toPass(row.pass_over_requests, row.return_contexts))
}

/** Passes by any condition, the oldest first: for what does not happen in every pass. */
export const passesWhere = (db: BunSQLiteDatabase, where: SQL | undefined, limit = -1): Pass[] =>
  db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(where)
    .orderBy(asc(PassOverRequestTable.id))
    .limit(limit)
    .all()
    .map((row) => toPass(row.pass_over_requests, row.return_contexts))
