import type { Database, SQLQueryBindings } from "bun:sqlite"
import type { AuditLine } from "../domain/audit-log"
import { AuditQuery, type AuditPage, type AuditQueryInput } from "../domain/audit-query"
import type { AuditSearch } from "./audit-search"
import { AUDIT_COLUMNS, readLine } from "./audit-row"

type Value = string | number
type Filter = { column: string; values: readonly Value[]; index?: string }
type Where = { sql: string; values: Value[] }

const TIME = "pass_over_audit_timestamp_idx"
const ENDED = "pass_over_audit_status_idx"
const DECIDED = "pass_over_audit_decision_idx"

// So many lines of an index are counted in less than a millisecond, and looked at in twenty.
const FEW = 20_000

function filters(query: AuditQuery): Filter[] {
  const one = (column: string, value: Value | undefined, index?: string): Filter[] =>
    value === undefined ? [] : [{ column, values: [value], ...(index ? { index } : {}) }]
  const some = (column: string, values: readonly Value[] | undefined): Filter[] =>
    values === undefined ? [] : [{ column, values, index: `pass_over_audit_${column}_idx` }]
  return [
    ...one("directory", query.directory, "pass_over_audit_directory_idx"),
    ...one("session_id", query.session_id, "pass_over_audit_session_id_seq_idx"),
    ...one("pass_over_id", query.pass_over_id, "pass_over_audit_pass_over_id_idx"),
    ...one("originating_agent", query.originating_agent, "pass_over_audit_agents_idx"),
    ...one("subagent", query.subagent, "pass_over_audit_subagent_idx"),
    ...some("action", query.action),
    ...some("status", query.status),
    ...some("decision", query.decision),
    ...some("error_code", query.error_code),
  ]
}

const places = (count: number) => Array.from({ length: count }, () => "?").join(", ")

const term = ({ column, values }: Filter): Where =>
  values.length === 1
    ? { sql: `${column} = ?`, values: [...values] }
    : { sql: `${column} in (${places(values.length)})`, values: [...values] }

function times({ start_time, end_time }: AuditQuery): Where[] {
  return [
    ...(start_time === undefined ? [] : [{ sql: "timestamp >= ?", values: [start_time] }]),
    ...(end_time === undefined ? [] : [{ sql: "timestamp <= ?", values: [end_time] }]),
  ]
}

function beyond(cursor: string | undefined, searched?: string): Where[] {
  if (cursor === undefined) return []
  const [timestamp = 0, id = 0] = cursor.split("-").map(Number)
  if (searched !== undefined) return [{ sql: `${searched} < ?`, values: [id] }]
  return [{ sql: "timestamp <= ? and (timestamp < ? or id < ?)", values: [timestamp, timestamp, id] }]
}

const all = (terms: readonly Where[]) => terms.map(({ sql }) => sql).join(" and ") || "1"
const values = (terms: readonly Where[]): SQLQueryBindings[] => terms.flatMap((one) => one.values)

/**
 * Answers questions about the audit. SQLite keeps no statistics of single values, so that it cannot know whether "E011"
 * or "alice" is the rarer one: we count, as far as it matters, and tell it which index to take.
 */
export function createAuditQuery(client: Database, search: AuditSearch) {
  const rows = (sql: string, bound: SQLQueryBindings[]) =>
    client.query<Record<string, unknown>, SQLQueryBindings[]>(sql).all(...bound)

  function counted(index: string, where: Where[]): number {
    const sql = `select count(*) as n from (select 1 from pass_over_audit indexed by ${index} where ${all(where)} limit ${FEW})`
    return Number(rows(sql, values(where))[0]?.n ?? 0)
  }

  function choose(query: AuditQuery): string {
    const time = times(query)
    const each = filters(query).map((filter) => {
      // Only there the times stand right behind what is asked for.
      const bounded = filter.column !== "originating_agent" && !/^(?:session_id|pass_over_id)$/.test(filter.column)
      return { filter, index: filter.index ?? "", where: [term(filter), ...(bounded ? time : [])] }
    })
    const agents = each.filter(({ filter }) => /^(?:originating_agent|subagent)$/.test(filter.column))
    const pair =
      agents.length === 2
        ? [{ index: "pass_over_audit_agents_idx", where: [...agents.map(({ filter }) => term(filter)), ...time] }]
        : []
    const candidates = [...pair, ...each, ...(time.length > 0 ? [{ index: TIME, where: time }] : [])]
    const known = candidates.map(({ index, where }) => ({ index, count: counted(index, where) }))
    const best = known.toSorted((a, b) => a.count - b.count)[0]
    if (best && best.count < FEW) return best.index
    if (query.decision !== undefined) return DECIDED
    if (query.status !== undefined) return ENDED
    return pair.length > 0 && each.length === 2 ? "pass_over_audit_agents_idx" : TIME
  }

  function read(query: AuditQuery, limit: number): Record<string, unknown>[] {
    const where = [...filters(query).map(term), ...times(query)]
    if (query.text !== undefined) {
      const found = search.matching(query.text)
      const terms = [...where, ...beyond(query.cursor, found.id)]
      const sql = `select ${AUDIT_COLUMNS}, id from ${found.from} where ${found.where} and ${all(terms)} order by ${found.id} desc limit ?`
      return rows(sql, [...found.values, ...values(terms), limit])
    }
    const terms = [...where, ...beyond(query.cursor)]
    // First the places alone, out of the index; then only the lines that are asked for.
    const index = choose(query)
    const ids = `select id from pass_over_audit indexed by ${index} where ${all(terms)} order by timestamp desc, id desc limit ?`
    const sql = `select ${AUDIT_COLUMNS}, id from pass_over_audit where id in (${ids}) order by timestamp desc, id desc`
    return rows(sql, [...values(terms), limit])
  }

  return (input: AuditQueryInput = {}): AuditPage => {
    const query = AuditQuery.parse(input)
    const found = read(query, query.limit + 1)
    const page = found.slice(0, query.limit)
    const last = found.length > query.limit ? page.at(-1) : undefined
    const lines: AuditLine[] = page.map(readLine)
    return { lines, cursor: last ? `${String(last.timestamp)}-${String(last.id)}` : null }
  }
}
