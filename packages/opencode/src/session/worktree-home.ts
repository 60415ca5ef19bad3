import { createHash } from "node:crypto"
import { mkdir, realpath, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { git } from "./git"
import { regain } from "./worktree-access"
import { keptPath } from "./worktree-kept"
import { openShadow, type Shadow } from "./shadow"
import { seedPath } from "./shadow-difference"

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

export async function make(home: Home, root: string) {
  await mkdir(home.folder, { recursive: true, mode: 0o700 })
  if (!home.common) return void (await mkdir(root, { recursive: true }))
  await git({ cwd: home.top }, ["worktree", "add", "--detach", "--no-checkout", "--force", "--quiet", root, "HEAD"])
}

/**
 * Only what is ours: `git worktree prune` would forget the user's own worktrees too that are away just now, as on a drive
 * that is not plugged in.
 */
export async function unmake(home: Pick<Home, "top" | "common">, root: string, index: string) {
  const remove = async () => {
    if (home.common) await git({ cwd: home.top }, ["worktree", "remove", "--force", "--force", root])
  }
  const again = await remove().then(
    () => false,
    () => true,
  )
  const gone = () => rm(root, { recursive: true, force: true })
  await gone().catch(async () => {
    await regain(root)
    await gone()
  })
  const books = [index, seedPath(index)].flatMap((path) => [path, `${path}.lock`])
  for (const path of [...books, keptPath(root)]) await rm(path, { force: true })
  // Git lets go of a worktree that is not there, whatever its child had made of it.
  if (again) await remove().catch(() => {})
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
