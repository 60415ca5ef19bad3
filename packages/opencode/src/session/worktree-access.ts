import { chmod, lstat, readdir } from "node:fs/promises"
import { join } from "node:path"

const OWN = 0o700

/**
 * Lets us into every folder of a tree again, as far as that is ours to give: in one that may not be written, as a module
 * cache has them, nothing can be removed. Links are not followed.
 */
export async function regain(folder: string): Promise<void> {
  const mode = (await lstat(folder).catch(() => undefined))?.mode
  if (mode === undefined) return
  if ((mode & OWN) !== OWN) await chmod(folder, mode | OWN).catch(() => {})
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await regain(join(folder, entry.name))
}
