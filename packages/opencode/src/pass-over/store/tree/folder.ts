import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
} from "node:fs"
import { basename, join } from "node:path"
import { folded } from "../../domain/change/path"
import { Barred, codeOf } from "./barred"
import { openDisk, type Again, type Disk } from "./disk"

export type Names = Map<string, Set<string>>

export type Folder = {
  readonly fd: number
  /** Where it lay when it was opened. */
  readonly path: string
  /** The file system that it lies on. */
  readonly dev: number
  /** Whether something in it has been made, moved or removed that the disk does not know yet. */
  touched?: boolean
  /** The names in it as a careless file system compares them, each as it is written. */
  names?: Names
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK

// Folders that stay open at once. A process may have some thousand files open, and opencode needs them too.
const MOST_OPEN = 200

const barred = (path: string, error: unknown): unknown => {
  const code = codeOf(error)
  if (code === "ELOOP") return new Barred("it leads through a symbolic link")
  if (code === "ENOTDIR") return linkOr(path, "a part of it is not a folder")
  return error
}

function linkOr(path: string, why: string): Barred {
  try {
    if (lstatSync(path).isSymbolicLink()) return new Barred("it leads through a symbolic link")
  } catch {
    // It is gone by now; then the other reason is as good.
  }
  return new Barred(why)
}

/**
 * The folders of one tree, opened one part after another from its root. Where the system can name a file below an open
 * folder (`/proc/self/fd`), no folder can be swapped for a link behind our back; elsewhere each is compared again
 * before it is used, which leaves a moment open.
 */
export type Folders = {
  readonly strong: boolean
  /** The folder of a path, or nothing where it does not exist. */
  at(parts: readonly string[], options?: { make?: boolean }): Folder | undefined
  /** Takes away the folders of a path that were made here, as far as nothing is in them. */
  unmake(parts: readonly string[]): void
  /** How the system reaches a name in a folder. */
  inside(folder: Folder, name: string): string
  names(folder: Folder): Names
  readonly disk: Disk
  /** Whether a folder lies on the file system of the tree's root, and not on one that was mounted below it. */
  near(folder: Folder): boolean
  /** Brings what was made, moved and removed in the folders to the disk: once each, however much it was. */
  flush(): Promise<void>
  close(): void
}

type Held = {
  known: Map<string, Folder>
  /** Those that were not there before. */
  made: Set<string>
  /** Touched, and closed since. */
  owed: Set<string>
  root: Folder
  strong: boolean
  disk: Disk
}

const openFolder = (path: string, shown: string): Folder => {
  const fd = openSync(path, FOLDER)
  return { fd, path: shown, dev: fstatSync(fd).dev }
}

function inside({ strong }: Held, folder: Folder, name: string): string {
  if (strong) {
    // A folder that was carried out of the tree since is still open, but it is not where it was shown to be.
    if (readlinkSync(`/proc/self/fd/${folder.fd}`) !== folder.path)
      throw new Barred("its folder has been moved meanwhile")
    return `/proc/self/fd/${folder.fd}/${name}`
  }
  const [held, there] = [fstatSync(folder.fd), lstatSync(folder.path, { throwIfNoEntry: false })]
  if (held.ino !== there?.ino || held.dev !== there.dev) throw new Barred("its folder has been moved meanwhile")
  return join(folder.path, name)
}

/** Opens the folder of a name in a folder, and makes it first where that is wanted. */
function step(held: Held, folder: Folder, key: string, make: boolean): Folder | undefined {
  const name = basename(key)
  const path = inside(held, folder, name)
  const open = () => openFolder(path, join(folder.path, name))
  try {
    return open()
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw barred(path, error)
    if (!make) return
  }
  try {
    mkdirSync(path)
    held.made.add(key)
    folder.touched = true
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw barred(path, error)
  }
  try {
    return open()
  } catch (error) {
    throw barred(path, error)
  }
}

function forget(held: Held) {
  const [oldest] = held.known
  if (!oldest) return
  const [key, folder] = oldest
  held.known.delete(key)
  // Of very many folders each would have to wait for the disk; they go there together, in the end.
  const together = folder.dev === held.root.dev && held.disk.whole()
  try {
    if (folder.touched && together) held.owed.add(key)
    if (folder.touched && !together) fsyncSync(folder.fd)
  } finally {
    closeSync(folder.fd)
  }
}

function namesIn(path: string): Names {
  const names: Names = new Map()
  for (const name of readdirSync(path)) addName(names, name)
  return names
}

export const addName = (names: Names, name: string) =>
  void names.set(folded(name), (names.get(folded(name)) ?? new Set()).add(name))

function at(held: Held, parts: readonly string[], make: boolean): Folder | undefined {
  let folder = held.root
  let key = ""
  for (const name of parts) {
    key = key === "" ? name : `${key}/${name}`
    const next: Folder | undefined = held.known.get(key) ?? step(held, folder, key, make)
    if (!next) return
    held.known.delete(key)
    held.known.set(key, next)
    folder = next
  }
  while (held.known.size > MOST_OPEN) forget(held)
  return folder
}

function unmake(held: Held, parts: readonly string[]) {
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const key = parts.slice(0, depth).join("/")
    const above = held.made.has(key) ? at(held, parts.slice(0, depth - 1), false) : undefined
    if (!above) return
    try {
      rmdirSync(inside(held, above, parts[depth - 1] ?? ""))
    } catch {
      // Something is in it, or it is not there any more.
      return
    }
    held.made.delete(key)
    const gone = held.known.get(key)
    if (gone) closeSync(gone.fd)
    held.known.delete(key)
  }
}

/** A folder that was closed, once more. Where it is gone or barred by now, nothing in it is ours any more. */
const reopen =
  (held: Held, key: string): Again =>
  () => {
    try {
      const folder = at(held, key.split("/"), false)
      return folder && openSync(inside(held, folder, "."), FOLDER)
    } catch (error) {
      if (error instanceof Barred || codeOf(error) === "ENOENT") return
      throw error
    }
  }

async function flush(held: Held) {
  const touched = [held.root, ...held.known.values()].filter((folder) => folder.touched)
  const far = touched.filter((folder) => folder.dev !== held.root.dev)
  const closed = [...held.owed].map((key) => reopen(held, key))
  for (const folder of touched) folder.touched = false
  held.owed.clear()
  for (const folder of far) fsyncSync(folder.fd)
  const near = touched.filter((folder) => !far.includes(folder))
  await held.disk.folders(
    near.map(({ fd }) => fd),
    closed,
  )
}

export type FolderOptions = { strong?: boolean | undefined; many?: number | undefined }

export function openFolders(directory: string, options: FolderOptions = {}): Folders {
  const { strong = process.platform === "linux", many } = options
  const path = realpathSync(directory)
  const root = openFolder(path, path)
  const held: Held = { known: new Map(), made: new Set(), owed: new Set(), root, strong, disk: openDisk(root.fd, many) }
  return {
    strong,
    disk: held.disk,
    at: (parts, { make = false } = {}) => at(held, parts, make),
    unmake: (parts) => unmake(held, parts),
    inside: (folder, name) => inside(held, folder, name),
    names: (folder) => (folder.names ??= namesIn(inside(held, folder, "."))),
    near: (folder) => folder.dev === root.dev,
    flush: () => flush(held),
    close() {
      for (const folder of held.known.values()) closeSync(folder.fd)
      held.known.clear()
      closeSync(root.fd)
    },
  }
}
