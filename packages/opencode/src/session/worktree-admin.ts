import { copyFile, lstat, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { git } from "./git"
import { gitdirOf } from "./shadow-add"
import { folders } from "./shadow"
import type { Home } from "./worktree-home"

const real = (path: string) => realpath(path).catch(() => undefined)
const line = (path: string) => readFile(path, "utf8").then((text) => text.trim())

/**
 * Where git keeps what it knows of a worktree; nothing where that is not its own any more. The files that say so lie where
 * a child can write.
 */
async function adminOf({ common }: Pick<Home, "common">, root: string): Promise<string | undefined> {
  if (common === undefined || !(await lstat(join(root, ".git")).catch(() => undefined))?.isFile()) return
  const admin = await gitdirOf(root)
  if (admin === undefined || dirname(admin) !== join(common, "worktrees")) return
  try {
    const [back, shared] = await Promise.all([line(join(admin, "gitdir")), line(join(admin, "commondir"))])
    const own = (await real(dirname(back))) === (await real(root)) && (await real(resolve(admin, shared))) === common
    return own ? admin : undefined
  } catch {
    return undefined
  }
}

/** Whether git still takes a tree for the worktree that it was made as. Outside of git there is nothing to be taken for. */
export const isAsMade = async (home: Pick<Home, "common">, root: string) =>
  home.common === undefined || (await adminOf(home, root)) !== undefined

export type Head = { commit: string; index: string }

async function headIn(tree: string): Promise<Head> {
  const [commit = "", index = ""] = (await git({ cwd: tree }, ["rev-parse", "HEAD", "--git-path", "index"])).split("\n")
  return { commit, index: resolve(tree, index) }
}

/** What is checked out in the tree that another one is made of. */
export async function headOf(home: Home, above?: string): Promise<Head | undefined> {
  if (home.common === undefined) return
  const plain =
    above !== undefined && (await isAsMade(home, above)) ? await headIn(above).catch(() => undefined) : undefined
  return plain ?? headIn(home.top)
}

/** Makes the child's `git status` and `git log` show what they would show in the tree that its own was made of. */
export async function sameHead(home: Home, root: string, { commit, index }: Head) {
  const admin = await adminOf(home, root)
  if (!admin) return
  // Whatever lies there is replaced and not written through.
  await rm(join(admin, "HEAD"), { force: true })
  await writeFile(join(admin, "HEAD"), `${commit}\n`)
  await copyFile(index, join(admin, "index")).catch(() => {})
  // An index may be split in two.
  for (const name of await readdir(dirname(index)).catch(() => []))
    if (name.startsWith("sharedindex.")) await copyFile(join(dirname(index), name), join(admin, name)).catch(() => {})
}

// What git needs to find a worktree. All else in there is its child's: settings, a rebase half done, a log, a lock.
const KEPT = ["HEAD", "gitdir", "commondir", "locked"]

/** Takes away what a child has left of git's in its tree, where cleaning does not look; whether all of it could be. */
export async function tidy(home: Home, root: string, index: string): Promise<boolean> {
  const below = await folders(home.shadow, root, index)
  const repositories = home.common === undefined ? ["", ...below] : below
  const found = await Promise.all(repositories.map((path) => lstat(join(root, path, ".git")).catch(() => undefined)))
  for (const [at, path] of repositories.entries())
    if (found[at]) await rm(join(root, path, ".git"), { recursive: true, force: true })
  if (home.common === undefined) return true
  const admin = await adminOf(home, root)
  if (admin === undefined) return false
  for (const name of await readdir(admin))
    if (!KEPT.includes(name)) await rm(join(admin, name), { recursive: true, force: true })
  return true
}
