import {
  closeSync,
  constants,
  fchmodSync,
  fsync,
  linkSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs"
import { same, type FileMode, type FileState } from "../../domain/change/change"
import { folded } from "../../domain/change/path"
import type { Found, OpenTree, Staged, Tree } from "../../service/port-tree"
import { answered, openFile, piecesOf, sameStamp, stateOf, type Stamp } from "./file"
import { addName, Barred, codeOf, openFolders, type Folder, type Folders } from "./folder"

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC } = constants

// So much work at a time, and then the others in this process have their turn.
const EVERY = 32
// So many drafts are on their way to the disk at once: it writes them together.
const MOST_SYNCING = 32

const split = (path: string) => {
  const parts = path.split("/")
  return { parts: parts.slice(0, -1), name: parts.at(-1) ?? "" }
}

/** Hidden, and the same at every try: what a crash leaves behind is found again by its name. */
const draftName = (token: string, name: string) =>
  `.pass-over-${token}-${new Bun.CryptoHasher("sha256").update(name).digest("hex").slice(0, 12)}.tmp`

type Seen = Map<string, { stamp: Stamp; mode: number; state: FileState }>

type Open = { folders: Folders; seen: Seen; work: number; syncing: Set<Promise<void>> }

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
    if (codeOf(error) !== "ENOENT") throw error
  }
}

/** What is there now. What did not change since it was read last is not read again. */
function look({ folders, seen }: Open, path: string): Found {
  return answered((): Found => {
    const { parts, name } = split(path)
    const folder = folders.at(parts)
    const opened = folder && openFile(folders.inside(folder, name))
    if (!opened) {
      seen.delete(path)
      return { kind: "none" }
    }
    const known = seen.get(path)
    if (known && sameStamp(known.stamp, opened.stamp)) {
      closeSync(opened.fd)
      return { kind: "file", state: known.state }
    }
    const state = stateOf(opened)
    seen.set(path, { stamp: opened.stamp, mode: opened.mode, state })
    return { kind: "file", state }
  })
}

// Who may read it stays as it is; only the executable bit is the change's.
function permissions(known: number | undefined, mode: FileMode): number {
  if (known === undefined) return (mode === "100755" ? 0o777 : 0o666) & ~process.umask()
  if (mode === "100755") return known | ((known & 0o444) >> 2)
  return known & ~0o111
}

/** Brings an open file to the disk beside others, and closes it. A failure is told to whoever waits for all of them. */
function syncAndClose(open: Open, fd: number) {
  const done = new Promise<void>((resolve, reject) => {
    fsync(fd, (error) => {
      closeSync(fd)
      if (error) return reject(error)
      resolve()
    })
  })
  // Looked at in `drafted`; until then it is nobody's unhandled rejection.
  done.catch(() => {})
  open.syncing.add(done)
}

async function drafted(open: Open) {
  const all = [...open.syncing]
  open.syncing.clear()
  const ended = await Promise.allSettled(all)
  const failed = ended.find((one) => one.status === "rejected")
  if (failed) throw failed.reason
}

type Draft = { path: string; mode: number; content: AsyncIterable<Uint8Array>; after: FileState }

async function writeDraft(open: Open, { path, mode, content, after }: Draft) {
  drop(path)
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_TRUNC, 0o600)
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
  syncAndClose(open, fd)
  if (open.syncing.size >= MOST_SYNCING) await drafted(open)
  if (hasher.digest("hex") === after.hash) return
  drop(path)
  throw new Barred("its stored content is damaged")
}

type Drafting = { token: string; staged: Staged; content: AsyncIterable<Uint8Array> }

async function draft(open: Open, { token, staged, content }: Drafting): Promise<"drafted"> {
  const { parts, name } = split(staged.path)
  const folder = open.folders.at(parts, { make: true })
  if (!folder) throw new Barred("its folder cannot be made")
  const mode = permissions(staged.before === null ? undefined : open.seen.get(staged.path)?.mode, staged.after.mode)
  const path = open.folders.inside(folder, draftName(token, name))
  await writeDraft(open, { path, mode, content, after: staged.after })
  return "drafted"
}

/** A new file never takes the place of one that somebody made in the last moment. */
function appear(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new Barred("somebody has just made a file there")
    // Some file systems have no second names; there the last look has to do.
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "ENOTSUP") throw error
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
    const [from, to] = [open.folders.inside(folder, draftName(token, name)), open.folders.inside(folder, name)]
    if (staged.before === null) appear(from, to)
    if (staged.before !== null) renameSync(from, to)
    if (folder.names) addName(folder.names, name)
    open.folders.touched(folder)
    open.seen.delete(staged.path)
    return "placed" as const
  })
}

/** Folders that a removal left empty go too, as git lets them go. */
function dropEmpty(folders: Folders, parts: readonly string[]) {
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const above: Folder | undefined = folders.at(parts.slice(0, depth - 1))
    if (!above) return
    try {
      rmdirSync(folders.inside(above, parts[depth - 1] ?? ""))
    } catch {
      return
    }
    folders.touched(above)
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
    open.folders.touched(folder)
    open.seen.delete(path)
    return "removed" as const
  })
}

/** Why a new file cannot be made: another name there would be taken for the same, or the way is barred. */
function roomFor({ folders }: Open, path: string, leaving: ReadonlySet<string>): string | undefined {
  const all = path.split("/")
  const found = answered(() => {
    for (const [depth, name] of all.entries()) {
      const folder = folders.at(all.slice(0, depth))
      if (!folder) return undefined
      const twins = folders.names(folder).get(folded(name)) ?? new Set<string>()
      if (twins.has(name)) continue
      const twin = [...twins].find((one) => !leaving.has([...all.slice(0, depth), one].join("/")))
      if (twin !== undefined) return `${JSON.stringify(twin)} is there already and looks the same`
    }
    return undefined
  })
  return typeof found === "object" ? found.why : found
}

/** Opens a tree for writing. `strong: false` is how systems without /proc do it. */
export const openTree =
  (options: { strong?: boolean } = {}): OpenTree =>
  async (directory): Promise<Tree> => {
    const folders = openFolders(directory, options.strong)
    const open: Open = { folders, seen: new Map(), work: 0, syncing: new Set() }
    const emptied = new Set<string>()
    return {
      strong: folders.strong,
      look: async (path) => {
        await breathe(open)
        return look(open, path)
      },
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
          if (error instanceof Barred) return { kind: "refused", why: error.message }
          throw error
        }
      },
      drafted: () => drafted(open),
      place: async (token, staged) => place(open, token, staged),
      remove: async (path, before) => {
        const removed = remove(open, path, before)
        if (removed === "removed") emptied.add(split(path).parts.join("/"))
        return removed
      },
      discard: async (token, path) => {
        const { parts, name } = split(path)
        answered(() => {
          const folder = folders.at(parts)
          if (folder) drop(folders.inside(folder, draftName(token, name)))
        })
      },
      flush: async () => {
        folders.flush()
        for (const parts of emptied) if (parts !== "") dropEmpty(folders, parts.split("/"))
        emptied.clear()
        folders.flush()
      },
      close: () => folders.close(),
    }
  }
