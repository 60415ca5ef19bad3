import type { Database } from "bun:sqlite"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import { describe } from "./open"

const BUSY = /SQLITE_(BUSY|LOCKED)|database (table )?is locked/
const DISK = /SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM)/

const codeOf = (error: unknown) =>
  error instanceof Error ? `${"code" in error ? String(error.code) : ""} ${error.message}` : String(error)

// Long enough for a burst of writers on a slow disk, short enough that nobody takes us for dead.
const PATIENCE_MS = 10_000
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 200

export type Writer = <T>(work: () => T) => Promise<T>

/**
 * Runs one short, synchronous transaction. It takes the write lock at its beginning: a transaction that reads first
 * and wants to write later is refused at once when somebody else wrote in between, whatever the timeout.
 */
export function createWriter(client: Database, path: string, newer: boolean): Writer {
  return async (work) => {
    if (newer) {
      throw new PassOverError(
        PassOverErrorCode.RESOURCE_EXHAUSTED,
        `The database ${path} was made by a newer version of Pass Over and is only read here.`,
        { recoverable: false, suggestedAction: "Update opencode-pass-over in this project." },
      )
    }
    const until = performance.now() + PATIENCE_MS
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return client.transaction(work).immediate()
      } catch (error) {
        if (!BUSY.test(codeOf(error))) throw storeError(error, path)
        if (performance.now() > until) throw storeError(error, path)
      }
      // Writers that were refused together would come back together.
      await Bun.sleep(pause * (0.5 + Math.random()))
    }
  }
}

/** What went wrong with the disk or the database is E014 with a sentence; a mistake of ours stays what it is. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof PassOverError) return error
  const code = codeOf(error)
  if (!DISK.test(code) && !BUSY.test(code)) return error
  return new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, describe(path, error), { cause: error })
}
