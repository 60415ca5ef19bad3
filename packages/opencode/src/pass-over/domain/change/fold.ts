import { same, type FileChange, type FileState } from "./change"
import { merge } from "./merge"
import { readSides, writeText } from "./text"

/** One change of one file, seen around one tool call. */
export type Segment = { path: string; old: FileState | null; new: FileState | null }

export type Folded = { ok: true; segment: Segment; content?: Uint8Array } | { ok: false }

/** Two changes of a file, one after the other, as one; nothing to be read where the second began where the first ended. */
export function chained(first: Segment, second: Segment): Segment | undefined {
  if (same(first.new, second.old)) return { path: first.path, old: first.old, new: second.new }
  // Seen twice, because two calls ran at the same time.
  if (same(first.old, second.old) && same(first.new, second.new)) return first
  return undefined
}

export type Around = { first: Uint8Array | null; before: Uint8Array | null; after: Uint8Array | null }

/**
 * Two changes with somebody else's between them, as if the other had not been: what the child did the second time, on
 * top of what it had left the first time.
 */
export function foldOver(
  first: Segment,
  second: Segment,
  contents: Around,
  hash: (bytes: Uint8Array) => string,
): Folded {
  const read = readSides([contents.before, contents.first, contents.after])
  if (!read || !second.new || !first.new) return { ok: false }
  const [base = "", ours = "", theirs = ""] = read.texts
  const merged = merge(base, ours, theirs)
  if (!merged.ok) return { ok: false }
  const content = writeText(merged.text, read.encoding)
  const after: FileState = { hash: hash(content), mode: second.new.mode, bytes: content.length }
  return { ok: true, segment: { path: first.path, old: first.old, new: after }, content }
}

export const toChange = ({ path, old, new: after }: Segment, binary: boolean): FileChange => ({
  path,
  old_path: null,
  old,
  new: after,
  binary,
  reason: "changed in the project itself",
  confidence: "high",
  refused: null,
})
