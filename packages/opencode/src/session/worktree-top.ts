import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join, relative } from "node:path"
import { nestedIn } from "./shadow-add"
import { forgetTracked, withTracked } from "./shadow-tracked"
import { photograph } from "./shadow"
import type { Home } from "./worktree-home"

/** The index that this process photographs the user's own tree with. */
const topIndex = ({ folder }: Pick<Home, "folder">) => join(folder, `top-${process.pid}.index`)

// What opencode installs and what we write there ourselves, as the shadow leaves it out too.
const OURS = /^\.opencode\/(?:node_modules|pass-over-logs|runs)\//

/** Begins the index anew: what it knows may be gone, as what the user's `git gc` has thrown away. */
export async function forgetTop(home: Home) {
  await rm(topIndex(home), { force: true })
  forgetTracked(topIndex(home))
}

/** A photograph of the user's own tree. */
export async function photographTop(home: Home): Promise<string> {
  const { shadow, top, common } = home
  const more = withTracked(top, common !== undefined, (path) => OURS.test(path))
  const take = () => photograph(shadow, top, topIndex(home), more)
  return take().catch(async () => {
    await forgetTop(home)
    return take()
  })
}

/** The repositories in the user's tree, or in a folder of it, that a child finds as plain files. */
export const nestedOf = (home: Home, below = ""): string[] =>
  nestedIn(topIndex(home))
    .filter((path) => existsSync(join(home.top, path, ".git")))
    .map((path) => relative(below, path))
    .filter((path) => path !== "" && path !== ".." && !path.startsWith("../"))

// The pools that are open for a place, by its folder: the projects that this process has in one repository.
const open = new Map<string, Set<object>>()

export const enter = ({ folder }: Home, pool: object) =>
  void open.set(folder, new Set([...(open.get(folder) ?? []), pool]))

/** The last one takes the index along. */
export async function leave(home: Home, pool: object) {
  const others = open.get(home.folder)
  others?.delete(pool)
  if (others && others.size > 0) return
  open.delete(home.folder)
  await forgetTop(home)
}
