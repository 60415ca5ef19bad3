import { createHash } from "node:crypto"
import { copyFile, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { git } from "./git"
import { keptPath } from "./worktree-kept"
import { openShadow, seedPath, type Shadow } from "./shadow"

export type Home = { top: string; common: string | undefined; shadow: Shadow; folder: string }

const key = (top: string) => createHash("sha256").update(top).digest("hex").slice(0, 16)

/** The project's own repository, where it has one with a commit: only then can it have worktrees. */
async function repository(directory: string): Promise<{ top: string; common: string } | undefined> {
  try {
    const out = await git({ cwd: directory }, ["rev-parse", "--show-toplevel", "--git-common-dir", "HEAD"])
    const [top = "", common = ""] = out.split("\n")
    return { top: await realpath(top), common: await realpath(resolve(directory, common)) }
  } catch {
    return undefined
  }
}

export async function openHome({ folder, directory }: { folder: string; directory: string }): Promise<Home> {
  const own = await repository(directory)
  const top = own?.top ?? (await realpath(directory))
  const home = join(folder, key(top))
  return { top, common: own?.common, folder: home, shadow: await openShadow(home, top, own?.common) }
}

/** Where git keeps what it knows of a worktree. The file that says so lies where a child can write. */
async function adminOf({ common }: Home, root: string): Promise<string | undefined> {
  const text = await readFile(join(root, ".git"), "utf8").catch(() => "")
  const [, named] = /^gitdir: (.+)$/m.exec(text) ?? []
  if (common === undefined || named === undefined) return
  const admin = await realpath(resolve(root, named)).catch(() => undefined)
  return admin !== undefined && dirname(admin) === join(common, "worktrees") ? admin : undefined
}

/** Makes the child's `git status` and `git log` show what they would show in the tree that its own was made of. */
export async function sameHead(home: Home, root: string, above?: string) {
  const admin = await adminOf(home, root)
  if (!admin) return
  const plain =
    above !== undefined && (await adminOf(home, above)) ? await headOf(above).catch(() => undefined) : undefined
  const { head, index } = plain ?? (await headOf(home.top))
  await writeFile(join(admin, "HEAD"), `${head}\n`)
  await copyFile(index, join(admin, "index")).catch(() => {})
}

async function headOf(tree: string): Promise<{ head: string; index: string }> {
  const [head = "", index = ""] = (await git({ cwd: tree }, ["rev-parse", "HEAD", "--git-path", "index"])).split("\n")
  return { head, index: resolve(tree, index) }
}

export async function make(home: Home, root: string) {
  await mkdir(home.folder, { recursive: true, mode: 0o700 })
  if (!home.common) return void (await mkdir(root, { recursive: true }))
  await git({ cwd: home.top }, ["worktree", "add", "--detach", "--no-checkout", "--force", "--quiet", root, "HEAD"])
}

export async function unmake(home: Pick<Home, "top" | "common">, root: string, index: string) {
  if (home.common) await git({ cwd: home.top }, ["worktree", "remove", "--force", "--force", root]).catch(() => {})
  await rm(root, { recursive: true, force: true })
  for (const path of [index, seedPath(index), keptPath(root)]) await rm(path, { force: true })
  if (home.common) await git({ cwd: home.top }, ["worktree", "prune"]).catch(() => {})
}

/** One thing after another: git's index takes one writer. */
export function inOrder() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => {})
    return mine
  }
}
