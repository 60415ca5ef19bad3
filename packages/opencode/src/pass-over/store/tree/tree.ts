import {
  closeSync,
  constants,
  fchmodSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { same, type FileMode, type FileState } from "../../domain/change/change"
import { folded } from "../../domain/change/path"
import type { Barrier, Found, OpenTree, Staged, Tree } from "../../service/port-tree"
import { barrier, Barred, codeOf, worded } from "./barred"
import { answered, openFile, piecesOf, stands, stateOf, type Stamp } from "./file"
import { addName, openFolders, type Folder, type FolderOptions, type Folders } from "./folder"

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

// So much work at a time, and then the others in this process have their turn.
const EVERY = 32
// A file that was written within one tick of the file system's clock may be written again and show the same times.
const TICK_MS = 50

const split = (path: string) => {
  const parts = path.split("/")
  return { parts: parts.slice(0, -1), name: parts.at(-1) ?? "" }
}

/** Hidden, and the same at every try: what a crash leaves behind is found again by its name. */
const draftName = (token: string, name: string) =>
  `.pass-over-${token}-${new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, 12)}.tmp`

type Seen = Map<string, { stamp: Stamp; mode: number; state: FileState; settled: boolean }>

/** `was`: who might read a file when it was first seen, for whoever puts it back. */
type Open = { folders: Folders; seen: Seen; was: Map<string, number>; work: number }

async function breathe(open: Open, weight = 1) {
  open.work += weight
  if (open.work < EVERY) return
  open.work = 0
  await new Promise<void>((resolve) => void setImmediate(resolve))
}

const drop = (path: string) => {
  try {
    unlinkSync(path)
  } catch (error) {
    // A drive that can only be read says no before it looks.
    if (lstatSync(path, { throwIfNoEntry: false })) throw error
  }
}

const settled = ({ ctimeNs }: Stamp) => Number(ctimeNs / 1_000_000n) < Date.now() - TICK_MS

/** What is there now. What did not change since it was read last is not read again. */
function look({ folders, seen, was }: Open, path: string): Found {
  return answered((): Found => {
    const { parts, name } = split(path)
    const folder = folders.at(parts)
    const known = seen.get(path)
    const place = folder && folders.inside(folder, name)
    if (place !== undefined && known?.settled && stands(place, known.stamp)) return { kind: "file", state: known.state }
    const opened = place === undefined ? undefined : openFile(place)
    if (!opened) {
      seen.delete(path)
      return { kind: "none" }
    }
    const state = stateOf(opened)
    seen.set(path, { stamp: opened.stamp, mode: opened.mode, state, settled: settled(opened.stamp) })
    if (!was.has(path)) was.set(path, opened.mode)
    return { kind: "file", state }
  })
}

// Who may read it stays as it is; only the executable bit is the change's.
function permissions(known: number | undefined, mode: FileMode): number {
  if (known === undefined) return (mode === "100755" ? 0o777 : 0o666) & ~process.umask()
  if (mode === "100755") return known | ((known & 0o444) >> 2)
  return known & ~0o111
}

type Draft = { parts: readonly string[]; folder: Folder; name: string; mode: number; staged: Staged }

const FRESH = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

/** Makes a file that is not there; what an earlier try left under its name goes first. */
function fresh(path: string): number {
  try {
    return openSync(path, FRESH, 0o600)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
  drop(path)
  return openSync(path, FRESH, 0o600)
}

async function writeDraft(open: Open, draft: Draft, content: AsyncIterable<Uint8Array>) {
  const { folders } = open
  const { parts, folder, name, mode, staged } = draft
  const path = folders.inside(folder, name)
  const fd = fresh(path)
  const hasher = new Bun.CryptoHasher("sha256")
  try {
    for await (const piece of content) {
      hasher.update(piece)
      for (let at = 0; at < piece.length;) at += writeSync(fd, piece, at)
      await breathe(open, Math.ceil(piece.length / 262_144))
    }
    fchmodSync(fd, mode)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  if (hasher.digest("hex") !== staged.after.hash) {
    closeSync(fd)
    drop(path)
    throw new Barred("its stored content is damaged")
  }
  const again = () => {
    const there = folders.at(parts)
    if (!there) throw new Barred("its folder is gone")
    return openSync(folders.inside(there, name), O_RDONLY | O_NOFOLLOW)
  }
  await folders.disk.file(fd, folders.near(folder) ? again : undefined)
}

type Drafting = { token: string; staged: Staged; content: AsyncIterable<Uint8Array> }

async function draft(open: Open, { token, staged, content }: Drafting): Promise<"drafted"> {
  const { parts, name } = split(staged.path)
  const folder = open.folders.at(parts, { make: true })
  if (!folder) throw new Barred("its folder cannot be made")
  const there = staged.before === null ? undefined : open.seen.get(staged.path)?.mode
  const like = staged.like === undefined ? undefined : open.was.get(staged.like)
  const mode = permissions(there ?? like ?? staged.rights ?? open.was.get(staged.path), staged.after.mode)
  await writeDraft(open, { parts, folder, name: draftName(token, name), mode, staged }, content)
  return "drafted"
}

/** A new file never takes the place of one that somebody made in the last moment. */
function appear(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new Barred("somebody has just made a file there")
    // Some file systems have no second names; there the last look has to do.
    if (!["EPERM", "ENOTSUP", "ENOSYS"].includes(codeOf(error))) throw error
    return renameSync(from, to)
  }
  unlinkSync(from)
}

function place(open: Open, token: string, staged: Staged): Found | "placed" {
  const now = look(open, staged.path)
  if (now.kind === "refused") return now
  if (!same(now.kind === "none" ? null : now.state, staged.before)) return now
  return answered(() => {
    const { parts, name } = split(staged.path)
    const folder = open.folders.at(parts)
    if (!folder) throw new Barred("its folder is gone")
    const to = open.folders.inside(folder, name)
    const from = to.slice(0, -name.length) + draftName(token, name)
    if (staged.before === null) appear(from, to)
    if (staged.before !== null) renameSync(from, to)
    if (folder.names) addName(folder.names, name)
    folder.touched = true
    open.seen.delete(staged.path)
    return "placed" as const
  })
}

/** Whether somebody could look into a folder that cannot now, were it made anew. */
const isPrivate = (path: string) => (lstatSync(path).mode & 0o555 & ~process.umask()) !== (0o555 & ~process.umask())

/** Folders that a removal left empty go too, as git lets them go; but not those that came back open to others. */
function dropEmpty(folders: Folders, parts: readonly string[]) {
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const above: Folder | undefined = folders.at(parts.slice(0, depth - 1))
    if (!above) return
    try {
      const path = folders.inside(above, parts[depth - 1] ?? "")
      if (isPrivate(path)) return
      rmdirSync(path)
    } catch {
      return
    }
    above.touched = true
  }
}

function remove(open: Open, path: string, before: FileState): Found | "removed" {
  const now = look(open, path)
  if (now.kind !== "file" || !same(now.state, before)) return now
  return answered(() => {
    const { parts, name } = split(path)
    const folder = open.folders.at(parts)
    if (!folder) throw new Barred("its folder is gone")
    unlinkSync(open.folders.inside(folder, name))
    folder.names?.get(folded(name))?.delete(name)
    folder.touched = true
    open.seen.delete(path)
    return "removed" as const
  })
}

/** Why a new file cannot be made: another name there would be taken for the same, or the way is barred. */
function roomFor({ folders }: Open, path: string, leaving: ReadonlySet<string>): Barrier | undefined {
  const all = path.split("/")
  return answered(() => {
    for (const [depth, name] of all.entries()) {
      const folder = folders.at(all.slice(0, depth))
      if (!folder) return undefined
      const twins = folders.names(folder).get(folded(name)) ?? new Set<string>()
      if (twins.has(name)) continue
      const twin = [...twins].find((one) => !leaving.has([...all.slice(0, depth), one].join("/")))
      if (twin !== undefined) throw new Barred(`${JSON.stringify(twin)} is there already and looks the same`)
    }
    return undefined
  })
}

/**
 * Opens a tree for writing. `strong: false` is how systems without /proc do it; from `many` drafts on they go to the
 * disk together.
 */
export const openTree =
  (options: FolderOptions = {}): OpenTree =>
  async (directory): Promise<Tree> => {
    const folders = openFolders(directory, options)
    const open: Open = { folders, seen: new Map(), was: new Map(), work: 0 }
    const emptied = new Set<string>()
    return {
      strong: folders.strong,
      look: async (path) => {
        await breathe(open)
        return look(open, path)
      },
      rights: (path) => open.seen.get(path)?.mode ?? open.was.get(path),
      roomFor: async (path, leaving) => roomFor(open, path, leaving),
      pieces: async function* (path) {
        const { parts, name } = split(path)
        const folder = folders.at(parts)
        const opened = folder && openFile(folders.inside(folder, name))
        if (opened) yield* piecesOf(opened)
      },
      draft: async (token, staged, content) => {
        await breathe(open)
        try {
          return await draft(open, { token, staged, content })
        } catch (error) {
          return barrier(error)
        }
      },
      drafted: async () => {
        try {
          await folders.disk.settled()
          return
        } catch (error) {
          return barrier(error)
        }
      },
      place: async (token, staged) => place(open, token, staged),
      remove: async (path, before) => {
        const removed = remove(open, path, before)
        if (removed === "removed") emptied.add(split(path).parts.join("/"))
        return removed
      },
      discard: async (token, path) => {
        const { parts, name } = split(path)
        const refused = answered(() => {
          const folder = folders.at(parts)
          if (folder) drop(folders.inside(folder, draftName(token, name)))
          folders.unmake(parts)
          return undefined
        })
        // What only the machine keeps there is not forgotten: whoever ends this later tries again.
        if (refused?.help) throw new Error(refused.why)
      },
      flush: async () => {
        try {
          await folders.flush()
          for (const parts of emptied) if (parts !== "") dropEmpty(folders, parts.split("/"))
          emptied.clear()
          await folders.flush()
        } catch (error) {
          throw worded(error)
        }
      },
      close: () => folders.close(),
    }
  }
