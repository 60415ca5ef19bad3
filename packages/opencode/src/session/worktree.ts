import { existsSync } from "node:fs"
import { realpath, rm } from "node:fs/promises"
import { join, relative } from "node:path"
import type { FileChange } from "../pass-over/domain/change/change"
import type { OwnerID, PassID } from "../pass-over/domain/id"
import type { Pass } from "../pass-over/domain/pass"
import type { Effective } from "../pass-over/domain/preference"
import type { Log, Store } from "../pass-over/service/port"
import type { Worktree } from "../pass-over/service/port-change"
import type { Workspace, Workspaces } from "../pass-over/service/port-workspace"
import { LINKED } from "../pass-over/service/change/take"
import { recall, remember, type Kept } from "./worktree-kept"
import { inOrder, make, openHome, sameHead, unmake, type Home } from "./worktree-home"
import { clean, difference, photograph, restore, type Difference, type Keep } from "./shadow"
import { dependencyFolders, fingerprint, linkFolders, seedConfig, unlinkFolders, written } from "./worktree-seed"

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
}

/** Paths as the project has them, where opencode was opened below the top of its repository. */
function localised(found: Difference, top: string, directory: string): Difference {
  const below = relative(top, directory)
  if (below === "") return found
  const local = (path: string) => relative(below, path)
  const files = found.files.map((file): FileChange => {
    const [path, old_path] = [local(file.path), file.old_path === null ? null : local(file.old_path)]
    const outside = [path, old_path].some((one) => one?.startsWith(".."))
    return {
      ...file,
      path,
      old_path,
      refused: outside ? "it lies outside of the directory that was opened" : file.refused,
    }
  })
  return { ...found, files }
}

type Slot = Kept & {
  row: Worktree
  root: string
  index: string
  /** Where somebody wrote through a link is not known of a tree that another process filled. */
  stamps: Map<string, string> | undefined
}

// opencode's instances hold some 65 MB each; one that nobody uses for so long is let go.
const IDLE_MS = 60_000

/** What the work on the trees of one project shares. */
type Pool = {
  options: WorktreeOptions
  slots: Map<string, Slot>
  timers: Map<string, ReturnType<typeof setTimeout>>
  ordered: ReturnType<typeof inOrder>
}

/** A tree that stands empty, or the row of a new one. */
async function claim(
  { options }: Pool,
  { top, folder, common }: Home,
  pass: Pass,
): Promise<{ row: Worktree; fresh: boolean }> {
  const { store, owner_id, now } = options
  const rows = await store.worktrees(top)
  const next = (directory: string): Worktree => ({
    directory,
    project: top,
    kind: common ? "git" : "copy",
    owner_id,
    pass_over_id: pass.id,
    time_used: now(),
  })
  for (const row of rows) {
    if (row.owner_id !== owner_id || row.pass_over_id !== null || !existsSync(row.directory)) continue
    const wanted = next(row.directory)
    if (await store.takeWorktree(wanted, row)) return { row: wanted, fresh: false }
  }
  // Names of this process alone: another one may be removing its own just now.
  for (let number = 1; ; number += 1) {
    const wanted = next(join(folder, `tree-${process.pid}-${number}`))
    if (await store.takeWorktree(wanted, null)) return { row: wanted, fresh: true }
  }
}

type Filling = { home: Home; row: Worktree; fresh: boolean; pass: Pass }

async function fill({ options, ordered }: Pool, { home, row, fresh, pass }: Filling): Promise<Slot> {
  const root = row.directory
  const index = `${root}.index`
  const [base, linked] = await Promise.all([
    ordered(async () => {
      if (fresh) await unmake(home, root, index)
      if (fresh) await make(home, root)
      return photograph(home.shadow, home.top, join(home.folder, `top-${process.pid}.index`))
    }),
    dependencyFolders(home.top, home.common !== undefined).catch(() => []),
  ])
  await restore(home.shadow, root, index, base)
  await sameHead(home, root)
  seedConfig(home.top, root, options.version)
  const made = linkFolders(home.top, root, linked)
  const { can_modify_files } = pass.preference.values as Partial<Effective>
  const kept = { base, linked: made, can_modify_files: can_modify_files !== false }
  await remember(root, kept)
  return { ...kept, row, root, index, stamps: fingerprint(home.top, made) }
}

/** Takes over the tree of a pass whose process is gone. */
async function inherit({ options, slots }: Pool, home: Home, pass_over_id: PassID): Promise<Workspace | undefined> {
  const { store, owner_id, now, gone } = options
  const row = (await store.worktrees(home.top)).find((one) => one.pass_over_id === pass_over_id)
  if (!row || row.owner_id === owner_id || !(await gone(row.owner_id))) return
  const kept = await recall(row.directory)
  const mine = { ...row, owner_id, time_used: now() }
  if (!kept || !(await store.takeWorktree(mine, row))) return
  const root = row.directory
  const directory = join(root, relative(home.top, await realpath(options.directory)))
  slots.set(directory, { ...kept, row: mine, root, index: `${root}.index`, stamps: undefined })
  return { directory, instead_of: options.directory, linked: kept.linked }
}

