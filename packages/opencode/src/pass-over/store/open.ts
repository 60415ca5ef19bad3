import { Database } from "bun:sqlite"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { migrate } from "./migrate"

/** "newer" is a database that a later version of ours has changed: it is read and never written. */
export type Opened = { ok: true; client: Database; newer: boolean } | { ok: false; problem: string }

const hint = (message: string) => {
  if (/not a database|malformed|corrupt/i.test(message)) {
    return "the file is damaged or no database; move it away, and a new one is made at the next start"
  }
  if (/readonly|read-only|unable to open|permission|EACCES|EROFS/i.test(message)) {
    return "the file or its folder cannot be written; make it writable, or set PASS_OVER_DB to another place"
  }
  if (/full|ENOSPC/i.test(message)) return "the disk is full; free some space"
  return "set PASS_OVER_DB to another place, or run pass-over doctor"
}

export const describe = (path: string, error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  return `Pass Over cannot use its database ${path} (${message}): ${hint(message)}.`
}

// FULL costs about 0.1 ms a commit and keeps what was acknowledged through a power cut. busy_timeout blocks the event
// loop while it waits, so it is short and the writer tries again on its own.
const PRAGMAS = [
  "PRAGMA busy_timeout = 200",
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = FULL",
  "PRAGMA foreign_keys = ON",
]

/** Opens the database and brings it up to date. It never throws: a user whose disk is full still has an opencode. */
export function openDatabase(path: string): Opened {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const client = new Database(path, { create: true, readwrite: true })
    for (const pragma of PRAGMAS) client.run(pragma)
    return { ok: true, client, newer: migrate(client) === "newer" }
  } catch (error) {
    return { ok: false, problem: describe(path, error) }
  }
}
