import type { Application } from "../port-change"
import type { KnownOwner } from "../port"
import { tell } from "./apply"
import type { ChangeDeps } from "./deps"
import { targetOfChange } from "./target"
import { finish } from "./write"

/** Whether the process that wrote an intent down is gone for good. */
export type Gone = (owner: KnownOwner | undefined) => boolean

// Nothing of it is left: a tree that is given back is emptied.
const LOST = "the tree that it was to be written into is gone"

async function end(deps: ChangeDeps, application: Application): Promise<boolean> {
  const { apply_id } = application
  const { moved } = await targetOfChange(deps.store, application)
  if (moved) {
    return deps.store.endApply({ apply_id, status: "not_applied", problem: LOST, at: deps.clock.now() })
  }
  const tree = await deps.openTree(application.directory)
  try {
    const finished = await finish(deps, tree, application)
    const at = deps.clock.now()
    if (!finished.done) {
      return await deps.store.endApply({ apply_id, status: "not_applied", problem: finished.why, at })
    }
    const pass = await deps.store.find(application.pass_over_id)
    const told = pass ? await tell(deps, pass, application, at) : {}
    return await deps.store.endApply({ apply_id, status: "done", problem: null, at, ...told })
  } finally {
    tree.close()
  }
}

/** Ends what other processes left in the middle of a write: fully applied, or not at all. */
export async function recoverApplies(deps: ChangeDeps, gone: Gone): Promise<number> {
  let ended = 0
  for (const application of await deps.store.pending()) {
    const { apply_id, owner_id } = application
    if (deps.under_way.has(apply_id)) continue
    // One of our own that is not under way could not be ended at the time: the disk was full, say.
    if (owner_id !== deps.owner_id && !gone(await deps.store.owner(owner_id))) continue
    if (!(await deps.store.takeApply({ apply_id, from: owner_id, owner_id: deps.owner_id }))) continue
    const done = await end(deps, { ...application, owner_id: deps.owner_id }).catch((error: unknown) => {
      deps.log("error", "a write that was broken off could not be ended", { apply_id, error: String(error) })
      return false
    })
    if (done) ended += 1
  }
  return ended
}