async function drop({ options, ordered }: Pool, home: Home, row: Worktree) {
  await options.dispose(row.directory).catch(() => {})
  await ordered(() => unmake(home, row.directory, `${row.directory}.index`))
  await options.store.dropWorktree(row.directory)
}

/** What processes left that are gone: their trees are nobody's any more. */
async function sweep({ options }: Pool) {
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
async function release(pool: Pool, mine: Home, workspace: Workspace) {
  const { options, slots, timers } = pool
  const { store, now, log } = options
  const slot = slots.get(workspace.directory)
  if (!slot) return
  slots.delete(workspace.directory)
  unlinkFolders(slot.root, [...slot.linked, ".opencode/node_modules"])
  try {
    await clean(mine.shadow, slot.root, slot.index)
  } catch {
    return drop(pool, mine, slot.row)
  }
  const idle = { ...slot.row, pass_over_id: null, time_used: now() }
  if (!(await store.takeWorktree(idle, slot.row))) return
  const timer = setTimeout(() => {
    void store
      .takeWorktree({ ...idle, time_used: now() }, idle)
      .then((taken) => (taken ? drop(pool, mine, idle) : undefined))
      .catch((error: unknown) => log("warn", "an idle tree could not be removed", { error: String(error) }))
  }, IDLE_MS)
  timer.unref()
  timers.set(slot.root, timer)
}

/** Trees of their own for the children of one project: taken from a pool, cleaned between passes, gone in the end. */
export function createWorkspaces(options: WorktreeOptions): Workspaces {
  const { store, owner_id } = options
  const pool: Pool = { options, slots: new Map(), timers: new Map(), ordered: inOrder() }
  const { slots, timers, ordered } = pool
  let home: Promise<Home> | undefined
  const known = () => (home ??= openHome(options))

  return {
    async take(pass) {
      const mine = await known()
      const { row, fresh } = await claim(pool, mine, pass)
      clearTimeout(timers.get(row.directory))
      try {
        const slot = await fill(pool, { home: mine, row, fresh, pass })
        const below = relative(mine.top, await realpath(options.directory))
        const workspace: Workspace = {
          directory: join(slot.root, below),
          instead_of: options.directory,
          linked: slot.linked,
        }
        slots.set(workspace.directory, slot)
        return workspace
      } catch (error) {
        await drop(pool, mine, row).catch(() => {})
        throw error
      }
    },

    left: async (pass_over_id) => inherit(pool, await known(), pass_over_id),

    sweep: () => sweep(pool),

    async snapshot() {
      const mine = await known()
      return ordered(() => photograph(mine.shadow, mine.top, join(mine.folder, `top-${process.pid}.index`)))
    },

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
      const found = await collect(mine, slots.get(workspace.directory), options.keep)
      return localised(found, mine.top, await realpath(options.directory))
    },

    release: async (workspace) => release(pool, await known(), workspace),

    async close() {
      if (!home) return
      const mine = await home
      for (const timer of timers.values()) clearTimeout(timer)
      for (const row of await store.worktrees(mine.top)) if (row.owner_id === owner_id) await drop(pool, mine, row)
      await rm(join(mine.folder, `top-${process.pid}.index`), { force: true })
    },
  }
}

// What opencode puts there by itself.
const INSTALLED = ["package.json", "package-lock.json", "bun.lock", ".gitignore", "node_modules"]
const OPENCODE = "opencode's own files in .opencode were changed; that is never part of a change"

async function collect(home: Home, slot: Slot | undefined, keep: Keep) {
  if (!slot) return { files: [], notes: ["its tree is gone"] }
  const now = await photograph(home.shadow, slot.root, slot.index)
  const found = await difference(home.shadow, {
    from: slot.base,
    to: now,
    keep,
    reason: "changed in its own tree",
    skip: (path) => {
      const parts = path.split("/")
      if (parts.includes(".opencode")) return INSTALLED.includes(parts.at(-1) ?? "") ? "" : OPENCODE
      return slot.linked.includes(path) ? "" : undefined
    },
  })
  const notes = [...found.notes]
  const through = slot.stamps ? written(slot.stamps, fingerprint(home.top, slot.linked)) : []
  if (slot.linked.length > 0) notes.push(`${LINKED}: ${slot.linked.join(", ")}`)
  if (through.length > 0) {
    const names = through.slice(0, 5).map((path) => relative(home.top, path))
    notes.push(
      `written through a link into the project itself: ${names.join(", ")}${through.length > 5 ? " and more" : ""}`,
    )
  }
  if (slot.can_modify_files || found.files.length === 0) return { files: found.files, notes }
  const names = found.files.slice(0, 10).map(({ path }) => path)
  notes.push(`it may not change files; discarded: ${names.join(", ")}${found.files.length > 10 ? " and more" : ""}`)
  return { files: [], notes }
}
