import { newTokens } from "../domain/run"
import { and, asc, count, desc, eq, gt, gte, inArray, like, lt, lte, max, ne, or, sql, type SQL } from "drizzle-orm"
import type { SQLiteColumn } from "drizzle-orm/sqlite-core"
import type { PassID } from "../domain/id"
import type { PassQuery, PassResult, PassRow, QueryStore } from "../service/port-query"
import { EventTable, PassOverRequestTable, ReturnContextTable, WorkOutputTable } from "./pass-over.sql"
import { toPass } from "./row"
import type { Base, Row } from "./statement"
import { returns } from "./query-returns"
import { statistics } from "./query-statistics"

const same = (column: SQLiteColumn, value: string | undefined) => (value === undefined ? undefined : eq(column, value))
const oneOf = (column: SQLiteColumn | SQL, values: readonly string[] | undefined) =>
  values === undefined || values.length === 0 ? undefined : inArray(column as SQLiteColumn, [...values])
const since = (column: SQLiteColumn, at: number | undefined) => (at === undefined ? undefined : gte(column, at))
const until = (column: SQLiteColumn, at: number | undefined) => (at === undefined ? undefined : lte(column, at))

/** Every word of a search has to occur somewhere in one of the columns; what looks like a pattern is only text. */
function holds(columns: readonly (SQLiteColumn | SQL)[], text: string | undefined): SQL | undefined {
  const words = (text ?? "").split(/\s+/).filter(Boolean).slice(0, 12)
  if (words.length === 0) return
  const pattern = (word: string) => `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return and(...words.map((word) => or(...columns.map((column) => sql`${like(column, pattern(word))} escape '\\'`))))
}

const DECISION = sql<string>`json_extract(${WorkOutputTable.summary}, '$.decision')`
const VERDICT = sql<string>`json_extract(${WorkOutputTable.summary}, '$.verdict.status')`

function toResult(row: Row<typeof WorkOutputTable> | null): PassResult | null {
  if (row === null) return null
  const { summary, usage } = row
  return {
    status: row.status,
    decision: summary.decision ?? null,
    verdict: summary.verdict?.status ?? null,
    decision_reason: summary.decision_reason ?? null,
    completion_reason: row.completion_reason,
    issues_found: summary.issues_found,
    files_modified: summary.files_modified,
    tokens: newTokens(usage),
    cost: usage.cost,
    error_code: row.error_code,
  }
}

const where = (query: PassQuery) =>
  and(
    same(PassOverRequestTable.session_id, query.session_id),
    same(PassOverRequestTable.directory, query.directory),
    same(PassOverRequestTable.originating_agent_id, query.originating_agent),
    same(PassOverRequestTable.subagent_id, query.subagent),
    same(PassOverRequestTable.trace_id, query.trace_id),
    or(
      same(PassOverRequestTable.originating_agent_id, query.agent),
      same(PassOverRequestTable.subagent_id, query.agent),
    ),
    oneOf(ReturnContextTable.status, query.status),
    oneOf(WorkOutputTable.status, query.outcome),
    oneOf(DECISION, query.decision),
    oneOf(VERDICT, query.verdict),
    since(PassOverRequestTable.time_created, query.start_time),
    until(PassOverRequestTable.time_created, query.end_time),
    holds(
      [
        PassOverRequestTable.objective,
        PassOverRequestTable.reason,
        PassOverRequestTable.background,
        PassOverRequestTable.id,
        sql`json_extract(${WorkOutputTable.summary}, '$.decision_reason')`,
        sql`json_extract(${WorkOutputTable.summary}, '$.findings')`,
        sql`json_extract(${WorkOutputTable.summary}, '$.recommendations')`,
        WorkOutputTable.completion_reason,
      ],
      query.text,
    ),
    query.after === undefined ? undefined : lt(PassOverRequestTable.id, query.after as PassID),
  )

function passes({ db }: Base, query: PassQuery): PassRow[] {
  return db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .leftJoin(WorkOutputTable, eq(WorkOutputTable.work_id, PassOverRequestTable.id))
    .where(where(query))
    .orderBy(desc(PassOverRequestTable.id))
    .limit(query.limit)
    .all()
    .map((row) => ({
      pass: toPass(row.pass_over_requests, row.return_contexts),
      result: toResult(row.work_outputs),
    }))
}

function events({ db }: Base, pass_over_id: PassID, limit: number) {
  const happened = and(eq(EventTable.pass_over_id, pass_over_id), ne(EventTable.type, "pass.said"))
  const read = (where: SQL | undefined, order: SQL, most: number) =>
    db.select().from(EventTable).where(where).orderBy(order).limit(most).all()
  const all = read(happened, asc(EventTable.seq), limit + 1)
  if (all.length <= limit) return { events: all, left: 0 }
  const told = and(happened, ne(EventTable.type, "pass.artifact"))
  const last = read(told, desc(EventTable.seq), Math.floor(limit / 2)).toReversed()
  const from = last[0]?.seq
  const before = from === undefined ? told : and(told, lt(EventTable.seq, from))
  const events = [...read(before, asc(EventTable.seq), limit - last.length), ...last]
  const [sum] = db.select({ events: count() }).from(EventTable).where(happened).all()
  return { events, left: (sum?.events ?? events.length) - events.length }
}

/** Everything that people ask about what happened, as whole pages. */
export function createQueries(base: Base): QueryStore {
  const { db } = base
  return {
    passes: async (query) => passes(base, query),
    returns: async (query) => returns(base, query),
    statistics: async (query) => statistics(base, query),

    directories: async () =>
      db
        .select({
          directory: PassOverRequestTable.directory,
          passes: count(),
          latest: sql<number>`max(${PassOverRequestTable.time_created})`,
        })
        .from(PassOverRequestTable)
        .groupBy(PassOverRequestTable.directory)
        .orderBy(desc(max(PassOverRequestTable.time_created)))
        .all(),

    eventsOf: async (pass_over_id, limit) => events(base, pass_over_id, limit),

    transcript: async (pass_over_id, { after, limit }) =>
      db
        .select()
        .from(EventTable)
        .where(
          and(
            eq(EventTable.pass_over_id, pass_over_id),
            gt(EventTable.seq, after),
            inArray(EventTable.type, ["pass.said", "pass.artifact"]),
          ),
        )
        .orderBy(asc(EventTable.seq))
        .limit(limit)
        .all(),

    newest: async () =>
      db
        .select({ seq: max(EventTable.seq) })
        .from(EventTable)
        .get()?.seq ?? 0,
  }
}
