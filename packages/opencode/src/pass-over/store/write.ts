import type { Database } from "bun:sqlite"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import { outgrown } from "./migrate"
import { busy, codeOf, describe } from "./open"

const DISK = /SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM)/

// Long enough for a burst of writers on a slow disk, short enough that nobody takes us for dead.
const PATIENCE_MS = 10_000
const FIRST_PAUSE_MS = 5
// Whoever pauses longer than the others hold the lock comes back to find it taken again: with 200 ms the unluckiest of
// 2,400 writes by eight processes waited twice as long.
const LONGEST_PAUSE_MS = 20

export type Writer = <T>(work: () => T) => Promise<T>

const tooOld = (path: string) =>
  new PassOverError(
    PassOverErrorCode.RESOURCE_EXHAUSTED,
    `The database ${path} was made by a newer version of Pass Over and is only read here.`,
    { recoverable: false, suggestedAction: "Update opencode-pass-over in this project." },
  )

/**
 * Runs one short, synchronous transaction. It takes the write lock at its beginning: a transaction that reads first
 * and wants to write later is refused at once when somebody else wrote in between, whatever the timeout.
 */
export function createWriter(client: Database, path: string): Writer {
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
  return async (work) => {
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
        begin.run()
        const result = guarded()
        commit.run()
        return result
      } catch (error) {
        undo()
        if (!busy(error) || performance.now() > until) throw storeError(error, path)
      }
      // Writers that were refused together would come back together.
      await Bun.sleep(pause * (0.5 + Math.random()))
    }
  }
}

/** What went wrong with the disk or the database is E014 with a sentence; a mistake of ours stays what it is. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof PassOverError) return error
  if (!DISK.test(codeOf(error)) && !busy(error)) return error
  return new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, describe(path, error), { cause: error })
}
