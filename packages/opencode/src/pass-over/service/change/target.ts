import type { ChangeSet } from "../../domain/change/change"
import type { Pass } from "../../domain/pass"
import type { Store } from "../port"
import type { Application, TreeOf } from "../port-change"

/** Where a change is written to: the project, or for as long as it is there the tree of the pass above. */
export type Target = {
  directory: string
  /** Set where it is a tree of ours. It is checked once more when the intent is written down. */
  tree?: TreeOf
  /** It was made for a tree that is not that pass's any more. */
  moved?: boolean
}

type Known = Pick<Store, "find" | "worktrees">

/** The pass that works in a tree, where it is one that this pass came from. */
async function above(store: Known, pass: Pass, tree: TreeOf): Promise<Pass | undefined> {
  const holder = await store.find(tree.pass_over_id)
  if (!holder || holder.child_session_id === null) return
  // By its session: who goes on there as another pass has the same right to what came back earlier.
  for (let at: Pass | undefined = pass; at; at = await parentOf(store, at)) {
    if (at.session_id === holder.child_session_id) return holder
  }
  return undefined
}

const parentOf = async (store: Known, { parent_pass_id }: Pass) =>
  parent_pass_id === null ? undefined : store.find(parent_pass_id)

export type Held = { tree: TreeOf; holder: Pass }

/** The tree that a directory lies in, as long as a pass that this one came from works there. */
export async function treeOf(store: Known, pass: Pass, directory: string): Promise<Held | undefined> {
  const rows = await store.worktrees()
  const row = rows.find((one) => directory === one.directory || directory.startsWith(`${one.directory}/`))
  if (!row || row.pass_over_id === null || row.collected) return
  const tree = { directory: row.directory, pass_over_id: row.pass_over_id }
  const holder = await above(store, pass, tree)
  return holder && { tree, holder }
}

/**
 * Where a change is written to now. What was made for a tree that is gone goes to the project instead: it is a proposal
 * that nobody has decided about, and what it was made of is checked there as for every other.
 */
export async function targetOf(store: Known, pass: Pass, directory: string): Promise<Target> {
  if (directory === pass.directory) return { directory }
  const held = await treeOf(store, pass, directory)
  return held ? { directory, tree: held.tree } : { directory: pass.directory, moved: true }
}

/** The same for a change alone, whose pass has to be looked up. */
export async function targetOfChange(
  store: Known,
  change: Pick<ChangeSet, "pass_over_id" | "directory">,
): Promise<Target> {
  const pass = await store.find(change.pass_over_id)
  return pass ? targetOf(store, pass, change.directory) : { directory: change.directory }
}

/** What a reader of a change has to know of where it goes, where that is not simply the project. */
export async function whereTo(
  store: Known,
  change: Pick<ChangeSet, "pass_over_id" | "directory">,
  applications: readonly Application[],
) {
  const pass = await store.find(change.pass_over_id)
  if (!pass || change.directory === pass.directory) return
  const held = await treeOf(store, pass, change.directory)
  const there = applications.some(({ directory, status }) => directory === change.directory && status === "done")
  if (held) {
    const tree = `the tree in which ${held.holder.subagent_id} works in pass ${held.holder.id}`
    return there
      ? `it is applied in ${tree}, and part of what that pass proposes`
      : `it is for ${tree}: applied there it becomes part of what that pass proposes`
  }
  return there
    ? "it was applied in the tree of the pass above, which is over: it is part of what that pass proposed"
    : "it was made for the tree of the pass above, which is over: applied now it is written into the project itself"
}
