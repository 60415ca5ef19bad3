import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { AuditLine } from "../domain/audit-log"
import { ensureFolder, monthFolder, strange } from "./audit-folder"
import { addToSummary } from "./audit-summary"
import { sha256 } from "./record"
import { codeOf } from "./tree/barred"

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

const TAIL = 256 * 1024

/** "2026-03" in UTC, so that the same log is made wherever it is made. */
const month = (timestamp: number) => new Date(timestamp).toISOString().slice(0, 7)

// A session id comes from the host and becomes part of a file name. Two sessions never share a file: the lines of one
// would be taken for those of the other.
function safe(session_id: string): string {
  const name = session_id.replaceAll(/[^A-Za-z0-9_-]/g, "_")
  return name === session_id ? name : `${name}-${sha256(session_id).slice(0, 12)}`
}

export const auditFile = (folder: string, line: Pick<AuditLine, "session_id" | "timestamp">) =>
  join(folder, month(line.timestamp), `session-${safe(line.session_id)}-passes.jsonl`)

/** The sequence number of the last whole line of an open file, after cutting off what a crash left half written. */
function reached(file: number, window = TAIL): number {
  const size = fstatSync(file).size
  if (size === 0) return 0
  const tail = Buffer.alloc(Math.min(size, window))
  readSync(file, tail, 0, tail.length, size - tail.length)
  const end = tail.lastIndexOf(10)
  const start = end > 0 ? tail.lastIndexOf(10, end - 1) : -1
  // The last line begins before the window.
  if (start < 0 && tail.length < size) return reached(file, window * 4)
  if (end < tail.length - 1) ftruncateSync(file, size - tail.length + end + 1)
  if (end < 0) return 0
  const line = tail.subarray(start + 1, end).toString("utf8")
  try {
    const { seq }: { seq?: unknown } = JSON.parse(line)
    return typeof seq === "number" ? seq : 0
  } catch {
    // Somebody edited the last line. Verification names it; here it must not keep new lines from being written.
    return 0
  }
}

// No link is followed, and none of the files that wait for somebody else is waited for.
const APPEND = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

function opened(path: string): number {
  try {
    return openSync(path, APPEND, 0o600)
  } catch (error) {
    throw codeOf(error) === "ELOOP" ? strange(path) : error
  }
}

function appendTo(path: string, lines: readonly AuditLine[]): AuditLine[] {
  const file = opened(path)
  try {
    if (!fstatSync(file).isFile()) throw strange(path)
    const known = reached(file)
    const missing = lines.filter((line) => line.seq > known)
    if (missing.length === 0) return []
    // Writes all of it or throws, where one system call may write a part and call it a success.
    writeFileSync(file, missing.map((line) => `${JSON.stringify(line)}\n`).join(""))
    // On the disk before the database says so, or a power cut would leave a hole that nobody fills.
    fsyncSync(file)
    return missing
  } finally {
    closeSync(file)
  }
}

/** Appends lines to the log of their session, month by month, skipping those that are there already. */
export function appendLines(folder: string, lines: readonly AuditLine[]) {
  if (lines.length === 0) return
  ensureFolder(folder)
  const byFile = Map.groupBy(lines, (line) => auditFile(folder, line))
  const refused: unknown[] = []
  const appended = [...byFile].flatMap(([path, group]) => {
    try {
      monthFolder(dirname(path))
      return appendTo(path, group)
    } catch (error) {
      // The files of other sessions are none the worse for it; what they have by now is not written twice.
      refused.push(error)
      return []
    }
  })
  addToSummary(folder, appended)
  if (refused.length > 0) throw refused[0]
}
