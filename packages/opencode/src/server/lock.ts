import { Database } from "bun:sqlite"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"

/**
 * One holder at a time on this machine, and none once the holder is gone, however it went: the system itself lets go of
 * a lock on a file. SQLite knows how to ask for one on every system.
 */
export function takeLock(path: string): { release(): void } | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = new Database(path, { create: true })
  try {
    file.run("PRAGMA busy_timeout = 0")
    file.run("PRAGMA locking_mode = EXCLUSIVE")
    file.run("BEGIN EXCLUSIVE")
    return { release: () => file.close() }
  } catch {
    file.close()
    return undefined
  }
}
