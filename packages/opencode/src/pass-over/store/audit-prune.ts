import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { compare, follow, type Anchor } from "../domain/audit-chain"
import type { AuditLine } from "../domain/audit-log"
import { keptFrom } from "../domain/retention"
import type { Fault, Pruned, Pruning } from "../service/port-audit"
import { auditFile } from "./audit-file"
import { plainLog } from "./audit-folder"
import { anchorOf, linesOf, readLog, writtenOf, type AuditPlace } from "./audit-read"
import type { AuditSearch } from "./audit-search"
import { sha256 } from "./record"
import type { Write } from "./write"

/** The lines at the beginning of a chain that are past. One that is not ends them, also where clocks went back. */
function past(rows: readonly AuditLine[], before: number): AuditLine[] {
  const end = rows.findIndex((row) => row.timestamp >= before)
  return end < 0 ? [...rows] : rows.slice(0, end)
}

const DB = { path: "", line: 0 }

/** Evidence that something was changed is not thrown away: then all of the session is kept, and why is said. */
function objection(
  place: AuditPlace,
  session_id: string,
  gone: readonly AuditLine[],
  anchor: Anchor,
): Fault | undefined {
  const found = gone.map((entry, index) => ({ ...DB, line: index + 1, entry }))
  const [broken] = follow(found, anchor, sha256)
  const files = Map.groupBy(gone, (row) => auditFile(place.folder, row))
  const [different] = [...files].flatMap(([path, due]) =>
    existsSync(path) ? compare(ours(path, due, anchor), due, sha256) : [],
  )
  const fault = broken ?? different
  if (!fault) return
  const where = fault.at?.path ? `${fault.at.path}:${fault.at.line}` : `database: ${session_id} line ${fault.seq ?? 0}`
  return {
    kind: fault.kind,
    place: where,
    session_id,
    message: `${where}: ${fault.message}; kept, run pass-over audit verify`,
  }
}

/** Lines of a file that are to go; later ones may stand behind them where clocks went back. */
const ours = (path: string, due: readonly AuditLine[], anchor: Anchor) =>
  readLog(path).filter(({ entry }) => !entry || (entry.seq > anchor.seq && entry.seq <= (due.at(-1)?.seq ?? 0)))

/** The files that hold nothing but lines that are past. */
function filesOf(place: AuditPlace, gone: readonly AuditLine[], seq: number): string[] {
  const paths = [...new Set(gone.map((row) => auditFile(place.folder, row)))].filter(plainLog)
  return paths.filter((path) => readLog(path).every(({ entry }) => entry !== undefined && entry.seq <= seq))
}

function removeFiles(whole: readonly string[]) {
  for (const path of whole) {
    rmSync(path)
    if (readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path))
  }
}

/** The sessions that have something old, without those that were looked at already. */
const sessionsOf = ({ client, directory }: AuditPlace, before: number, { most = -1, without = [] }: Pruning) =>
  client
    .query<{ session_id: string }, [string, number, string, number]>(
      `select distinct session_id from pass_over_audit where directory = ? and timestamp < ?
        and session_id not in (select value from json_each(?)) limit ?`,
    )
    .all(directory, before, JSON.stringify(without), most)

/**
 * Removes what is older than the retention allows, session by session. What is left of a chain starts from an anchor, so
 * that it can still be verified. Lines that wait to be written to their file are not past yet.
 */
export async function pruneAudit(
  place: AuditPlace,
  write: Write,
  search: AuditSearch,
  options: Pruning,
): Promise<Pruned> {
  const before = keptFrom(options.now, options.retention_days)
  const { dry = false } = options
  const sum: Pruned = { lines: 0, files: 0, events: 0, kept: [], gone: [], left: [] }
  const sessions = sessionsOf(place, before, options)
  for (const { session_id } of sessions) {
    const anchor = anchorOf(place, session_id)
    const upTo = writtenOf(place, session_id)
    const rows = linesOf(place, session_id)
    const gone = past(rows, before).filter((row) => upTo === 0 || row.seq <= upTo)
    const last = gone.at(-1)
    if (!last || (upTo === 0 && existsSync(auditFile(place.folder, last)))) {
      sum.left.push(session_id)
      continue
    }
    const fault = objection(place, session_id, gone, anchor)
    if (fault) {
      sum.kept.push(fault)
      sum.left.push(session_id)
      continue
    }
    const files = filesOf(place, gone, last.seq)
    sum.lines += gone.length
    sum.files += files.length
    sum.gone.push({ session_id, seq: last.seq })
    if (dry) continue
    // The database first: what dies in between leaves files that the next run removes, and an anchor that covers them.
    for (const end of ends(gone)) {
      search.forget(await write(() => dropLines(place, session_id, end, options.now)))
      await Bun.sleep(0)
    }
    removeFiles(files)
  }
  if (sessions.length === options.most) return sum
  sum.events = dry ? countEvents(place, before) : await dropEvents(place, write, before)
  return sum
}

function dropLines({ client, directory }: AuditPlace, session_id: string, last: AuditLine, now: number): number[] {
  client
    .query(
      "insert into pass_over_audit_anchors values (?, ?, ?, ?, ?) on conflict (session_id) do update set seq = excluded.seq, hash = excluded.hash, time_pruned = excluded.time_pruned",
    )
    .run(session_id, directory, last.seq, last.hash, now)
  return client
    .query<{ id: number }, [string, number]>(
      "delete from pass_over_audit where session_id = ? and seq <= ? returning id",
    )
    .all(session_id, last.seq)
    .map((row) => row.id)
}

// As much at a time as is gone in a few milliseconds: others write meanwhile.
const LINES = 250
const EVENTS = 1_000

/** The lines up to which one transaction each goes, the last one among them. */
const ends = (gone: readonly AuditLine[]) =>
  gone.filter((_line, index) => (index + 1) % LINES === 0 || index === gone.length - 1)

const OLD = "from pass_over_events where directory = ? and at < ?"

const countEvents = ({ client, directory }: AuditPlace, before: number) =>
  client.query<{ n: number }, [string, number]>(`select count(*) as n ${OLD}`).get(directory, before)?.n ?? 0

async function dropEvents({ client, directory }: AuditPlace, write: Write, before: number): Promise<number> {
  const some = client.query(`delete from pass_over_events where seq in
    (select seq ${OLD} order by seq limit ${EVENTS}) returning seq`)
  for (let sum = 0; ;) {
    const gone = await write(() => some.all(directory, before).length)
    sum += gone
    if (gone < EVENTS) return sum
    await Bun.sleep(0)
  }
}
