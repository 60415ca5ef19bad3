import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join, relative } from "node:path"
import type { OwnerID, PassID } from "../pass-over/domain/id"
import type { Log, Store } from "../pass-over/service/port"
import type { Worktree } from "../pass-over/service/port-change"
import type { Workspace } from "../pass-over/service/port-workspace"
import { clean, rebegin } from "./shadow"
import type { Keep } from "./shadow-difference"
import { takeBack } from "./worktree-above"
import { tidy } from "./worktree-admin"
import { fill } from "./worktree-fill"
import { forget, type Kept } from "./worktree-kept"
import { unmake, type Home, type inOrder } from "./worktree-home"
import { unlinkFolders } from "./worktree-seed"

export type WorktreeOptions = {
  store: Store
  log: Log
  owner_id: OwnerID
  now: () => number
  /** Where trees are kept: a folder of ours, outside of every project. */
  folder: string
  directory: string
  /** opencode's version, for the package that it would install. */
  version: string
  keep: Keep
  /** Whether the owner of a tree is gone for good. */
  gone: (owner_id: OwnerID) => Promise<boolean>
  /** Lets go of what opencode holds of a tree in memory. */
  dispose: (directory: string) => Promise<void>
  /** Makes opencode load a tree, which takes it longer than everything that a child then asks of it. */
  boot: (directory: string) => Promise<void>
  /** Whether this process has passes to run. */
  busy: () => boolean
  /** How long nothing has to go on before a tree is made ready. */
  warm_ms?: number
}

export type Slot = Kept & {
  row: Worktree
  root: string
  index: string
  /** Where somebody wrote through a link is not known of a tree that another process filled. */
  stamps: Map<string, string> | undefined
  /** It was left by another process, which may have died in the middle of reading it. */
  left?: boolean
}

// opencode's instances hold some 65 MB each; one that nobody uses for so long is let go.
const IDLE_MS = 60_000
// The only one that is left is kept for longer: whoever passes work on does so again.
const LAST_IDLE_MS = 10 * 60_000
// Nothing to do for so long: then a tree can be made ready for the next pass, and nobody waits for it.
const WARM_MS = 3_000

/** Where trees stand. It is the same for all projects of a process: those of one repository have their trees together. */
export type Standings = {
  /** Trees that are being made ready and are nobody's yet. */
  making: Set<string>
  /** Trees that somebody lets go of just now. */
  dropping: Map<string, Promise<void>>
  /** Trees that are kept for a pass which goes on in them. */
  promised: Map<string, PassID>
  /** Trees whose pass is over and that could not be read. */
  aside: Set<string>
}

const standings = new Map<OwnerID, Standings>()

export function standingsOf(owner_id: OwnerID): Standings {
  const found = standings.get(owner_id) ?? {
    making: new Set(),
    dropping: new Map(),
    promised: new Map(),
    aside: new Set(),
  }
  standings.set(owner_id, found)
  return found
}

/** What the work on the trees of one project shares. */
export type Pool = Standings & {
  options: WorktreeOptions
  slots: Map<string, Slot>
  timers: Map<string, ReturnType<typeof setTimeout>>
  /** Trees that are being filled for somebody. */
  filling: Set<string>
  ordered: ReturnType<typeof inOrder>
  /** Its project has been let go of: what is given back from now on is kept for nobody. */
  closed: boolean
}

/** The row of a tree that is ours now, and whether the tree is still to be made. */
export type Claim = { row: Worktree; fresh: boolean }

/** A tree that stands empty, or the row of a new one. */
export async function claim(pool: Pool, { top, folder, common }: Home, pass_over_id: PassID): Promise<Claim> {
  const { options, making, dropping, promised } = pool
  const { store, owner_id, now } = options
  const rows = await store.worktrees(top)
  const next = (directory: string): Worktree => ({
    directory,
    project: top,
    kind: common ? "git" : "copy",
    owner_id,
    pass_over_id,
    collected: false,
    time_used: now(),
  })
  for (const row of rows) {
    if (row.owner_id !== owner_id || row.pass_over_id !== null || !existsSync(row.directory)) continue
    if ([making, dropping, promised].some((busy) => busy.has(row.directory))) continue
    const wanted = next(row.directory)
    if (await store.takeWorktree(wanted, row)) return { row: wanted, fresh: false }
  }
  return { row: await unused(pool, next, folder), fresh: true }
}

/** Names of this process alone: another one may be removing its own just now. */
async function unused({ options, promised }: Pool, next: (directory: string) => Worktree, folder: string) {
  for (let number = 1; ; number += 1) {
    const wanted = next(join(folder, `tree-${process.pid}-${number}`))
    if (!promised.has(wanted.directory) && (await options.store.takeWorktree(wanted, null))) return wanted
  }
}

