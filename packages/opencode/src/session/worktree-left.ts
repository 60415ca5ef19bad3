import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join, relative } from "node:path"
import type { PassID } from "../pass-over/domain/id"
import { isUnread } from "../pass-over/service/change/unread"
import type { Worktree } from "../pass-over/service/port-change"
import type { Workspace } from "../pass-over/service/port-workspace"
import { takeBack } from "./worktree-above"
import { unmake, type Home } from "./worktree-home"
import { recall } from "./worktree-kept"
import { drop, leaving, type Pool, type WorktreeOptions } from "./worktree-pool"

/** Takes over the tree of a pass whose process is gone. */
export async function inherit(
  { options, slots, aside }: Pool,
  home: Home,
  pass_over_id: PassID,
): Promise<Workspace | undefined> {
  const { store, owner_id, now, gone } = options
  const row = (await store.worktrees(home.top)).find((one) => one.pass_over_id === pass_over_id)
  if (!row || !(row.owner_id === owner_id ? aside.has(row.directory) : await gone(row.owner_id))) return
  const kept = await recall(row.directory)
  // It is read at once, and was its child's: nobody applies anything to it any more.
  const mine = { ...row, owner_id, collected: true, time_used: now() }
  if (!kept || !(await store.takeWorktree(mine, row))) return
  const root = row.directory
  aside.delete(root)
  const directory = join(root, relative(home.top, await realpath(options.directory)))
  slots.set(directory, { ...kept, row: mine, root, index: `${root}.index`, stamps: undefined, left: true })
  return { directory, instead_of: options.directory, linked: kept.linked }
}

// A project on a drive comes back; one that was deleted does not.
const AWAY_MS = 30 * 24 * 60 * 60_000

/** Whether nobody will read any more what is in a tree. */
async function isOver({ store, now }: WorktreeOptions, row: Worktree): Promise<boolean> {
  const { pass_over_id, directory, project, time_used } = row
  if (pass_over_id === null || !(await recall(directory))) return true
  if (!existsSync(project) && now() - time_used > AWAY_MS) return true
  const [pass, outcome, changes] = await Promise.all([
    store.find(pass_over_id),
    store.outcome(pass_over_id),
    store.changes(pass_over_id),
  ])
  return !pass || (outcome?.transcript === "read" && !isUnread(changes.at(-1)))
}

async function away({ store, owner_id, now, log }: WorktreeOptions, row: Worktree) {
  if (!(await store.takeWorktree({ ...row, owner_id, pass_over_id: null, time_used: now() }, row))) return
  const home = { top: row.project, common: row.kind === "git" ? row.project : undefined }
  await unmake(home, row.directory, `${row.directory}.index`).catch((error: unknown) =>
    log("warn", "a tree could not be removed", { error: String(error) }),
  )
  await store.dropWorktree(row.directory)
}

/** What processes left that are gone: their trees are nobody's any more, once they were read. */
export async function sweep(pool: Pool) {
  const { options } = pool
  for (const row of await options.store.worktrees()) {
    if (row.owner_id === options.owner_id || !(await options.gone(row.owner_id)) || !(await isOver(options, row)))
      continue
    await leaving(pool, row.directory, () => away(options, row))
  }
}

/**
 * Removes what this pool has: what others have of the same repository is theirs. The tree of a pass that has no outcome
 * yet, or one without what was made there, stays, as if this process had been killed: whoever comes next reads it. Only
 * what opencode has open of it goes, and whoever works there with that.
 */
export async function dropAll(pool: Pool, home: Home) {
  const { options, slots, timers, filling } = pool
  const { store, owner_id, now } = options
  for (const timer of timers.values()) clearTimeout(timer)
  const used = new Set([...filling, ...Array.from(slots.values(), ({ root }) => root)])
  for (const row of await store.worktrees(home.top)) {
    if (row.owner_id !== owner_id) continue
    if (used.has(row.directory) && (await isOver(options, row))) await drop(pool, home, row)
    else if (used.has(row.directory)) await letGo(pool, row)
    if (used.has(row.directory) || row.pass_over_id !== null || !timers.has(row.directory)) continue
    // Another project of the same repository may take it just now.
    if (await store.takeWorktree({ ...row, time_used: now() }, row)) await drop(pool, home, row)
  }
}

/** Leaves a tree as it is: what is in it could not be read, and is read at the next start. */
export async function setAside({ options, slots, aside }: Pool, { directory }: Workspace) {
  const slot = slots.get(directory)
  if (!slot) return
  slots.delete(directory)
  takeBack(directory)
  aside.add(slot.root)
  const { pass_over_id } = slot.row
  if (pass_over_id !== null) await options.store.closeWorktree({ directory: slot.root, pass_over_id })
  await options.dispose(directory).catch(() => {})
}

async function letGo(pool: Pool, row: Worktree) {
  const [directory, slot] = [...pool.slots].find(([, { root }]) => root === row.directory) ?? []
  if (directory !== undefined && slot) await setAside(pool, { directory, instead_of: row.project, linked: slot.linked })
}
