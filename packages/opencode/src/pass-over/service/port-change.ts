import type { ApplyID, ChangeID, ChangeSet, Op } from "../domain/change/change"
import type { Verdict } from "../domain/change/review"
import type { OwnerID, PassID } from "../domain/id"
import type { AuditNote, PassEvent } from "../domain/pass"
import type { PassOverMetadata } from "../domain/output"

export type ApplyKind = "apply" | "undo"

/** `pending` is an intent: it is written before the tree is touched. `undone` was done and has been taken back since. */
export type ApplyStatus = "pending" | "done" | "undone" | "not_applied"

/** A command that was run after something was applied, and how it ended. */
export type Verification = { command: string; exit_code: number | null; output: string; duration_ms: number }

/** Something that is, or was, written into a user's tree. */
export type Application = {
  apply_id: ApplyID
  change_id: ChangeID
  pass_over_id: PassID
  kind: ApplyKind
  undoes: ApplyID | null
  directory: string
  ops: Op[]
  approval: string
  actor: string
  owner_id: OwnerID
  status: ApplyStatus
  problem: string | null
  verification: Verification | null
  time_created: number
  time_done: number | null
}

export type BlobPiece = { hash: string; position: number; content: Uint8Array }

export type SaidVerdict = Verdict & { actor: string; time_created: number }

export type Worktree = {
  directory: string
  project: string
  kind: "git" | "copy"
  owner_id: OwnerID
  pass_over_id: PassID | null
  /** What was changed in it has been read, so that whatever is written there now is lost. */
  collected: boolean
  time_used: number
}

/** A tree of ours, by its root, and the pass that works in it. */
export type TreeOf = { directory: string; pass_over_id: PassID }

/** A change of state with what is told of it. */
export type Told = { note: AuditNote; event: PassEvent }

export type Ended = {
  apply_id: ApplyID
  status: "done" | "not_applied"
  problem: string | null
  at: number
  /** What the outcome of the pass says from now on. */
  metadata?: Pick<PassOverMetadata, "applied" | "applied_at" | "applied_by">
  told?: Told
}

/** What the core keeps of changes. As everywhere in the store, every method is one whole operation. */
export type ChangeStore = {
  // Contents
  hasBlobs(hashes: readonly string[], at: number): Promise<string[]>
  /** Pieces of contents, all of them or none. Pieces that are there already stay as they are. */
  putPieces(pieces: readonly BlobPiece[]): Promise<void>
  /** Declares contents whole once all of their pieces are there. */
  closeBlobs(blobs: readonly { hash: string; bytes: number; pieces: number }[], at: number): Promise<void>
  blob(hash: string): Promise<{ hash: string; bytes: number; pieces: number } | undefined>
  piece(hash: string, position: number): Promise<Uint8Array | undefined>
  /** Drops pieces of a content that was never declared whole. */
  dropPieces(hash: string): Promise<void>
  /** Drops the pieces that a process left which died while it brought them. Only where nobody brings any. */
  sweepBlobs(): Promise<number>
  /** Forgets contents that nothing refers to any more. */
  pruneBlobs(before: number): Promise<number>
  /** How many it would forget, were these passes gone. */
  leftBlobs(of: { before: number; without: readonly PassID[] }): Promise<number>

  // Changes
  saveChange(change: ChangeSet): Promise<void>
  change(change_id: ChangeID): Promise<ChangeSet | undefined>
  /** All changes of a pass, the oldest first. */
  changes(pass_over_id: PassID): Promise<ChangeSet[]>
  review(change_id: ChangeID, verdicts: readonly SaidVerdict[], told: Told): Promise<void>
  verdicts(change_id: ChangeID): Promise<SaidVerdict[]>
  /** Says once more of a change what was said of the one that it was made from; nobody has to be told. */
  repeat(change_id: ChangeID, verdicts: readonly SaidVerdict[]): Promise<void>

  // Applications
  /**
   * Writes an intent down. "busy" says that another one is under way in that tree, "undone" that it was taken back,
   * "closed" that the tree of ours that it is for has been read meanwhile, or is another pass's.
   */
  intend(application: Application, tree?: TreeOf): Promise<"ok" | "busy" | "undone" | "closed">
  /** Writes down what is in the tree already, by the hand of the child itself. */
  recordApplied(application: Application): Promise<void>
  endApply(ended: Ended): Promise<boolean>
  verified(apply_id: ApplyID, verification: Verification): Promise<void>
  application(apply_id: ApplyID): Promise<Application | undefined>
  applications(filter: { pass_over_id?: PassID; directory?: string; limit?: number }): Promise<Application[]>
  /** Intents that their process did not carry through. */
  pending(): Promise<Application[]>
  /** Takes over an intent of a process that is gone; false where somebody else did. */
  takeApply(input: { apply_id: ApplyID; from: OwnerID; owner_id: OwnerID }): Promise<boolean>

  // Isolated trees
  worktrees(project?: string): Promise<Worktree[]>
  /** Changes the row of a tree if it is still as it was seen, or makes a new one; false where somebody was faster. */
  takeWorktree(worktree: Worktree, from: Worktree | null): Promise<boolean>
  dropWorktree(directory: string): Promise<void>
  /** Lets nobody begin to write into a tree any more, for as long as it is this pass's. */
  closeWorktree(tree: TreeOf): Promise<void>
}
