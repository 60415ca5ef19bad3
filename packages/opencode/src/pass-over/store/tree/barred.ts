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

type Hindrance = { why: string; help?: Help }

const { RESOURCE_EXHAUSTED, PERMISSION_DENIED } = PassOverErrorCode

const FULL: Hindrance = {
  why: "the disk is full",
  help: { code: RESOURCE_EXHAUSTED, suggestion: "Free some space and try again." },
}
const FORBIDDEN: Hindrance = {
  why: "the system does not let opencode change it",
  help: {
    code: PERMISSION_DENIED,
    suggestion: "Make it writable for yourself and try again, or leave it out.",
  },
}
const MANY: Hindrance = {
  why: "too many files are open",
  help: {
    code: RESOURCE_EXHAUSTED,
    suggestion: "Try again in a moment; if it stays so, raise the limit of open files (ulimit -n).",
  },
}

// What the system says no with, and what a person can do about it.
const HINDRANCES = new Map<string, Hindrance>([
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["EACCES", FORBIDDEN],
  ["EPERM", FORBIDDEN],
  ["EMFILE", MANY],
  ["ENFILE", MANY],
  [
    "EROFS",
    {
      why: "it lies on a drive that can only be read",
      help: { code: PERMISSION_DENIED, suggestion: "Make the drive writable and try again." },
    },
  ],
  [
    "EIO",
    {
      why: "the disk could not read or write it",
      help: { code: RESOURCE_EXHAUSTED, suggestion: "Look after the disk, then try again." },
    },
  ],
  ["ENAMETOOLONG", { why: "its name is too long for this drive" }],
  // Everything on the way was there a moment ago.
  ["ENOENT", { why: "its folder has been moved meanwhile" }],
])

/** An error of the system in words; one that we know nothing about stays what it is. */
export function worded(error: unknown): unknown {
  const known = HINDRANCES.get(codeOf(error))
  return known ? new Barred(known.why, known.help) : error
}

/** What stands in the way, as an answer. An error that we know nothing about goes on upwards. */
export function barrier(error: unknown): Barrier {
  const known = worded(error)
  if (!(known instanceof Barred)) throw error
  return { kind: "refused", why: known.message, ...(known.help ? { help: known.help } : {}) }
}
