import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { PassOverError, PassOverErrorCode } from "../pass-over/domain/errors"
import type { PassID } from "../pass-over/domain/id"
import type { Worktree } from "../pass-over/service/port-change"
import type { Standing } from "../pass-over/service/port-workspace"
import type { Claim, Pool } from "./worktree-pool"
import type { Home } from "./worktree-home"

const NAME = /^tree-\d+-\d+$/

/** The tree that a child has worked in, where it is one of this project's. A session remembers its directory alone. */
export async function rootOf({ options }: Pool, { top, folder }: Home, directory: string): Promise<string | undefined> {
  const below = relative(top, await realpath(options.directory))
  const folders = [folder, await realpath(folder).catch(() => folder)]
  const names = folders.flatMap((each) => {
    const [name = "", ...rest] = relative(each, directory).split(sep)
    return NAME.test(name) && rest.join(sep) === below ? [name] : []
  })
  const [name] = names
  return name === undefined ? undefined : join(folder, name)
}

const rowOf = async ({ options }: Pool, { top }: Home, root: string) =>
  (await options.store.worktrees(top)).find(({ directory }) => directory === root)

async function standingOf(pool: Pool, row: Worktree | undefined, earlier?: PassID): Promise<Standing> {
  const { options, making } = pool
  if (!row) return "free"
  const mine = row.owner_id === options.owner_id
  if (!mine && !(await options.gone(row.owner_id))) return "elsewhere"
  // The pass before is being cleared away; whoever goes on waits for that.
  const leaving = mine && row.pass_over_id === earlier
  return (row.pass_over_id === null || leaving) && !making.has(row.directory) ? "free" : "taken"
}

type Tree = { directory: string; earlier: PassID }

export async function standing(pool: Pool, home: Home, { directory, earlier }: Tree): Promise<Standing> {
  const root = await rootOf(pool, home, directory)
  return root === undefined ? "unknown" : standingOf(pool, await rowOf(pool, home, root), earlier)
}

/** Keeps a tree for a pass that goes on in it, where it is free. */
export async function promise(pool: Pool, home: Home, tree: Tree & { pass: PassID }): Promise<Standing> {
  const found = await standing(pool, home, tree)
  const root = await rootOf(pool, home, tree.directory)
  if (found !== "free" || root === undefined) return found
  if (pool.promised.has(root)) return "taken"
  pool.promised.set(root, tree.pass)
  return "free"
}

export function forgo({ promised }: Pool, pass: PassID) {
  for (const [root, of] of promised) if (of === pass) promised.delete(root)
}

const lost = (why: string) =>
  new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, `the tree that it has worked in ${why}`)

/** That very tree for a pass: as it stands empty, or to be made anew in the same place. */
export async function reclaim(pool: Pool, home: Home, pass_over_id: PassID, directory: string): Promise<Claim> {
  const { options, dropping } = pool
  const root = await rootOf(pool, home, directory)
  if (root === undefined) throw lost("is none of this project's")
  // Letting go of a tree takes a moment, and its place is free after that.
  await dropping.get(root)
  const row = await rowOf(pool, home, root)
  const { store, owner_id, now } = options
  const mine: Worktree = {
    directory: root,
    project: home.top,
    kind: home.common ? "git" : "copy",
    owner_id,
    pass_over_id,
    collected: false,
    time_used: now(),
  }
  const free = (await standingOf(pool, row)) === "free"
  if (!free || !(await store.takeWorktree(mine, row ?? null))) throw lost("is taken")
  return { row: mine, fresh: row?.owner_id !== owner_id || !existsSync(root) }
}
