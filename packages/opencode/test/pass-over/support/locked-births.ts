import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"

type Told = { type: string; properties: { info?: { metadata?: Record<string, unknown> } } }

const held: { database?: Database; locked: boolean } = { locked: false }

/**
 * An opencode plugin for the opencode under test: from the moment in which a child of ours is there, somebody else writes
 * to the database, for as long as the file that it is given exists.
 */
export default {
  id: "locked-births",
  server: async (_host: unknown, { database: path, while: file }: { database: string; while: string }) => ({
    event: async ({ event: { type, properties } }: { event: Told }) => {
      if (held.locked || !existsSync(file) || !existsSync(path)) return
      // Opened before it is needed: our own thread wants to write a moment later.
      const database = (held.database ??= new Database(path))
      if (type !== "session.created" || properties.info?.metadata?.pass_over === undefined) return
      database.run("BEGIN IMMEDIATE")
      held.locked = true
      const look = () => {
        if (existsSync(file)) return void setTimeout(look, 20)
        database.run("ROLLBACK")
        database.close()
        delete held.database
        held.locked = false
      }
      look()
    },
  }),
}
