import { eq, inArray, or, sql, type SQL } from "drizzle-orm"
import type { PassID } from "../domain/id"
import type { FlowRun } from "../service/port-flow"
import type { Outdated, RetentionStore, UpTo } from "../service/port-retention"
import { ApplyTable, ChangeFileTable, ChangeTable, ContentTable, VerdictTable } from "./change.sql"
import { CommandTable } from "./command.sql"
import { FlowCommandTable, FlowDeliveryTable, FlowEntryTable, FlowRunTable, ResultCacheTable } from "./flow.sql"
import { GateTable } from "./gate.sql"
import { LiveTable } from "./live.sql"
import {
  AttemptTable,
  DeliveryTable,
  EventTable,
  PassOverRequestTable,
  ReturnContextTable,
  WorkArtifactTable,
  WorkContextTable,
  WorkOutputTable,
} from "./pass-over.sql"
import { isOver, runStands } from "./retention-guard"
import { SlotTable } from "./slot.sql"
import { StartTable } from "./start.sql"
import type { Base } from "./statement"

// How much one transaction takes away: a few milliseconds of work, whatever the rows hold.
const ROWS = 100
const BYTES = 1_000_000
// What one statement may name at once.
const MOST = 500

const inGroups = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / MOST) }, (_, group) => items.slice(group * MOST, (group + 1) * MOST))

const P = sql.raw("p")
const told = (pass: SQL) => sql`exists (select 1 from return_contexts x where x.pass_over_id = ${pass}.id)`
const TOLD = told(P)

type Row = { id: PassID }

/** Passes that still rest on these: their children, and those that went on where these had ended. */
function dependents({ db }: Base, ids: readonly PassID[]) {
  const { id, parent_pass_id, continues_pass_id } = PassOverRequestTable
  const found = new Map<PassID, PassID[]>()
  for (const group of inGroups(ids)) {
    const rows = db
      .select({ id, parent: parent_pass_id, continues: continues_pass_id })
      .from(PassOverRequestTable)
      .where(or(inArray(parent_pass_id, group), inArray(continues_pass_id, group)))
      .all()
    for (const row of rows) {
      for (const on of [row.parent, row.continues]) if (on) found.set(on, [...(found.get(on) ?? []), row.id])
    }
  }
  return found
}

/** Those of which nothing is needed by one that stays, and what rests on another before it. */
function ordered(base: Base, ids: readonly PassID[]): PassID[] {
  const on = dependents(base, ids)
  const done = new Set<PassID>()
  for (;;) {
    const next = ids.filter((id) => !done.has(id) && (on.get(id) ?? []).every((other) => done.has(other)))
    if (next.length === 0) return [...done]
    for (const id of next) done.add(id)
  }
}

/** Lines that are taken for gone, by the index of their chains. */
const goneLines = (gone: readonly UpTo[]) => sql`select x.id from json_each(${JSON.stringify(gone)}) g
  join pass_over_audit x on x.session_id = g.value ->> 'session_id' and x.seq <= g.value ->> 'seq'`

/** Over for long enough, and no audit line of it is left but those that are gone. */
function free(pass: SQL, { directory, before, gone = [] }: Outdated): SQL {
  const left = gone.length === 0 ? sql`` : sql`and a.id not in (${goneLines(gone)})`
  // What is found out fastest comes first: lines keep more passes than anything else.
  return sql`${pass}.directory = ${directory} and ${pass}.time_created < ${before}
    and not exists (select 1 from pass_over_audit a where a.pass_over_id = ${pass}.id ${left})
    and ${told(pass)} and ${isOver(pass, before)}`
}

const D = sql.raw("d")

/** Its children, those that went on from it, and theirs: one of them that stays keeps it. */
const restsOn = (of: Outdated) => sql`with recursive resting(id) as (
    select o.id from pass_over_requests o where o.parent_pass_id = p.id or o.continues_pass_id = p.id
    union select o.id from resting r join pass_over_requests o on o.parent_pass_id = r.id or o.continues_pass_id = r.id)
  select 1 from resting r join pass_over_requests d on d.id = r.id where not (${free(D, of)})`

function outdated(base: Base, of: Outdated): PassID[] {
  const rows = base.db.all<Row>(
    sql`select p.id from pass_over_requests p where ${free(P, of)} and not exists (${restsOn(of)})
      order by p.time_created desc, p.id desc limit ${of.limit ?? -1}`,
  )
  // What may go is counted, and not what is looked at: else a few that stay would keep all others for good.
  return ordered(
    base,
    rows.map(({ id }) => id),
  )
}

/** What makes a pass what anybody can find. The large parts of it stay for a moment, where nobody sees them. */
function dropHead({ db }: Base, id: PassID) {
  const changes = db.select({ id: ChangeTable.change_id }).from(ChangeTable).where(eq(ChangeTable.pass_over_id, id))
  db.delete(ApplyTable)
    .where(or(eq(ApplyTable.pass_over_id, id), inArray(ApplyTable.change_id, changes)))
    .run()
  db.delete(VerdictTable).where(inArray(VerdictTable.change_id, changes)).run()
  for (const table of [
    ReturnContextTable,
    DeliveryTable,
    GateTable,
    CommandTable,
    StartTable,
    ResultCacheTable,
    LiveTable,
    SlotTable,
    AttemptTable,
  ]) {
    db.delete(table).where(eq(table.pass_over_id, id)).run()
  }
  db.delete(WorkOutputTable).where(eq(WorkOutputTable.work_id, id)).run()
}

