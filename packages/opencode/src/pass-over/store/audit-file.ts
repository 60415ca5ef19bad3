import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import type { AuditLine } from "../domain/audit-log"

const TAIL = 256 * 1024

/** "2026-03" in UTC, so that the same log is made wherever it is made. */
const month = (timestamp: number) => new Date(timestamp).toISOString().slice(0, 7)

// A session id comes from the host and becomes part of a file name.
const safe = (session_id: string) => session_id.replaceAll(/[^A-Za-z0-9_-]/g, "_")

export const auditFile = (folder: string, line: Pick<AuditLine, "session_id" | "timestamp">) =>
  join(folder, month(line.timestamp), `session-${safe(line.session_id)}-passes.jsonl`)

/** The sequence number of the last whole line of an open file, after cutting off what a crash left half written. */
function reached(file: number): number {
  const size = fstatSync(file).size
  if (size === 0) return 0
  const tail = Buffer.alloc(Math.min(size, TAIL))
  readSync(file, tail, 0, tail.length, size - tail.length)
  const end = tail.lastIndexOf(10)
  if (end < tail.length - 1) ftruncateSync(file, size - tail.length + end + 1)
  if (end < 0) return 0
  const line = tail.subarray(tail.lastIndexOf(10, end - 1) + 1, end).toString("utf8")
  try {
    const { seq }: { seq?: unknown } = JSON.parse(line)
    return typeof seq === "number" ? seq : 0
  } catch {
    // Somebody edited the last line. Verification names it; here it must not keep new lines from being written.
    return 0
  }
}

function appendTo(path: string, lines: readonly AuditLine[]) {
  const file = openSync(path, "a+", 0o600)
  try {
    const known = reached(file)
    const missing = lines.filter((line) => line.seq > known)
    if (missing.length > 0) writeSync(file, missing.map((line) => `${JSON.stringify(line)}\n`).join(""))
  } finally {
    closeSync(file)
  }
}

/** Our folders inside a user's project never show up in its `git status`. */
export function ensureFolder(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ignore = join(folder, ".gitignore")
  if (!existsSync(ignore)) writeFileSync(ignore, "*\n")
}

/** Appends lines to the log of their session, month by month, skipping those that are there already. */
export function appendLines(folder: string, lines: readonly AuditLine[]) {
  if (lines.length === 0) return
  ensureFolder(folder)
  const byFile = Map.groupBy(lines, (line) => auditFile(folder, line))
  for (const [path, group] of byFile) {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 })
    appendTo(path, group)
  }
}
