import { same, type FileState, type Op } from "./change"
import { merge, type Conflict } from "./merge"
import { readSides, writeText } from "./text"

/** One path of something that was applied, and how it is now. */
export type Undoing = { op: Op; now: FileState | null }

export type Contents = { before: Uint8Array | null; after: Uint8Array | null; now: Uint8Array | null }

export type UndoStep =
  | { ok: true; op: Op | undefined; content?: Uint8Array }
  | { ok: false; why: string; conflicts: Conflict[] }

const no = (why: string, conflicts: Conflict[] = []): UndoStep => ({ ok: false, why, conflicts })

/** What can be told without looking at contents; nothing where they have to be merged. */
export function plainUndo({ op, now }: Undoing): UndoStep | undefined {
  const { path, before, after, rights } = op
  if (same(now, after))
    return { ok: true, op: { path, before: now, after: before, ...(rights === undefined ? {} : { rights }) } }
  if (same(now, before)) return { ok: true, op: undefined }
  if (now === null) return no("it has been deleted since")
  if (after === null) return no("a new file has taken its place since")
  if (before === null) return no("it was new, and has been changed since")
  if ([now, after, before].some((state) => state.mode === "120000"))
    return no("it is a link, and has been changed since")
  return undefined
}

const lineNames = (conflicts: readonly Conflict[]) =>
  conflicts
    .slice(0, 5)
    .map(({ line, lines }) => (lines > 1 ? `${line} to ${line + lines - 1}` : `${line}`))
    .join(", ")

/** Takes back what was done to one file and keeps what others did to it since, where they left the same lines alone. */
export function undoStep(undoing: Undoing, contents: Contents, hash: (bytes: Uint8Array) => string): UndoStep {
  const plain = plainUndo(undoing)
  if (plain) return plain
  const { op, now } = undoing
  if (!now || !op.before || !op.after) return no("it cannot be told what it was")
  // Three modes are three sides too: whoever changed it has the word.
  const mode = now.mode === op.after.mode ? op.before.mode : now.mode
  if (now.hash === op.after.hash) return { ok: true, op: { path: op.path, before: now, after: { ...op.before, mode } } }
  const read = readSides([contents.after, contents.now, contents.before])
  if (!read) return no("it is binary, and has been changed since")
  const [base = "", ours = "", theirs = ""] = read.texts
  const merged = merge(base, ours, theirs)
  if (!merged.ok) return no(`lines ${lineNames(merged.conflicts)} have been changed since`, merged.conflicts)
  const content = writeText(merged.text, read.encoding)
  const after: FileState = { hash: hash(content), mode, bytes: content.length }
  if (same(after, now)) return { ok: true, op: undefined }
  return { ok: true, op: { path: op.path, before: now, after }, content }
}
