import type { Database } from "bun:sqlite"
import { MIGRATIONS } from "./migration.gen"

export type Migration = { tag: string; statements: readonly string[] }

const TABLE = "pass_over_migrations"

function applied(client: Database): string[] {
  const exists = client.query("select 1 from sqlite_master where type = 'table' and name = ?").get(TABLE)
  if (!exists) return []
  return client
    .query<{ tag: string }, []>(`select tag from ${TABLE} order by tag`)
    .all()
    .map((row) => row.tag)
}

/** Whether a later version of ours has changed the database. */
export const outgrown = (client: Database, migrations: readonly Migration[] = MIGRATIONS) =>
  applied(client).some((tag) => migrations.every((migration) => migration.tag !== tag))

/**
 * Brings a database to the newest schema. Safe with several processes at once: all but one wait for the first to
 * commit and then find nothing left to do. A database with migrations that we do not know is left alone.
 */
export function migrate(client: Database, migrations: readonly Migration[] = MIGRATIONS): "current" | "newer" {
  const known = new Set(migrations.map((migration) => migration.tag))
  const state = (tags: readonly string[]) => ({
    newer: tags.some((tag) => !known.has(tag)),
    missing: migrations.filter((migration) => !tags.includes(migration.tag)),
  })
  const before = state(applied(client))
  if (before.newer) return "newer"
  if (before.missing.length === 0) return "current"
  return client
    .transaction(() => {
      const now = state(applied(client))
      if (now.newer) return "newer"
      client.run(`create table if not exists ${TABLE} (tag text primary key, time_applied integer not null)`)
      for (const migration of now.missing) {
        for (const statement of migration.statements) client.run(statement)
        client.query(`insert into ${TABLE} (tag, time_applied) values (?, ?)`).run(migration.tag, Date.now())
      }
      return "current"
    })
    .immediate()
}
