import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { git } from "./git"

// Folders that a package manager fills and that nobody edits by hand.
const DEPENDENCIES = ["node_modules", ".venv", "venv", "vendor", "bower_components", ".pnpm-store", "Pods"]

const CONFIG = ["opencode.json", "opencode.jsonc", "tui.json"]
const LEFT_OUT = ["node_modules", "pass-over-logs", "runs"]
// opencode installs its plugin package into a folder without these two; that takes seconds, and longer offline.
const LOCK = (version: string) =>
  JSON.stringify({ packages: { "": { dependencies: { "@opencode-ai/plugin": version } } } })

const quietly = (work: () => void) => {
  try {
    work()
  } catch {
    // What cannot be brought along is missed by whoever needs it, and by nobody else.
  }
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** A link leads to the user's own folder, so nothing is written there. One beside the project leads nowhere from a tree. */
function relink(theirs: string, ours: string) {
  if (existsSync(ours)) return
  quietly(() => {
    rmSync(ours)
    symlinkSync(realpathSync(theirs), ours)
  })
}

/** Brings along what opencode needs to know in a new tree, also where git ignores it, and spares it an installation. */
export function seedConfig(from: string, to: string, version: string) {
  for (const name of CONFIG) {
    const there = join(to, name)
    if (existsSync(join(from, name)) && !existsSync(there)) quietly(() => cpSync(join(from, name), there))
  }
  const [theirs, ours] = [join(from, ".opencode"), join(to, ".opencode")]
  if (!existsSync(theirs)) return
  if (isLink(ours)) return relink(theirs, ours)
  for (const name of readdirSync(theirs)) {
    if (LEFT_OUT.includes(name) || existsSync(join(ours, name))) continue
    quietly(() => cpSync(join(theirs, name), join(ours, name), { recursive: true, verbatimSymlinks: true }))
  }
  const packages = join(ours, "node_modules")
  if (existsSync(packages)) return
  if (existsSync(join(theirs, "node_modules")))
    return quietly(() => symlinkSync(join(theirs, "node_modules"), packages))
  mkdirSync(packages, { recursive: true })
  if (!existsSync(join(ours, "package-lock.json"))) writeFileSync(join(ours, "package-lock.json"), LOCK(version))
}

/** Folders of dependencies in a tree that git ignores, as paths below it. */
export async function dependencyFolders(top: string, isGit: boolean): Promise<string[]> {
  if (!isGit) return DEPENDENCIES.filter((name) => existsSync(join(top, name)))
  const out = await git({ cwd: top }, ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"])
  return out
    .split("\0")
    .map((path) => path.replace(/\/$/, ""))
    .filter((path) => DEPENDENCIES.includes(path.split("/").at(-1) ?? "") && !path.startsWith(".opencode"))
}

/** The same in the repositories that lie in a project. */
export async function nestedDependencies(top: string, nested: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    nested.map(async (below) => {
      const names = await dependencyFolders(join(top, below), true).catch(() => [])
      return names.map((name) => `${below}/${name}`)
    }),
  )
  return found.flat()
}

/** Whether a path leads through a link: what is written there lies somewhere else. */
function leadsAway(tree: string, path: string): boolean {
  const parts = dirname(path).split("/")
  const folders = parts.map((_, at) => join(tree, ...parts.slice(0, at + 1)))
  return folders.some(isLink)
}

/** Links the user's own folders of dependencies into a tree: copying them would take longer than most passes. */
export function linkFolders(from: string, to: string, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    const there = join(to, path)
    try {
      if (existsSync(there) || leadsAway(to, path) || !statSync(join(from, path)).isDirectory()) return false
      mkdirSync(dirname(there), { recursive: true })
      symlinkSync(join(from, path), there)
      return true
    } catch {
      return false
    }
  })
}

export function unlinkFolders(tree: string, paths: readonly string[]) {
  for (const path of paths) {
    quietly(() => {
      // Never through the link: behind it are the user's own files.
      if (lstatSync(join(tree, path)).isSymbolicLink()) rmSync(join(tree, path))
    })
  }
}

// Two levels, and no more entries than can be looked at in some tens of milliseconds.
const MOST_ENTRIES = 20_000

/** What tells whether somebody wrote into a folder of dependencies: the newest change of a name in its upper levels. */
export function fingerprint(top: string, paths: readonly string[]): Map<string, string> {
  let left = MOST_ENTRIES
  const stamps = new Map<string, string>()
  const look = (path: string, depth: number) => {
    if (left <= 0) return
    left -= 1
    quietly(() => {
      const found = lstatSync(path, { bigint: true })
      stamps.set(path, `${found.mtimeNs} ${found.size}`)
      if (!found.isDirectory() || depth === 0) return
      for (const name of readdirSync(path)) look(join(path, name), depth - 1)
    })
  }
  for (const path of paths) look(join(top, path), path.includes("node_modules") ? 3 : 2)
  return stamps
}

/** What was written through the links, by name. */
export function written(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const changed = [...after].filter(([path, stamp]) => before.get(path) !== stamp).map(([path]) => path)
  return [...changed, ...[...before.keys()].filter((path) => !after.has(path))]
}
