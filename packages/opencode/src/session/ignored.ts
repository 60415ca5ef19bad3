import { existsSync, readFileSync, realpathSync } from "node:fs"
import { dirname, join, posix, relative, sep } from "node:path"
import ignore, { type Ignore } from "ignore"
import { once } from "remeda"

/** Whether a project's ignore files leave a path out. What git tracks is never ignored, whatever they say. */
export type Ignored = (path: string) => boolean

// Made once: to make its patterns takes longer than to ask them.
const always = once(() => ignore().add([".git/", "node_modules/"]))

function rulesIn(folder: string): Ignore | undefined {
  try {
    return ignore().add(readFileSync(join(folder, ".gitignore"), "utf8"))
  } catch {
    return undefined
  }
}

/** The folders above a path, the outermost first: "a/b/c.ts" gives "", "a" and "a/b". */
function above(path: string): string[] {
  const folder = posix.dirname(path)
  return folder === "." || dirname(folder) === folder ? [""] : [...above(folder), folder]
}

/** The repository that a folder lies in, whose ignore files hold for it too; itself where it lies in none. */
function topOf(directory: string, at = directory): string {
  if (existsSync(join(at, ".git"))) return at
  const up = dirname(at)
  return up === at ? directory : topOf(directory, up)
}

/** Reads each folder's ignore file once, when a path below it is asked for. */
export function createIgnored(directory: string): Ignored {
  const place = once(() => {
    const folder = realpathSync(directory)
    const top = topOf(folder)
    return { top, prefix: relative(top, folder).split(sep).join("/") }
  })
  const known = new Map<string, Ignore | undefined>()
  const rules = (folder: string) => {
    if (!known.has(folder)) known.set(folder, rulesIn(join(place().top, folder)))
    return known.get(folder)
  }
  return (local) => {
    if (/^(?:\.\.)?(?:\/|$)/.test(local)) return true
    if (always().ignores(local)) return true
    const path = posix.join(place().prefix, local)
    let verdict = false
    // What a deeper folder says comes later, and the last word holds.
    for (const folder of above(path)) {
      const said = rules(folder)?.test(folder === "" ? path : posix.relative(folder, path))
      if (said?.ignored) verdict = true
      if (said?.unignored) verdict = false
    }
    return verdict
  }
}
