import type { FileState } from "../domain/change/change"
import type { PassOverErrorCode } from "../domain/errors"

/** What is to be done about something that stands in the way. */
export type Help = { code: PassOverErrorCode; suggestion: string }

/** Why something is not touched; with help where that lies with the machine and not with the file. */
export type Barrier = { kind: "refused"; why: string; help?: Help }

/** What lies at a path: a plain file, nothing, or something that we do not touch. */
export type Found = { kind: "file"; state: FileState } | { kind: "none" } | Barrier

export type Staged = {
  path: string
  before: FileState | null
  after: FileState
  /** The file that it is made of, under its earlier name: who may read that may read this. */
  like?: string | undefined
  /** Who might read what lay there, where it is brought back. */
  rights?: number | undefined
}

/**
 * A user's tree, for as long as something is written into it. Paths are relative and have passed the rules of
 * `domain/change/path.ts`; what the letters of a path cannot tell is refused here.
 */
export type Tree = {
  /** Whether nobody can lead a write elsewhere by swapping folders for links meanwhile. */
  readonly strong: boolean
  /** What is there now, read to its end. */
  look(path: string): Promise<Found>
  /** Who might read a file when it was last there, in bits; nothing where none was seen. */
  rights(path: string): number | undefined
  /** Why a new file cannot be made there; nothing where it can. */
  roomFor(path: string, leaving: ReadonlySet<string>): Promise<Barrier | undefined>
  /** The content of a file, piece by piece. */
  pieces(path: string): AsyncIterable<Uint8Array>
  /** Writes a new content beside its place, durably. The same token and path name the same draft. */
  draft(token: string, staged: Staged, content: AsyncIterable<Uint8Array>): Promise<"drafted" | Barrier>
  /** Comes when every draft is on the disk, or with what keeps them from it. */
  drafted(): Promise<Barrier | undefined>
  /** Puts a draft into its place, unless what is there is not what was expected. */
  place(token: string, staged: Staged): Promise<Found | "placed">
  /** Removes a file, unless it is not the one that was expected. */
  remove(path: string, before: FileState): Promise<Found | "removed">
  /** Drops a draft that was not placed, and the folders that were made for it. */
  discard(token: string, path: string): Promise<void>
  /** Makes all that was placed and removed durable. */
  flush(): Promise<void>
  close(): void
}

export type OpenTree = (directory: string) => Promise<Tree>

export type Hasher = { update(piece: Uint8Array): void; digest(): string }
