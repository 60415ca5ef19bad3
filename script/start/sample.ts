import { Database } from "bun:sqlite"
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"

const KEY = ".key"

/** What the last `npm start` has written down, for `npm run panel` to show. */
export const KEPT = join(import.meta.dir, "../../artifact/sample/pass-over.db")

/** Keeps the database of a sandbox that is about to go. */
export function keepForPanel(database: string) {
  if (!existsSync(database)) return
  mkdirSync(dirname(KEPT), { recursive: true })
  for (const end of ["", "-wal", "-shm", KEY]) rmSync(KEPT + end, { force: true })
  using source = new Database(database)
  source.run("VACUUM INTO ?", [KEPT])
  if (existsSync(database + KEY)) copyFileSync(database + KEY, KEPT + KEY)
}
