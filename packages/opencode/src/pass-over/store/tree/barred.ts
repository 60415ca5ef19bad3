import { PassOverErrorCode } from "../../domain/errors"
import type { Barrier, Help } from "../../service/port-tree"

/** Something that stands in the way of a write, in words for the one who asked for it. */
export class Barred extends Error {
  override readonly name = "Barred"

  constructor(
    why: string,
    readonly help?: Help,
  ) {
    super(why)
  }
}

export const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "")

const { RESOURCE_EXHAUSTED, PERMISSION_DENIED } = PassOverErrorCode

const FULL = new Barred("the disk is full", {
  code: RESOURCE_EXHAUSTED,
  suggestion: "Free some space and try again.",
})
const FORBIDDEN = new Barred("the system does not let opencode change it", {
  code: PERMISSION_DENIED,
  suggestion: "Make it writable for yourself and try again, or leave it out.",
})
const MANY = new Barred("too many files are open", {
  code: RESOURCE_EXHAUSTED,
  suggestion: "Try again in a moment; if it stays so, raise the limit of open files (ulimit -n).",
})

// What the system says no with, and what a person can do about it.
const HINDRANCES: Readonly<Record<string, Barred>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EMFILE: MANY,
  ENFILE: MANY,
  EROFS: new Barred("it lies on a drive that can only be read", {
    code: PERMISSION_DENIED,
    suggestion: "Make the drive writable and try again.",
  }),
  EIO: new Barred("the disk could not read or write it", {
    code: RESOURCE_EXHAUSTED,
    suggestion: "Look after the disk, then try again.",
  }),
  ENAMETOOLONG: new Barred("its name is too long for this drive"),
  // Everything on the way was there a moment ago.
  ENOENT: new Barred("its folder has been moved meanwhile"),
}

/** What stands in the way, in words; an error that we know nothing about stays what it is. */
export const worded = (error: unknown): unknown =>
  error instanceof Barred ? error : (HINDRANCES[codeOf(error)] ?? error)

/** What stands in the way is an answer and not an error. */
export function barrier(error: unknown): Barrier {
  const known = worded(error)
  if (!(known instanceof Barred)) throw error
  return { kind: "refused", why: known.message, ...(known.help ? { help: known.help } : {}) }
}
