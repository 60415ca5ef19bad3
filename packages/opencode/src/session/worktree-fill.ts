import type { Worktree } from "../pass-over/service/port-change"
import { restore } from "./shadow"
import { keepBorrowed } from "./shadow-own"
import { photographAbove, type Above } from "./worktree-above"
import { headOf, isAsMade, sameHead, type Head } from "./worktree-admin"
import { make, unmake, type Home } from "./worktree-home"
import { remember } from "./worktree-kept"
import type { Pool, Slot } from "./worktree-pool"
import { dependencyFolders, fingerprint, linkFolders, nestedDependencies, seedConfig } from "./worktree-seed"
import { forgetTop, nestedOf, photographTop } from "./worktree-top"

type Filling = { home: Home; row: Worktree; fresh: boolean; can_modify_files: boolean; above?: Above | undefined }

/** Puts into a tree what the one that it is made of shows now; comes back with that photograph. */
async function show({ ordered }: Pool, { home, row, above }: Filling, head: Promise<Head | undefined>) {
  const index = `${row.directory}.index`
  const put = async () => {
    const base = await ordered(() => (above ? photographAbove(home, above, index) : photographTop(home)))
    const commit = (await head)?.commit
    await Promise.all([
      restore(home.shadow, row.directory, index, base),
      commit === undefined ? undefined : keepBorrowed(home.shadow, commit, base),
    ])
    return base
  }
  return put().catch(async () => {
    await forgetTop(home)
    return put()
  })
}

export async function fill(pool: Pool, filling: Filling): Promise<Slot> {
  const { home, row, can_modify_files, above } = filling
  const { options, ordered } = pool
  const root = row.directory
  const index = `${root}.index`
  if (filling.fresh || !(await isAsMade(home, root)))
    await ordered(async () => {
      await unmake(home, root, index)
      await make(home, root)
    })
  const head = headOf(home, above?.root)
  const [base, linked, there] = await Promise.all([
    show(pool, filling, head),
    dependencyFolders(home.top, home.common !== undefined).catch(() => []),
    head,
  ])
  if (there) await sameHead(home, root, there)
  seedConfig(home.top, root, options.version)
  const nested = nestedOf(home)
  const below = nested.length > 0 ? await nestedDependencies(home.top, nested) : []
  const made = linkFolders(home.top, root, [...linked, ...below])
  const kept = { base, linked: made, can_modify_files, notes: [] }
  await remember(root, kept)
  return { ...kept, row, root, index, stamps: fingerprint(home.top, made) }
}
