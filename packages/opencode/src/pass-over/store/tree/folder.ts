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
} from "node:fs"
import { join } from "node:path"
import { folded } from "../../domain/change/path"

/** Something that stands in the way of a write, in words for the one who asked for it. */
export class Barred extends Error {
  override readonly name = "Barred"
}

export type Names = Map<string, Set<string>>

export type Folder = {
  readonly fd: number
  /** Where it lay when it was opened. */
  readonly path: string
  /** The names in it as a careless file system compares them, each as it is written. */
  names?: Names
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK

// Folders that stay open at once. A process may have some thousand files open, and opencode needs them too.
const MOST_OPEN = 200

export const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "")

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
  /** How the system reaches a name in a folder. */
  inside(folder: Folder, name: string): string
  names(folder: Folder): Names
  touched(folder: Folder): void
  flush(): void
  close(): void
}

type Held = { known: Map<string, Folder>; touched: Set<string>; root: Folder; strong: boolean }

function inside({ strong }: Held, folder: Folder, name: string): string {
  if (strong) {
    // A folder that was carried out of the tree since is still open, but it is not where it was shown to be.
    if (readlinkSync(`/proc/self/fd/${folder.fd}`) !== folder.path)
      throw new Barred("its folder has been moved meanwhile")
    return `/proc/self/fd/${folder.fd}/${name}`
  }
  const [held, there] = [fstatSync(folder.fd), lstatSync(folder.path)]
  if (held.ino !== there.ino || held.dev !== there.dev) throw new Barred("its folder has been moved meanwhile")
  return join(folder.path, name)
}

/** Opens the folder of a name in a folder, and makes it first where that is wanted. */
function step(held: Held, folder: Folder, name: string, make: boolean): Folder | undefined {
  const path = inside(held, folder, name)
  const open = () => ({ fd: openSync(path, FOLDER), path: join(folder.path, name) })
  try {
    return open()
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw barred(path, error)
    if (!make) return
  }
  try {
    mkdirSync(path)
    fsyncSync(folder.fd)
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
  const oldest = [...held.known.keys()].find((key) => !held.touched.has(key))
  const folder = oldest === undefined ? undefined : held.known.get(oldest)
  if (oldest === undefined || !folder) return
  held.known.delete(oldest)
  closeSync(folder.fd)
}

function namesIn(path: string): Names {
  const names: Names = new Map()
  for (const name of readdirSync(path)) addName(names, name)
  return names
}

export const addName = (names: Names, name: string) =>
  void names.set(folded(name), (names.get(folded(name)) ?? new Set()).add(name))

export function openFolders(directory: string, strong = process.platform === "linux"): Folders {
  const path = realpathSync(directory)
  const root: Folder = { fd: openSync(path, FOLDER), path }
  const held: Held = { known: new Map(), touched: new Set(), root, strong }
  return {
    strong,
    at(parts, { make = false } = {}) {
      let folder: Folder = root
      for (const [index, name] of parts.entries()) {
        const key = parts.slice(0, index + 1).join("/")
        const next: Folder | undefined = held.known.get(key) ?? step(held, folder, name, make)
        if (!next) return
        held.known.delete(key)
        held.known.set(key, next)
        folder = next
      }
      if (held.known.size > MOST_OPEN) forget(held)
      return folder
    },
    inside: (folder, name) => inside(held, folder, name),
    names: (folder) => (folder.names ??= namesIn(inside(held, folder, "."))),
    touched(folder) {
      for (const [key, one] of held.known) if (one === folder) held.touched.add(key)
    },
    flush() {
      for (const key of held.touched) {
        const folder = held.known.get(key)
        if (folder) fsyncSync(folder.fd)
      }
      fsyncSync(root.fd)
      held.touched.clear()
    },
    close() {
      for (const folder of held.known.values()) closeSync(folder.fd)
      held.known.clear()
      closeSync(root.fd)
    },
  }
}
