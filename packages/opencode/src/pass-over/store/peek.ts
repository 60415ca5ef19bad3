import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { eq } from "drizzle-orm"
import { drizzle } from "drizzle-orm/bun-sqlite"
import type { PassOverPreferences } from "../domain/preference"
import { PassOverRequestTable } from "./pass-over.sql"
import { storedPreferences } from "./preference"
import { storeError } from "./write"

const PATIENCE_MS = 500

function read(client: Database, folders: readonly string[], top: string): PassOverPreferences {
  client.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  const table = client.query("select 1 from sqlite_master where name = ?").get("pass_over_preferences")
  if (table === null) return {}
  const db = drizzle({ client })
  const known = (folder: string) =>
    db
      .select({ id: PassOverRequestTable.id })
      .from(PassOverRequestTable)
      .where(eq(PassOverRequestTable.directory, folder))
      .limit(1)
      .get() !== undefined
  return storedPreferences(db, folders.find(known) ?? top)
}

/**
 * What is stored for the nearest of these folders that a pass is known of, else for `top`, without opening the store:
 * nothing is made, brought up to date or waited for. Where there is no database, nothing is stored.
 */
export function peekPreferences(path: string, folders: readonly string[], top: string): PassOverPreferences {
  if (!existsSync(path)) return {}
  try {
    const client = new Database(path, { readonly: true })
    try {
      return read(client, folders, top)
    } finally {
      client.close()
    }
  } catch (error) {
    throw storeError(error, path)
  }
}
