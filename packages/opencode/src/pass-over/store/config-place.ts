import { existsSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const NAME = join(".opencode", "pass-over.json")

/**
 * The project's own file: the nearest one from the directory up to the top of its work tree. Outside of git the host
 * calls the root of the disk the work tree; files up there belong to whoever could write them, so none is looked for.
 */
export function projectFile(directory: string, worktree: string): string {
  const at = join(directory, NAME)
  if (existsSync(at) || dirname(worktree) === worktree) return at
  const above = dirname(directory)
  const outside = /^\.\.([\\/]|$)/.test(relative(worktree, above)) || above === directory
  return outside ? join(directory, NAME) : projectFile(above, worktree)
}
