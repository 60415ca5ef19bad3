import { createHash } from "node:crypto"
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { resolve, sep } from "node:path"
import type { FlowFiles } from "../service/port-flow"
import { Barred, codeOf } from "./tree/barred"
import { openFolders, type Folder, type Folders } from "./tree/folder"

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants

/** The folder of ours inside the user's project; git does not see it. */
const OURS = [".opencode", "runs"]

const split = (path: string) => {
  const all = path.split("/")
  if (all.some((part) => part === "" || part === "." || part === ".." || part.includes("\\") || part.includes("\0")))
    throw new Barred("it is not a plain path below the project")
  return { parts: all.slice(0, -1), name: all.at(-1) ?? "" }
}

function put(folders: Folders, folder: Folder, name: string, text: string) {
  const draft = folders.inside(folder, `.${name}.tmp`)
  try {
    unlinkSync(draft)
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error
  }
  const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  // A link of that name is replaced, and what it leads to stays as it is.
  renameSync(draft, folders.inside(folder, name))
}

function ignore(folders: Folders, parts: readonly string[]) {
  if (!OURS.every((part, index) => parts[index] === part)) return
  const folder = folders.at(OURS, { make: true })
  if (folder && !existsSync(folders.inside(folder, ".gitignore"))) put(folders, folder, ".gitignore", "*\n")
}

function using<T>(directory: string, use: (folders: Folders) => T): T {
  const folders = openFolders(directory)
  try {
    return use(folders)
  } finally {
    folders.close()
  }
}

function hashOf(path: string): string | undefined {
  try {
    const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      if (!fstatSync(file).isFile()) return undefined
      return createHash("sha256").update(readFileSync(file)).digest("hex")
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

/** The files of a run inside a project. No link leads a write out of it. */
export function createFlowFiles(directory: string): FlowFiles {
  /** Where a path that somebody names lies; nothing where that is outside. */
  const inside = (path: string) => {
    const full = resolve(directory, path)
    return full === resolve(directory) || full.startsWith(`${resolve(directory)}${sep}`) ? full : undefined
  }
  return {
    write: (path, text) =>
      using(directory, (folders) => {
        const { parts, name } = split(path)
        ignore(folders, parts)
        const folder = folders.at(parts, { make: true })
        if (!folder) throw new Barred("its folder cannot be made")
        put(folders, folder, name, text)
      }),
    remove: (path) =>
      using(directory, (folders) => {
        const { parts, name } = split(path)
        const folder = folders.at(parts)
        if (!folder) return
        try {
          unlinkSync(folders.inside(folder, name))
        } catch (error) {
          if (codeOf(error) !== "ENOENT") throw error
        }
      }),
    exists: (path) => {
      const full = inside(path)
      return full !== undefined && existsSync(full)
    },
    hash: (path) => {
      const full = inside(path)
      return full === undefined ? undefined : hashOf(full)
    },
  }
}
