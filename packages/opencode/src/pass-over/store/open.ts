import { Database } from "bun:sqlite"
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs"
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

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const ELSEWHERE = "set the environment variable PASS_OVER_DB to a file elsewhere and start opencode again"

type Reason = { reason: string; advice: string }

// Only the code decides, where there is one: a message may hold the user's own path.
const REASONS: readonly [RegExp, Reason][] = [
  [
    /CORRUPT|NOTADB|malformed/,
    {
      reason: "the file is damaged, or is no database",
      advice:
        "Move it away and start opencode again: a new one is made, and pass-over audit restore brings the history back",
    },
  ],
  [/EROFS/, { reason: "its disk is read-only", advice: `Make the disk writable again, or ${ELSEWHERE}` }],
  [
    /READONLY|CANTOPEN|EACCES|EPERM/,
    { reason: "the file or its folder may not be written", advice: `Make both writable, or ${ELSEWHERE}` },
  ],
  [/FULL|ENOSPC|EDQUOT/, { reason: "the disk is full", advice: "Free some space" }],
  [/BUSY|LOCKED/, { reason: "another process holds it", advice: "Try again in a moment" }],
  [/EEXIST|ENOTDIR|EISDIR/, { reason: "something else is in its place", advice: capital(ELSEWHERE) }],
  // The disk was taken out and put back, or it breaks: what is open here stays of no use.
  [
    /IOERR/,
    {
      reason: "the disk could not be read or written",
      advice: `Start opencode again; if that does not help, look after the disk, or ${ELSEWHERE}`,
    },
  ],
  [/ENOENT/, { reason: "its folder cannot be made", advice: capital(ELSEWHERE) }],
]

// Of these SQLite does not tell what the system has said to it.
const VAGUE = /SQLITE_(IOERR|CANTOPEN|READONLY)/
const TELLING = /^(EROFS|EACCES|EPERM|ENOSPC)$/
// SQLite adds to its files in steps of this size.
const LEAST_FREE = 32 * 1024

/** What the system says to whoever would write there. Nothing is written. */
function barred(path: string): string | undefined {
  try {
    for (const each of [path, dirname(path)]) accessSync(each, constants.W_OK)
    // A disk that has turned read-only under whoever writes there says so to no less. There are no locks on this one.
    const log = `${path}-wal`
    if (existsSync(log)) closeSync(openSync(log, "r+"))
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize < LEAST_FREE ? "ENOSPC" : undefined
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : ""
    return TELLING.test(code) ? code : undefined
  }
}

type Why = { message: string; advice: string }

/** What is wrong with the database, and what to do about it, for somebody who has never heard of it. */
export function whyNot(path: string, error: unknown): Why {
  const said = error instanceof Error && "code" in error ? String(error.code) : ""
  const code = (VAGUE.test(said) && barred(path)) || said
  const known = REASONS.find(([pattern]) => pattern.test(code || codeOf(error)))?.[1]
  const { reason, advice } = known ?? {
    reason: error instanceof Error ? error.message : String(error),
    advice: `${capital(ELSEWHERE)}; pass-over doctor says more`,
  }
  const named = code ? ` (${code})` : ""
  return { message: `Pass Over cannot use its database ${path}: ${reason}${named}.`, advice: `${advice}.` }
}

/** The same in one line. */
export function describe(path: string, error: unknown): string {
  const { message, advice } = whyNot(path, error)
  return `${message} ${advice}`
}

/** Why a database cannot be written, where that can be seen without writing; how full its disk is, is another question. */
export function unwritable(path: string): Why | undefined {
  const code = barred(path)
  return code === undefined || code === "ENOSPC" ? undefined : whyNot(path, Object.assign(new Error(code), { code }))
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