/** Lets go of a tree. Until that is over nobody takes it, though its row may be that of an empty one of ours. */
export function leaving({ dropping }: Pool, directory: string, work: () => Promise<void>): Promise<void> {
  const mine = work().finally(() => dropping.delete(directory))
  dropping.set(directory, mine)
  return mine
}

export const drop = (pool: Pool, home: Home, row: Worktree) =>
  leaving(pool, row.directory, () => remove(pool, home, row))

async function remove({ options, ordered }: Pool, home: Home, row: Worktree) {
  // opencode has opened the same part of it that the user has opened of the project.
  const below = relative(home.top, await realpath(options.directory).catch(() => home.top))
  await options.dispose(join(row.directory, below)).catch(() => {})
  await ordered(() => unmake(home, row.directory, `${row.directory}.index`))
  await options.store.dropWorktree(row.directory)
}

/** Cleans a tree for the next child; one that cannot be cleaned, or that nobody needs for a while, goes. */
export async function release(pool: Pool, mine: Home, workspace: Workspace) {
  const { options, slots } = pool
  const { store, now } = options
  const slot = slots.get(workspace.directory)
  if (!slot) return
  slots.delete(workspace.directory)
  takeBack(workspace.directory)
  unlinkFolders(slot.root, [...slot.linked, ".opencode/node_modules"])
  try {
    // What its child has made goes now, also what was photographed: were it still there, the next would propose it.
    await rebegin(mine.shadow, slot.root, slot.index, slot.base)
    await clean(mine.shadow, slot.root, slot.index)
    // A tree that git takes for another one is not used again.
    if (!(await tidy(mine, slot.root, slot.index))) return await drop(pool, mine, slot.row)
    await forget(slot.root)
  } catch {
    return drop(pool, mine, slot.row)
  }
  const idle = { ...slot.row, pass_over_id: null, time_used: now() }
  if (!(await store.takeWorktree(idle, slot.row))) return
  if (pool.closed) return dropIdle(pool, mine, idle)
  retire(pool, mine, idle)
}

/** Lets go of an empty tree when nobody has needed it for a while. */
function retire(pool: Pool, mine: Home, idle: Worktree) {
  const { slots, timers } = pool
  const wait = slots.size + timers.size === 0 ? LAST_IDLE_MS : IDLE_MS
  const timer = setTimeout(() => {
    timers.delete(idle.directory)
    // Who goes on in it takes it within the time that its own start takes.
    if (pool.promised.has(idle.directory)) return retire(pool, mine, idle)
    void dropIdle(pool, mine, idle)
  }, wait)
  timer.unref()
  timers.set(idle.directory, timer)
}

/** Removes an empty tree, unless somebody has taken it. */
async function dropIdle(pool: Pool, mine: Home, idle: Worktree) {
  const { store, now, log } = pool.options
  try {
    if (await store.takeWorktree({ ...idle, time_used: now() }, idle)) await drop(pool, mine, idle)
  } catch (error) {
    log("warn", "an idle tree could not be removed", { error: String(error) })
  }
}

/** Makes trees ready while nothing goes on. */
export function createWarmer(pool: Pool, known: () => Promise<Home>) {
  const { log, warm_ms = WARM_MS } = pool.options
  let timer: ReturnType<typeof setTimeout> | undefined
  let going: Promise<void> = Promise.resolve()
  let over = false
  const begin = () => {
    going = known()
      .then((home) => (over ? undefined : warm(pool, home)))
      .catch((error: unknown) => log("warn", "no tree could be made ready", { error: String(error) }))
  }
  return {
    expect() {
      clearTimeout(timer)
      if (!over) timer = setTimeout(begin, warm_ms)
      timer?.unref()
    },
    /** Nothing is made any more once this has come. */
    async stop() {
      over = true
      clearTimeout(timer)
      await going
    },
  }
}

/** Makes a tree ready for a pass that may come, where there is none. */
async function warm(pool: Pool, mine: Home) {
  const { options, making, slots, timers } = pool
  if (options.busy() || slots.size + timers.size + making.size > 0) return
  const row = await unused(
    pool,
    (directory) => ({
      directory,
      project: mine.top,
      kind: mine.common ? "git" : "copy",
      owner_id: options.owner_id,
      pass_over_id: null,
      collected: false,
      time_used: options.now(),
    }),
    mine.folder,
  )
  making.add(row.directory)
  try {
    const slot = await fill(pool, { home: mine, row, fresh: true, can_modify_files: false })
    await options.boot(join(slot.root, relative(mine.top, await realpath(options.directory))))
    unlinkFolders(slot.root, [...slot.linked, ".opencode/node_modules"])
    await clean(mine.shadow, slot.root, slot.index)
    retire(pool, mine, row)
  } catch (error) {
    options.log("warn", "no tree could be made ready", { error: String(error) })
    await drop(pool, mine, row).catch(() => {})
  } finally {
    making.delete(row.directory)
  }
}
