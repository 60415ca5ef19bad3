import { Database } from "bun:sqlite"
import { accessSync, closeSync, constants, mkdirSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { migrate } from "./migrate"

/** "newer" is a database that a later version of ours has changed: it is read and never written. */
export type Opened = { ok: true; client: Database; newer: boolean } | { ok: false; problem: string }

/** What an error says that a program can rely on: SQLite's code or the system's, and the message. */
export const codeOf = (error: unknown) =>
  error instanceof Error ? `${"code" in error ? String(error.code) : ""} ${error.message}` : String(error)

const BUSY = /SQLITE_(BUSY|LOCKED)|database (table )?is locked/

/** Somebody else holds the database just now. */
export const busy = (error: unknown) => BUSY.test(codeOf(error))

// Only the code decides, where there is one: a message may hold the user's own path.
const HINTS: readonly [RegExp, string][] = [
  [
    /CORRUPT|NOTADB|malformed/,
    "the file is damaged or no database; move it away, and a new one is made at the next start",
  ],
  [
    /READONLY|CANTOPEN|EACCES|EPERM|EROFS/,
    "the file or its folder cannot be written; make it writable, or set PASS_OVER_DB to another place",
  ],
  [/FULL|ENOSPC|EDQUOT/, "the disk is full; free some space"],
  [/BUSY|LOCKED/, "another process holds it; try again in a moment"],
  [/EEXIST|ENOTDIR|EISDIR/, "something else is in its place; set PASS_OVER_DB to another place"],
]

const hint = (error: unknown) => {
  const code = error instanceof Error && "code" in error ? String(error.code) : codeOf(error)
  return (
    HINTS.find(([pattern]) => pattern.test(code))?.[1] ?? "set PASS_OVER_DB to another place, or run pass-over doctor"
  )
}

export const describe = (path: string, error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  return `Pass Over cannot use its database ${path} (${message}): ${hint(error)}.`
}

// FULL keeps what was acknowledged through a power cut; `write.ts` says what needs it. busy_timeout blocks the event
// loop while it waits, once for each writer, so it is short and the writer tries again on its own: with 200 ms and two
// writers a lock held for a second left the loop four turns.
const PRAGMAS = [
  "PRAGMA busy_timeout = 20",
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = FULL",
  "PRAGMA foreign_keys = ON",
]

// Several processes that start on a new file meet here. Switching to WAL does not wait for the lock, whatever the
// timeout, so we do.
const PATIENCE_MS = 2_000
const PAUSE_MS = 20

/**
 * Makes a database's file where there is none: whole conversations lie in it, and SQLite gives its own two files the
 * rights of the first. One that is there is never opened past SQLite: when that is closed, the system takes away all locks
 * that this process has on it, and the next program that closes the database throws away what is written here.
 */
export function makeFile(path: string) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return closeSync(openSync(path, "a", 0o600))
  if (!found.isFile()) throw Object.assign(new Error("it is no file"), { code: "EISDIR" })
  accessSync(path, constants.W_OK)
}

function connect(path: string): Opened {
  if (path !== ":memory:") {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    makeFile(path)
  }
  const client = new Database(path, { create: true, readwrite: true })
  try {
    for (const pragma of PRAGMAS) client.run(pragma)
    return { ok: true, client, newer: migrate(client) === "newer" }
  } catch (error) {
    client.close()
    throw error
  }
}

/** Opens the database and brings it up to date. It never throws: a user whose disk is full still has an opencode. */
export function openDatabase(path: string): Opened {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return connect(path)
    } catch (error) {
      if (!busy(error) || performance.now() > until) return { ok: false, problem: describe(path, error) }
    }
    Bun.sleepSync(PAUSE_MS * (0.5 + Math.random()))
  }
}
