import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type BigIntStats } from "node:fs"
import type { FileMode, FileState } from "../../domain/change/change"
import type { Barrier } from "../../service/port-tree"
import { barrier, Barred, codeOf } from "./barred"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
const PIECE = 1024 * 1024

export const gitMode = (mode: number): FileMode => ((mode & 0o111) === 0 ? "100644" : "100755")

/** What tells one moment of a file from another without reading it. */
export type Stamp = Pick<BigIntStats, "ino" | "dev" | "size" | "mtimeNs" | "ctimeNs">

export type Opened = { fd: number; mode: number; stamp: Stamp }

const sameStamp = (a: Stamp, b: Stamp) =>
  a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs

/** Whether what lies there is still the plain file with one name that it was at that moment. */
export function stands(path: string, stamp: Stamp): boolean {
  try {
    const now = lstatSync(path, { bigint: true })
    return now.isFile() && now.nlink === 1n && sameStamp(now, stamp)
  } catch {
    return false
  }
}

function kindOf(path: string): string {
  try {
    const found = lstatSync(path)
    if (found.isSymbolicLink()) return "it is a symbolic link"
    if (found.isDirectory()) return "it is a folder"
  } catch {
    // Gone by now.
  }
  return "it is not a plain file"
}

/** Opens a plain file with one name only. A second name may lie outside, and writing under one changes both. */
export function openFile(path: string): Opened | undefined {
  let fd: number
  try {
    // Not waiting: a pipe would let us wait for ever.
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT") return
    if (code === "ELOOP" || code === "ENXIO" || code === "EISDIR") throw new Barred(kindOf(path))
    if (code === "EACCES" || code === "EPERM") throw new Barred("it may not be read")
    throw error
  }
  const stamp = fstatSync(fd, { bigint: true })
  if (stamp.isFile() && stamp.nlink === 1n) return { fd, mode: Number(stamp.mode & 0o777n), stamp }
  closeSync(fd)
  throw new Barred(stamp.isFile() ? "it has a second name (a hard link)" : kindOf(path))
}

/** The pieces of an open file. It is closed behind them. */
export function* piecesOf({ fd, stamp }: Opened): Generator<Uint8Array> {
  try {
    // Most files are small, and clearing a megabyte for each takes longer than reading it.
    const room = Math.min(PIECE, Number(stamp.size) + 1)
    for (;;) {
      const piece = new Uint8Array(room)
      const count = readSync(fd, piece, 0, room, null)
      if (count === 0) return
      yield piece.subarray(0, count)
    }
  } finally {
    closeSync(fd)
  }
}

/** A file read to its end, and what it was while it was read. */
export function stateOf(opened: Opened): FileState {
  const hasher = new Bun.CryptoHasher("sha256")
  let bytes = 0
  for (const piece of piecesOf(opened)) {
    hasher.update(piece)
    bytes += piece.length
  }
  return { hash: hasher.digest("hex"), mode: gitMode(opened.mode), bytes }
}

/** What stands in the way is an answer and not an error. */
export function answered<T>(look: () => T): T | Barrier {
  try {
    return look()
  } catch (error) {
    return barrier(error)
  }
}
