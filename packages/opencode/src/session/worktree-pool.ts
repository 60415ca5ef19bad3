import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join, relative } from "node:path"
import type { OwnerID, PassID } from "../pass-over/domain/id"
import type { Log, Store } from "../pass-over/service/port"
import type { Worktree } from "../pass-over/service/port-change"
import type { Workspace } from "../pass-over/service/port-workspace"
import { clean, photograph, restore, type Keep } from "./shadow"
import { photographAbove, takeBack, type Above } from "./worktree-above"
import { recall, remember, type Kept } from "./worktree-kept"
import { make, sameHead, unmake, type Home, type inOrder } from "./worktree-home"
import { dependencyFolders, fingerprint, linkFolders, seedConfig, unlinkFolders } from "./worktree-seed"

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
}

// opencode's instances hold some 65 MB each; one that nobody uses for so long is let go.
const IDLE_MS = 60_000
// The only one that is left is kept for longer: whoever passes work on does so again.
const LAST_IDLE_MS = 10 * 60_000
// Nothing to do for so long: then a tree can be made ready for the next pass, and nobody waits for it.
const WARM_MS = 3_000

/** What the work on the trees of one project shares. */
export type Pool = {
  options: WorktreeOptions
  slots: Map<string, Slot>
  timers: Map<string, ReturnType<typeof setTimeout>>
  /** Trees that are being made ready and are nobody's yet. */
  making: Set<string>
  /** Trees that somebody lets go of just now. */
  dropping: Map<string, Promise<void>>
  /** Trees that are kept for a pass which goes on in them. */
  promised: Map<string, PassID>
  ordered: ReturnType<typeof inOrder>
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

type Filling = { home: Home; row: Worktree; fresh: boolean; can_modify_files: boolean; above?: Above | undefined }

export async function fill({ options, ordered }: Pool, filling: Filling): Promise<Slot> {
  const { home, row, fresh, can_modify_files, above } = filling
  const root = row.directory
  const index = `${root}.index`
  const [base, linked] = await Promise.all([
    ordered(async () => {
      if (fresh) await unmake(home, root, index)
      if (fresh) await make(home, root)
      if (above) return photographAbove(home, above, index)
      return photograph(home.shadow, home.top, join(home.folder, `top-${process.pid}.index`))
    }),
    dependencyFolders(home.top, home.common !== undefined).catch(() => []),
  ])
  await restore(home.shadow, root, index, base)
  await sameHead(home, root, above?.root)
  seedConfig(home.top, root, options.version)
  const made = linkFolders(home.top, root, linked)
  const kept = { base, linked: made, can_modify_files, notes: [] }
  await remember(root, kept)
  return { ...kept, row, root, index, stamps: fingerprint(home.top, made) }
}

/** Takes over the tree of a pass whose process is gone. */
export async function inherit(
  { options, slots }: Pool,
  home: Home,
  pass_over_id: PassID,
): Promise<Workspace | undefined> {
  const { store, owner_id, now, gone } = options
  const row = (await store.worktrees(home.top)).find((one) => one.pass_over_id === pass_over_id)
  if (!row || row.owner_id === owner_id || !(await gone(row.owner_id))) return
  const kept = await recall(row.directory)
  // It is read at once, and was its child's: nobody applies anything to it any more.
  const mine = { ...row, owner_id, collected: true, time_used: now() }
  if (!kept || !(await store.takeWorktree(mine, row))) return
  const root = row.directory
  const directory = join(root, relative(home.top, await realpath(options.directory)))
  slots.set(directory, { ...kept, row: mine, root, index: `${root}.index`, stamps: undefined })
  return { directory, instead_of: options.directory, linked: kept.linked }
}

export function drop(pool: Pool, home: Home, row: Worktree): Promise<void> {
  const { dropping } = pool
  const work = remove(pool, home, row).finally(() => dropping.delete(row.directory))
  dropping.set(row.directory, work)
  return work
}

async function remove({ options, ordered }: Pool, home: Home, row: Worktree) {
  // opencode has opened the same part of it that the user has opened of the project.
  const below = relative(home.top, await realpath(options.directory).catch(() => home.top))
  await options.dispose(join(row.directory, below)).catch(() => {})
  await ordered(() => unmake(home, row.directory, `${row.directory}.index`))
  await options.store.dropWorktree(row.directory)
}

/** What processes left that are gone: their trees are nobody's any more. */
export async function sweep({ options }: Pool) {
  const { store, owner_id, now, log } = options
  for (const row of await store.worktrees()) {
    if (row.owner_id === owner_id || !(await options.gone(row.owner_id))) continue
    if (!(await store.takeWorktree({ ...row, owner_id, pass_over_id: null, time_used: now() }, row))) continue
    const home = { top: row.project, common: row.kind === "git" ? row.project : undefined }
    await unmake(home, row.directory, `${row.directory}.index`).catch((error: unknown) =>
      log("warn", "a tree could not be removed", { error: String(error) }),
    )
    await store.dropWorktree(row.directory)
  }
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
    await clean(mine.shadow, slot.root, slot.index)
  } catch {
    return drop(pool, mine, slot.row)
  }
  const idle = { ...slot.row, pass_over_id: null, time_used: now() }
  if (!(await store.takeWorktree(idle, slot.row))) return
  retire(pool, mine, idle)
}

/** Lets go of an empty tree when nobody has needed it for a while. */
function retire(pool: Pool, mine: Home, idle: Worktree) {
  const { slots, timers } = pool
  const { store, now, log } = pool.options
  const wait = slots.size + timers.size === 0 ? LAST_IDLE_MS : IDLE_MS
  const timer = setTimeout(() => {
    timers.delete(idle.directory)
    // Who goes on in it takes it within the time that its own start takes.
    if (pool.promised.has(idle.directory)) return retire(pool, mine, idle)
    void store
      .takeWorktree({ ...idle, time_used: now() }, idle)
      .then((taken) => (taken ? drop(pool, mine, idle) : undefined))
      .catch((error: unknown) => log("warn", "an idle tree could not be removed", { error: String(error) }))
  }, wait)
  timer.unref()
  timers.set(idle.directory, timer)
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
