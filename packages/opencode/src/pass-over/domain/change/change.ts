import { z } from "zod"
import { PassID } from "../id"
import { Confidence } from "../artifact"
import { Timestamp } from "../time"

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
export type Sha256 = z.infer<typeof Sha256>

/** As git names them: a file, an executable file, a symbolic link. */
export const FileMode = z.enum(["100644", "100755", "120000"])
export type FileMode = z.infer<typeof FileMode>

/** A file at one moment. Its content is the blob of that hash; that of a link is where it points to. */
export const FileState = z.strictObject({ hash: Sha256, mode: FileMode, bytes: z.int().nonnegative() })
export type FileState = z.infer<typeof FileState>

/** One file before and after. `old` is null for a new file, `new` for a deleted one. */
export const FileChange = z.strictObject({
  path: z.string().min(1),
  /** Where a renamed file was before. */
  old_path: z.string().min(1).nullable(),
  old: FileState.nullable(),
  new: FileState.nullable(),
  binary: z.boolean(),
  reason: z.string(),
  confidence: Confidence,
  /** Why it can never be applied, from its path or its kind alone. */
  refused: z.string().nullable(),
})
export type FileChange = z.infer<typeof FileChange>

/**
 * How a change came about. `proposed`: only said, in a return. `isolated`: made in a worktree of the child's own.
 * `direct`: made in the user's tree, so that it is applied already. `merged`: made by us of an earlier one.
 */
export const ChangeOrigin = z.enum(["proposed", "isolated", "direct", "merged"])
export type ChangeOrigin = z.infer<typeof ChangeOrigin>

export const ChangeID = z.custom<`chg_${string}`>(
  (value) => typeof value === "string" && /^chg_[0-9a-f]{32}$/.test(value),
)
export type ChangeID = z.infer<typeof ChangeID>

export const ApplyID = z.custom<`apl_${string}`>(
  (value) => typeof value === "string" && /^apl_[0-9a-f]{32}$/.test(value),
)
export type ApplyID = z.infer<typeof ApplyID>

/** Everything that one pass changed or wants changed. */
export const ChangeSet = z.strictObject({
  change_id: ChangeID,
  pass_over_id: PassID,
  origin: ChangeOrigin,
  /** The directory that the paths are below. */
  directory: z.string().min(1),
  files: z.array(FileChange),
  /** What a reader should know of how it was taken: writes that were discarded, folders that were linked. */
  notes: z.array(z.string()),
  /** The change that this one was merged from. */
  from_change_id: ChangeID.nullable(),
  time_created: Timestamp,
})
export type ChangeSet = z.infer<typeof ChangeSet>

/** What happens to one path. A rename is two of them. */
export type Op = {
  path: string
  before: FileState | null
  after: FileState | null
  /** Where a renamed file comes from: who may read it there may read it here. */
  from?: string
  /** Who might read what was there before, in bits: whoever brings that back lets nobody else read it. */
  rights?: number
}

export const same = (a: FileState | null, b: FileState | null) =>
  a === b || (a !== null && b !== null && a.hash === b.hash && a.mode === b.mode)

/** The operations of a change as it stands, or with another content where only some of its hunks were taken. */
export function operations(change: FileChange, after: FileState | null = change.new): Op[] {
  if (change.old_path === null || change.old_path === change.path) {
    return same(change.old, after) ? [] : [{ path: change.path, before: change.old, after }]
  }
  return [
    { path: change.old_path, before: change.old, after: null },
    { path: change.path, before: null, after, from: change.old_path },
  ]
}

/** Exactly what is shown for approval, as a text to be hashed: every path with what is there and what will be. */
export function approvalText(ops: readonly Op[]): string {
  const side = (state: FileState | null) => (state ? [state.hash, state.mode] : null)
  return JSON.stringify(
    ops
      .map(({ path, before, after }) => [path, side(before), side(after)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  )
}

export type Hash = (text: string) => string

/** What an approval is bound to. Another path, another content or another place than the project is another approval. */
export const approvalOf = (ops: readonly Op[], hash: Hash, tree?: string) =>
  hash(tree === undefined ? approvalText(ops) : `${approvalText(ops)}\n${tree}`)

/** "M src/a.ts", "A new.ts", "D old.ts", "R a.ts -> b.ts". */
export function describeFile({ path, old_path, old, new: after }: FileChange): string {
  if (old === null) return `A ${path}`
  if (after === null) return `D ${path}`
  if (old_path !== null && old_path !== path) return `R ${old_path} -> ${path}`
  return `M ${path}`
}
