import type { Database } from "bun:sqlite"
import { closeSync, fsyncSync, openSync } from "node:fs"
import { ofDatabase, PassOverError, PassOverErrorCode } from "../domain/errors"
import { outgrown } from "./migrate"
import { busy, codeOf, whyNot } from "./open"

const DISK = /SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM)/

// Long enough for a burst of writers on a slow disk, short enough that nobody takes us for dead.
const PATIENCE_MS = 10_000
const FIRST_PAUSE_MS = 5
// Whoever pauses longer than the others hold the lock comes back to find it taken again: with 200 ms the unluckiest of
// 2,400 writes by eight processes waited twice as long.
const LONGEST_PAUSE_MS = 20

/** One short, synchronous transaction. */
export type Write = <T>(work: () => T) => Promise<T>

export type Writer = {
  /** Is on the disk when it is done: for what somebody is told, or acts upon. */
  write: Write
  /**
   * Is there for everybody when it is done, and on the disk with the next `write`: for what only leads to one. A process
   * may die at any moment; only a power cut in between takes it back.
   */
  soon: Write
  /** Brings everything to the disk that was written until now. */
  toDisk(): void
}

/** Hears how it goes with the database: what is wrong with it as a sentence for its user, and that it was written. */
export type Health = { ill(sentence: string): void; well(): void }

export const UNHEARD: Health = { ill: () => {}, well: () => {} }

/** How to update. Without a version opencode keeps the one that it has, even where it is told to replace it. */
export const UPDATE =
  "To update: opencode plugin opencode-pass-over@VERSION --force, with the version that npm view opencode-pass-over version prints; then start opencode again."

const tooOld = (path: string) =>
  new PassOverError(
    PassOverErrorCode.RESOURCE_EXHAUSTED,
    `The database ${path} was changed by a newer Pass Over. This older one only reads it, so it passes no work on.`,
    { recoverable: false, suggestedAction: UPDATE, context: { database: path } },
  )

// With NORMAL a commit is in the log and not yet on the disk. It is a setting of the connection and not of a transaction;
// to change it costs microseconds, to wait for the disk a third of a millisecond and on a slow one many times that.
const LEVELS = { write: "PRAGMA synchronous = FULL", soon: "PRAGMA synchronous = NORMAL" } as const

/**
 * Transactions take the write lock at their beginning: one that reads first and wants to write later is refused at once
 * when somebody else wrote in between, whatever the timeout.
 */
export function createWriter(client: Database, path: string, { well }: Pick<Health, "well"> = UNHEARD): Writer {
  const [begin, commit, rollback] = [client.query("BEGIN IMMEDIATE"), client.query("COMMIT"), client.query("ROLLBACK")]
  const version = client.query<{ data_version: number }, []>("PRAGMA data_version")
  let known: number | undefined
  const undo = () => {
    try {
      if (client.inTransaction) rollback.run()
    } catch {
      // What went wrong first is what has to be told.
    }
  }
  const level: { now?: keyof typeof LEVELS } = {}
  // Where there is no such log, as on some network drives, NORMAL would save little and could cost the whole file.
  const logged = client.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get()?.journal_mode === "wal"
  const reach = (wanted: keyof typeof LEVELS) => {
    if (!logged || level.now === wanted) return
    client.run(LEVELS[wanted])
    level.now = wanted
  }
  const run =
    (wanted: keyof typeof LEVELS): Write =>
    async (work) => {
      // An opencode of another project may bring the database forward while this one runs: asked whenever somebody else
      // has written.
      const guarded = () => {
        const now = version.get()?.data_version
        if (now !== known && outgrown(client)) throw tooOld(path)
        known = now
        return work()
      }
      const until = performance.now() + PATIENCE_MS
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        try {
          reach(wanted)
          begin.run()
          const result = guarded()
          commit.run()
          well()
          return result
        } catch (error) {
          undo()
          if (!busy(error) || performance.now() > until) throw storeError(error, path)
        }
        // Writers that were refused together would come back together.
        await Bun.sleep(pause * (0.5 + Math.random()))
      }
    }
  return { write: run("write"), soon: run("soon"), toDisk: () => (logged ? bringToDisk(path) : undefined) }
}

// SQLite has no word for it: a transaction without a change in it waits for no disk.
function bringToDisk(path: string) {
  try {
    const file = openSync(`${path}-wal`, "r+")
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw unusable(error, path)
  }
}

function unusable(error: unknown, path: string) {
  const { message, advice } = whyNot(path, error)
  return new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, message, {
    suggestedAction: advice,
    context: { database: path },
    cause: error,
  })
}

/** What went wrong with the disk or the database is E014 with a sentence; a mistake of ours stays what it is. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof PassOverError) return error
  return DISK.test(codeOf(error)) || busy(error) ? unusable(error, path) : error
}

/** Whether more has to happen than that another process lets go of it. */
export const broken = (error: unknown): error is PassOverError => ofDatabase(error) && !busy(error.cause)
