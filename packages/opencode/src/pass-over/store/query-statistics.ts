import { and, count, desc, eq, gte, lte, sql, sum } from "drizzle-orm"
import type { PassQuery, Statistics } from "../service/port-query"
import { AuditTable, PassOverRequestTable, ReturnContextTable, WorkOutputTable } from "./pass-over.sql"
import { OPEN, type Base } from "./statement"

type Narrow = Pick<PassQuery, "directory" | "start_time" | "end_time">

const PAIRS = 100

const requested = (query: Narrow) =>
  and(
    query.directory === undefined ? undefined : eq(PassOverRequestTable.directory, query.directory),
    query.start_time === undefined ? undefined : gte(PassOverRequestTable.time_created, query.start_time),
    query.end_time === undefined ? undefined : lte(PassOverRequestTable.time_created, query.end_time),
  )

const cost = sql<number>`coalesce(sum(json_extract(${WorkOutputTable.usage}, '$.cost')), 0)`
const tokens = sql<number>`coalesce(sum(
  json_extract(${WorkOutputTable.usage}, '$.input') + json_extract(${WorkOutputTable.usage}, '$.output') +
  json_extract(${WorkOutputTable.usage}, '$.reasoning')), 0)`

function refusals({ db }: Base, query: Narrow) {
  const found = db
    .select({ total: count() })
    .from(AuditTable)
    .where(
      and(
        eq(AuditTable.action, "refused"),
        query.directory === undefined ? undefined : eq(AuditTable.directory, query.directory),
        query.start_time === undefined ? undefined : gte(AuditTable.timestamp, query.start_time),
        query.end_time === undefined ? undefined : lte(AuditTable.timestamp, query.end_time),
      ),
    )
    .get()
  return found?.total ?? 0
}

/** Sums over everything that was asked for: how much, at what price, and how it ended. */
export function statistics(base: Base, query: Narrow): Statistics {
  const { db } = base
  const outcomes = db
    .select({
      status: WorkOutputTable.status,
      decision: sql<string | null>`json_extract(${WorkOutputTable.summary}, '$.decision')`,
      verdict: sql<string | null>`json_extract(${WorkOutputTable.summary}, '$.verdict.status')`,
      passes: count(),
    })
    .from(WorkOutputTable)
    .innerJoin(PassOverRequestTable, eq(PassOverRequestTable.id, WorkOutputTable.work_id))
    .where(requested(query))
    .groupBy(WorkOutputTable.status, sql`2`, sql`3`)
    .all()
  const by = (key: "status" | "decision" | "verdict") =>
    Object.fromEntries(
      [...Map.groupBy(outcomes, (row) => row[key] ?? "none")].map(([name, rows]) => [
        name,
        rows.reduce((total, row) => total + row.passes, 0),
      ]),
    )
  const all = db
    .select({ passes: count(), tokens, cost })
    .from(PassOverRequestTable)
    .leftJoin(WorkOutputTable, eq(WorkOutputTable.work_id, PassOverRequestTable.id))
    .where(requested(query))
    .get()
  const running = db
    .select({ total: count() })
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(and(requested(query), OPEN))
    .get()
  const pairs = db
    .select({
      from: PassOverRequestTable.originating_agent_id,
      to: PassOverRequestTable.subagent_id,
      passes: count(),
      completed: sql<number>`coalesce(${sum(sql`${WorkOutputTable.status} = 'completed'`)}, 0)`.mapWith(Number),
      cost,
      duration_ms: sql<number | null>`avg(${PassOverRequestTable.time_ended} - ${PassOverRequestTable.time_started})`,
    })
    .from(PassOverRequestTable)
    .leftJoin(WorkOutputTable, eq(WorkOutputTable.work_id, PassOverRequestTable.id))
    .where(requested(query))
    .groupBy(PassOverRequestTable.originating_agent_id, PassOverRequestTable.subagent_id)
    .orderBy(desc(count()))
    .limit(PAIRS)
    .all()
  return {
    passes: all?.passes ?? 0,
    running: running?.total ?? 0,
    refused: refusals(base, query),
    tokens: all?.tokens ?? 0,
    cost: all?.cost ?? 0,
    by_status: by("status"),
    by_decision: by("decision"),
    by_verdict: by("verdict"),
    pairs,
  }
}
