import { sep } from "node:path"
import { guardedPath } from "../pass-over/domain/change/path"
import type { Store } from "../pass-over/service/port"
import { photograph } from "./shadow"
import { asBefore } from "./shadow-difference"
import type { Home } from "./worktree-home"
import type { Kept } from "./worktree-kept"
import type { Slot } from "./worktree-pool"

/** A tree of ours that others are made of: that of the pass above theirs. */
export type Above = { root: string; directory: string; kept: Kept }

/**
 * A tree as its child has it by now. What it has put where opencode or git look for programs does not go along: the
 * instance of the new tree would run it.
 */
export async function photographAbove(home: Home, { root, kept }: Above, index: string): Promise<string> {
  const to = await photograph(home.shadow, root, `${root}.index`)
  const paths = (path: string) => guardedPath(path) || kept.linked.includes(path)
  return asBefore(home.shadow, { from: kept.base, to, index, paths })
}

// The trees that passes below have worked with, by the directories that their children were given.
const lent = new Set<string>()

export const lend = (directory: string) => void lent.add(directory)
export const isLent = (directory: string) => lent.has(directory)
export const takeBack = (directory: string) => void lent.delete(directory)

const LOOK_MS = 50
const LOOKS = 40

/** Lets nobody begin to write into a tree, and waits for what somebody writes there just now. */
export async function closeTree(store: Store, { row: { directory, pass_over_id } }: Pick<Slot, "row">) {
  if (pass_over_id === null) return
  await store.closeWorktree({ directory, pass_over_id })
  const under = `${directory}${sep}`
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const pending = await store.pending()
    if (!pending.some((one) => `${one.directory}${sep}`.startsWith(under))) return
    await Bun.sleep(LOOK_MS)
  }
}
