import { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { drizzle } from "drizzle-orm/bun-sqlite"
import { PassOverError } from "../domain/errors"
import { outgrown } from "./migrate"
import { busy, codeOf, unwritable } from "./open"
import { storedPreferences } from "./preference"

export type DatabaseCheck =
  | { state: "absent" }
  | { state: "broken"; problem: string }
  | { state: "busy" }
  /** It cannot be written; on a read-only disk SQLite does not even read it. */
  | { state: "barred"; message: string; advice: string }
  | {
      state: "ok"
      newer: boolean
      bytes: number
      /** What SQLite's own check complains about. */
      damage: string[]
      /** The permission bits of the file; whole conversations lie in it. */
      mode: number
      passes: number
      open: number
      /** When the youngest pass was made. */
      latest: number | undefined
    }

const TABLES = "select count(*) as n from sqlite_master where type = 'table' and name = 'pass_over_requests'"
const COUNTS = `select count(*) as passes, max(r.time_created) as latest,
  coalesce(sum(c.status in ('initial', 'waiting_for_return')), 0) as open
  from pass_over_requests r join return_contexts c on c.pass_over_id = r.id`

type Counts = { passes: number; latest: number | null; open: number }

function inspect(client: Database, path: string): DatabaseCheck {
  const damage = client
    .query<{ quick_check: string }, []>("PRAGMA quick_check(20)")
    .all()
    .map((row) => row.quick_check)
    .filter((line) => line !== "ok")
  const made = (client.query<{ n: number }, []>(TABLES).get()?.n ?? 0) > 0
  const counts = made && damage.length === 0 ? client.query<Counts, []>(COUNTS).get() : undefined
  const { size, mode } = statSync(path)
  return {
    state: "ok",
    newer: outgrown(client),
    bytes: size,
    damage,
    mode: mode & 0o777,
    passes: counts?.passes ?? 0,
    open: counts?.open ?? 0,
    latest: counts?.latest ?? undefined,
  }
}

/** What is wrong with the preferences that are stored for a project; nothing where all is well, or nothing is there. */
export function checkStored(path: string, directory: string): string | undefined {
  try {
    if (!statSync(path, { throwIfNoEntry: false })) return undefined
    const client = new Database(path, { readonly: true })
    try {
      client.run("PRAGMA busy_timeout = 500")
      if ((client.query<{ n: number }, []>(TABLES).get()?.n ?? 0) > 0) storedPreferences(drizzle({ client }), directory)
      return undefined
    } finally {
      client.close()
    }
  } catch (error) {
    // That the database itself cannot be used is told by the check of it.
    return error instanceof PassOverError ? error.message : undefined
  }
}

/** Looks at the database without changing anything in it, and without making one. */
export function checkDatabase(path: string): DatabaseCheck {
  try {
    if (!statSync(path, { throwIfNoEntry: false })) return { state: "absent" }
    const barred = unwritable(path)
    if (barred) return { state: "barred", ...barred }
    const client = new Database(path, { readonly: true })
    try {
      client.run("PRAGMA busy_timeout = 500")
      return inspect(client, path)
    } finally {
      client.close()
    }
  } catch (error) {
    if (busy(error)) return { state: "busy" }
    return { state: "broken", problem: codeOf(error).trim() }
  }
}
