import { existsSync } from "node:fs"
import { relative } from "node:path"
import { compare, follow, intact, type Anchor, type ChainFault, type Found } from "../domain/audit-chain"
import type { AuditLine } from "../domain/audit-log"
import type { Fault, Verified } from "../service/port-audit"
import { auditFile } from "./audit-file"
import { logFiles } from "./audit-folder"
import { anchorOf, linesOf, readLog, sessionsOf, written, type AuditPlace } from "./audit-read"
import { readSummary } from "./audit-summary"
import { sha256 } from "./record"

const inDatabase = (session_id: string, seq: number | undefined) =>
  `database: ${session_id}${seq === undefined ? "" : ` line ${seq}`}`

const DATABASE = ""

type File = { folder: string; path: string; length: number }

function told({ kind, at, seq, message }: ChainFault, session_id: string, { folder, path, length }: File): Fault {
  const more = { kind, session_id, ...(seq === undefined ? {} : { seq }) }
  if (path === DATABASE) {
    const place = inDatabase(session_id, seq)
    return { ...more, place, message: `${place}: ${message}` }
  }
  const line = at?.line ?? length + 1
  const place = `${relative(folder, path)}:${line}`
  return { ...more, place, path, line, message: `${place}: ${message}` }
}

/** The rows of a session as if they were a file, so that the same rules hold for them. */
const asFound = (rows: readonly AuditLine[]): Found[] =>
  rows.map((entry, index) => ({ path: DATABASE, line: index + 1, entry }))

type Session = { id: string; rows: AuditLine[]; anchor: Anchor; files: Map<string, Found[]>; upTo: number }

/** Whole lines of ours in the files that the database does not have any more, behind its last one. */
function cutOff({ rows, anchor, files }: Session): AuditLine[] {
  let last = rows.at(-1) ?? anchor
  const more: AuditLine[] = []
  const beyond = [...files.values()]
    .flat()
    .flatMap(({ entry }) => (entry && entry.seq > last.seq ? [entry] : []))
    .toSorted((a, b) => a.seq - b.seq)
  for (const entry of beyond) {
    if (entry.seq !== last.seq + 1 || entry.prev !== last.hash || !intact(entry, sha256)) break
    more.push(entry)
    last = entry
  }
  return more
}

function verifySession(place: AuditPlace, session: Session): Fault[] {
  const { id, rows, anchor, files, upTo } = session
  const { folder } = place
  const inRows = follow(asFound(rows), anchor, sha256).map((fault) =>
    told(fault, id, { folder, path: DATABASE, length: 0 }),
  )
  const gone = cutOff(session)
  const lost = gone.map((entry): Fault => {
    const where = inDatabase(id, entry.seq)
    const message = `${where}: the line is in the files and not in the database; pass-over audit restore brings it back`
    return { kind: "removed", place: where, session_id: id, seq: entry.seq, message }
  })
  const expected = Map.groupBy([...rows, ...gone], (row) => auditFile(folder, row))
  const inFiles = [...new Set([...expected.keys(), ...files.keys()])].toSorted().flatMap((path) => {
    const found = (files.get(path) ?? []).filter(({ entry }) => !entry || entry.seq > anchor.seq)
    const highest = Math.max(upTo, ...found.map(({ entry }) => (entry && intact(entry, sha256) ? entry.seq : 0)))
    const due = (expected.get(path) ?? []).filter((row) => row.seq <= highest)
    const length = files.get(path)?.length ?? 0
    if (due.length > 0 && !existsSync(path)) return [missing(path, id, folder, due)]
    return compare(found, due, sha256).map((fault) => told(fault, id, { folder, path, length }))
  })
  return [...inFiles, ...inRows, ...lost]
}

function missing(path: string, session_id: string, folder: string, due: readonly AuditLine[]): Fault {
  const place = `${relative(folder, path)}:1`
  const message = `${place}: the file is gone, with lines ${due[0]?.seq} to ${due.at(-1)?.seq}`
  return { kind: "removed", place, path, line: 1, session_id, seq: due[0]?.seq ?? 0, message }
}

/** Which session a file is about: that of its first line that can be read. */
function bySession(place: AuditPlace, paths: readonly string[]) {
  const sessions = new Map<string, Map<string, Found[]>>()
  const strange: Fault[] = []
  for (const path of paths) {
    const found = readLog(path)
    const owner = found.find(({ entry }) => entry && auditFile(place.folder, entry) === path)?.entry?.session_id
    if (owner === undefined) {
      if (found.length === 0) continue
      const where = `${relative(place.folder, path)}:1`
      const message = `${where}: no line of it belongs into this file`
      strange.push({ kind: "unreadable", place: where, path, line: 1, session_id: null, message })
      continue
    }
    const files = sessions.get(owner) ?? new Map<string, Found[]>()
    sessions.set(owner, files.set(path, found))
  }
  return { sessions, strange }
}

/** Compares the files of a project with its database, and both with their chains. It changes nothing. */
export function verifyAudit(place: AuditPlace): Verified {
  // In this order: what is written down meanwhile is then in the database at least, and nobody misses it in a file.
  const reached = written(place)
  const paths = logFiles(place.folder)
  const { sessions, strange } = bySession(place, paths)
  const { heads } = readSummary(place.folder)
  const ids = [...new Set([...sessions.keys(), ...sessionsOf(place), ...Object.keys(heads)])].toSorted()
  const sums = { lines: 0, pending: 0 }
  const faults = ids.flatMap((id) => {
    const rows = linesOf(place, id)
    const upTo = reached.get(id) ?? 0
    const session = { id, rows, upTo, anchor: anchorOf(place, id), files: sessions.get(id) ?? new Map() }
    sums.lines += rows.length
    sums.pending += upTo === 0 && session.files.size === 0 ? 0 : rows.filter((row) => row.seq > upTo).length
    const found = verifySession(place, session)
    return [...found, ...beheaded(session, heads[id], found)]
  })
  const all = [...strange, ...faults]
  return {
    ok: all.length === 0,
    sessions: ids.length,
    lines: sums.lines,
    files: paths.length,
    pending: sums.pending,
    faults: all,
  }
}

/** The end of a chain that is gone from both leaves its mark in the summary. */
function beheaded({ id, rows, anchor }: Session, head: Anchor | undefined, found: readonly Fault[]): Fault[] {
  const last = rows.at(-1) ?? anchor
  if (!head || head.seq <= last.seq || found.some((fault) => (fault.seq ?? 0) > last.seq)) return []
  const where = inDatabase(id, last.seq + 1)
  const message = `${where}: lines up to ${head.seq} were written once and are gone from files and database`
  return [{ kind: "removed", place: where, session_id: id, seq: last.seq + 1, message }]
}