function forget(base: Base, { pass_over_id, before }: Parameters<RetentionStore["forget"]>[0]): boolean {
  const free = base.db.get<Row>(
    sql`select p.id from pass_over_requests p where p.id = ${pass_over_id} and ${TOLD} and ${isOver(P, before)}
      and not exists (select 1 from pass_over_requests o where o.parent_pass_id = p.id or o.continues_pass_id = p.id)
      and not exists (select 1 from pass_over_audit a where a.pass_over_id = p.id)`,
  )
  if (free) dropHead(base, pass_over_id)
  return free !== undefined
}

const at = sql.placeholder

/** Each takes away one row of what a pass has left, and says how large it was. */
function createPieces({ db }: Base) {
  const bytes = sql<number>`length(cast(body as blob))`
  const artifact = db
    .delete(WorkArtifactTable)
    .where(sql`rowid = (select rowid from work_artifacts where pass_over_id = ${at("id")} limit 1)`)
    .returning({ bytes })
    .prepare()
  const file = db
    .delete(ChangeFileTable)
    .where(
      sql`rowid = (select x.rowid from pass_over_changes c join pass_over_change_files x on x.change_id = c.change_id
        where c.pass_over_id = ${at("id")} limit 1)`,
    )
    .returning({ bytes })
    .prepare()
  const event = db
    .delete(EventTable)
    .where(sql`seq = (select seq from pass_over_events where pass_over_id = ${at("id")} limit 1)`)
    .returning({ bytes: sql<number>`length(data)` })
    .prepare()
  const content = db
    .delete(ContentTable)
    .where(sql`rowid = (select rowid from pass_over_contents where pass_over_id = ${at("id")} limit 1)`)
    .returning({ bytes: sql<number>`length(hash)` })
    .prepare()
  return [artifact, content, file, event]
}

type Pieces = ReturnType<typeof createPieces>

/** A part of what a forgotten pass has left behind: the large parts by and by, and in the end its name. */
function clear({ db }: Base, pieces: Pieces, id: PassID): boolean {
  const left = db.get<Row>(sql`select p.id from pass_over_requests p where p.id = ${id} and not ${TOLD}`)
  if (!left) return false
  let rows = 0
  let bytes = 0
  for (const piece of pieces) {
    for (let gone = piece.get({ id }); gone; gone = piece.get({ id })) {
      rows += 1
      bytes += gone.bytes
      if (rows >= ROWS || bytes >= BYTES) return true
    }
  }
  db.delete(ChangeTable).where(eq(ChangeTable.pass_over_id, id)).run()
  db.delete(WorkContextTable).where(eq(WorkContextTable.pass_over_id, id)).run()
  db.delete(PassOverRequestTable).where(eq(PassOverRequestTable.id, id)).run()
  return false
}

const F = sql.raw("f")

/** The passes of a run, in the words of the index by call. */
const OF_RUN = sql`p.session_id = f.session_id and p.call_id >= 'flow:' || f.run_id || ':'
  and p.call_id < 'flow:' || f.run_id || ';'`

function outdatedRuns({ db }: Base, given: Parameters<RetentionStore["outdatedRuns"]>[0]) {
  const { directory, before, limit = -1, without = [] } = given
  const gone = sql`(select value from json_each(${JSON.stringify(without)}))`
  return db
    .all<{ run_id: FlowRun["run_id"] }>(
      sql`select f.run_id from pass_over_flow_runs f where f.directory = ${directory}
        and f.time_created < ${before} and not ${runStands(F, before)}
        and not exists (select 1 from pass_over_requests p where ${OF_RUN} and p.id not in ${gone})
        order by f.time_created limit ${limit}`,
    )
    .map(({ run_id }) => run_id)
}

function forgetRun({ db }: Base, { run_id, before }: Parameters<RetentionStore["forgetRun"]>[0]): boolean {
  const free = db.get(
    sql`select f.run_id from pass_over_flow_runs f where f.run_id = ${run_id} and not ${runStands(F, before)}
      and not exists (select 1 from pass_over_requests p where ${OF_RUN})`,
  )
  if (!free) return false
  for (const table of [FlowEntryTable, FlowDeliveryTable, FlowCommandTable, GateTable, FlowRunTable]) {
    db.delete(table).where(eq(table.run_id, run_id)).run()
  }
  return true
}

/** Forgetting what is over, a few milliseconds at a time. */
export function createRetention(base: Base): RetentionStore {
  const { db, write } = base
  let pieces: Pieces | undefined
  return {
    outdated: async (of) => outdated(base, of),
    forget: (of) => write(() => forget(base, of)),
    clear: (pass_over_id) => write(() => clear(base, (pieces ??= createPieces(base)), pass_over_id)),
    uncleared: async ({ directory, before }) =>
      db
        .all<Row>(
          sql`select p.id from pass_over_requests p where p.directory = ${directory}
            and p.time_created < ${before} and not ${TOLD}`,
        )
        .map(({ id }) => id),
    outdatedRuns: async (of) => outdatedRuns(base, of),
    forgetRun: (of) => write(() => forgetRun(base, of)),
  }
}
