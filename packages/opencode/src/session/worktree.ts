import { realpath } from "node:fs/promises"
import { join, relative } from "node:path"
import type { Pass } from "../pass-over/domain/pass"
import { valuesOf } from "../pass-over/domain/policy"
import type { Retaking, Workspace, Workspaces } from "../pass-over/service/port-workspace"
import { treeOf } from "../pass-over/service/change/target"
import { closeTree, isLent, lend, type Above } from "./worktree-above"
import { forgo, promise, reclaim, rootOf, standing } from "./worktree-again"
import { recall, remember } from "./worktree-kept"
import { inOrder, openHome, type Home } from "./worktree-home"
import { photograph } from "./shadow"
import { difference } from "./shadow-difference"
import { keepBorrowed } from "./shadow-own"
import { collect, collectedAt, localised } from "./worktree-collect"
import {
  claim,
  createWarmer,
  drop,
  release,
  standingsOf,
  type Claim,
  type Pool,
  type Slot,
  type WorktreeOptions,
} from "./worktree-pool"
import { fill } from "./worktree-fill"
import { dropAll, inherit, setAside, sweep } from "./worktree-left"
import { enter, leave, nestedOf, photographTop } from "./worktree-top"

type Opening = Claim & {
  pass: Pass
  from?: Retaking
  fill?: Retaking["fill"] | undefined
  may?: boolean | undefined
  above?: Above | undefined
}

/** Puts the work that its child stands on into a tree, and remembers how it is then: what comes after is the child's. */
async function grounded(home: Home, slot: Slot, notes: string[]): Promise<Slot> {
  const onto = await photograph(home.shadow, slot.root, slot.index)
  await keepBorrowed(home.shadow, slot.base, onto)
  return { ...slot, notes, onto }
}

/** Fills a tree from the one that it is made of as that is now, for a pass that has its row. */
async function open(pool: Pool, home: Home, opening: Opening): Promise<Workspace> {
  const { row, fresh, pass, from, above } = opening
  const { options, slots, timers, filling } = pool
  const { can_modify_files } = valuesOf(pass)
  const may = opening.may ?? can_modify_files
  clearTimeout(timers.get(row.directory))
  timers.delete(row.directory)
  filling.add(row.directory)
  try {
    const empty = await fill(pool, { home, row, fresh, can_modify_files: may, above })
    const below = relative(home.top, await realpath(options.directory))
    const directory = join(empty.root, below)
    const again = await from?.fill(directory)
    const onto = await opening.fill?.(directory)
    const slot = onto ? await grounded(home, empty, onto) : again ? { ...empty, notes: again } : empty
    if (slot !== empty) await remember(slot.root, slot)
    // Loading it is opencode's work, and none of the time that its child was given.
    if (fresh) await options.boot(directory)
    slots.set(directory, slot)
    const place = above
      ? { instead_of: above.directory, project: options.directory }
      : { instead_of: options.directory }
    const nested = nestedOf(home, below)
    return {
      directory,
      ...place,
      linked: slot.linked,
      ...(nested.length > 0 ? { nested } : {}),
      ...(again ? { again } : {}),
      ...(onto ? { onto } : {}),
    }
  } catch (error) {
    await drop(pool, home, row).catch(() => {})
    throw error
  } finally {
    filling.delete(row.directory)
  }
}

/** The trees of one project, and the place that those of them are made of which somebody takes here. */
type Trees = {
  pool: Pool
  known: () => Promise<Home>
  /** Whether anybody has asked for it yet. */
  opened: () => boolean
  warmer: ReturnType<typeof createWarmer>
  /** The directory of another tree, where they are not made of the user's own. */
  of: string | undefined
}

/** The tree that a pass's own is made of. One that is not its originator's any more is not: then it is the project. */
async function aboveOf({ pool, of }: Trees, home: Home, pass: Pass): Promise<Above | undefined> {
  if (of === undefined || !(await treeOf(pool.options.store, pass, of))) return
  const root = await rootOf(pool, home, of)
  const kept = root === undefined ? undefined : await recall(root)
  return root === undefined || !kept ? undefined : { root, directory: of, kept }
}

type Taking = Pick<Workspaces, "take" | "retake" | "snapshot">

/** What is taken of a tree, or of the user's own. */
function createTaking(trees: Trees): Taking {
  const { pool, known, of } = trees
  return {
    async take(pass, may, fill) {
      const mine = await known()
      const above = await aboveOf(trees, mine, pass)
      return open(pool, mine, { ...(await claim(pool, mine, pass.id)), pass, may, above, fill })
    },

    async retake(pass, from) {
      const mine = await known()
      try {
        const above = await aboveOf(trees, mine, pass)
        const claimed = await reclaim(pool, mine, pass.id, from.directory)
        return await open(pool, mine, { ...claimed, pass, from, may: from.can_modify_files, above })
      } finally {
        forgo(pool, pass.id)
      }
    },

    async snapshot() {
      const mine = await known()
      const root = of === undefined ? undefined : await rootOf(pool, mine, of)
      if (root !== undefined) return photograph(mine.shadow, root, `${root}.index`)
      return pool.ordered(() => photographTop(mine))
    },
  }
}

function createTrees(trees: Trees): Workspaces {
  const { pool, known, warmer } = trees
  const { options, slots } = pool
  const { store } = options
  return {
    ...createTaking(trees),

    inside(directory) {
      lend(directory)
      return createTrees({ ...trees, of: directory })
    },

    standing: async (tree) => standing(pool, await known(), tree),

    promise: async (input) => promise(pool, await known(), input),

    forgo: (pass) => forgo(pool, pass),

    left: async (pass_over_id) => inherit(pool, await known(), pass_over_id),

    sweep: () => sweep(pool),

    async between(from, to) {
      const mine = await known()
      const skip = (path: string) => (path.split("/").includes(".opencode") ? "" : undefined)
      const found = await difference(mine.shadow, {
        from,
        to,
        keep: options.keep,
        reason: "changed in the project itself",
        skip,
      })
      return localised(found, mine.top, await realpath(options.directory))
    },

    async collect(workspace) {
      const mine = await known()
      const slot = slots.get(workspace.directory)
      const shared = isLent(workspace.directory)
      if (slot && shared) await closeTree(store, slot)
      const found = await collect(mine, slot, options.keep)
      return { ...collectedAt(found, mine.top, await realpath(options.directory)), shared }
    },

    release: async (workspace) => release(pool, await known(), workspace),

    setAside: (workspace) => setAside(pool, workspace),

    expect: () => warmer.expect(),

    async close() {
      pool.closed = true
      await warmer.stop()
      if (!trees.opened()) return
      const mine = await known()
      await dropAll(pool, mine)
      await leave(mine, pool)
    },
  }
}

/** Trees of their own for the children of one project: taken from a pool, cleaned between passes, gone in the end. */
export function createWorkspaces(options: WorktreeOptions): Workspaces {
  const pool: Pool = {
    options,
    ...standingsOf(options.owner_id),
    slots: new Map(),
    timers: new Map(),
    filling: new Set(),
    ordered: inOrder(),
    closed: false,
  }
  let home: Promise<Home> | undefined
  const known = () => (home ??= opening())
  async function opening() {
    try {
      const mine = await openHome(options)
      enter(mine, pool)
      return mine
    } catch (error) {
      // What stood in its way may be gone the next time.
      home = undefined
      throw error
    }
  }
  const opened = () => home !== undefined
  return createTrees({ pool, known, opened, warmer: createWarmer(pool, known), of: undefined })
}
