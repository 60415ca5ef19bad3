import type { FileChange } from "../domain/change/change"
import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"

/**
 * A tree of a child's own. It starts as the tree is that its originator works in, uncommitted and untracked files
 * included: the user's, or that of the pass above it.
 */
export type Workspace = {
  /** Where the child works. */
  directory: string
  /** The same place in the tree that it was made of, which is where its changes are to go. */
  instead_of: string
  /** The same place in the user's own tree, where it was made of another. */
  project?: string
  /** Folders of dependencies that are the user's own, reached through links. */
  linked: readonly string[]
  /** Repositories that lie in the project, as far as they are known: in a tree they are plain files. */
  nested?: readonly string[]
  /** What could not be brought back into it of an earlier pass's work; nothing where it began anew. */
  again?: readonly string[]
  /** What could not be put into it of the work that it stands on; nothing where it stands on the tree above alone. */
  onto?: readonly string[]
}

export type Collected = {
  files: FileChange[]
  notes: string[]
  /** Of a tree that stands on the work of others: what of all this was changed by the one that worked in it. */
  own?: string[]
  /** And all that is different in it, also where that one changed nothing and so there is nothing to propose. */
  there?: FileChange[]
  /** Whether passes below have worked with this tree: then what is in it may be theirs. */
  shared?: boolean
}

/** A tree that a child has worked in before, as another pass would have it. */
export type Standing =
  | "free"
  /** In use by another pass of this process, or of one that is gone and was not read yet. */
  | "taken"
  /** It belongs to another opencode that is there. */
  | "elsewhere"
  /** It is no tree of this project. */
  | "unknown"

export type Retaking = {
  directory: string
  can_modify_files?: boolean
  /** Brings back what was made there earlier, and says in words what could not be. */
  fill(directory: string): Promise<string[]>
}

/** Trees for children of one project. */
export type Workspaces = {
  /** The same trees for children of one that works in a tree itself: theirs start as that one is. */
  inside(directory: string): Workspaces
  /**
   * `can_modify_files` as it holds with all above; without it what the pass's own preference says. `fill` puts the work
   * that it is to stand on into it, and says in words what could not be.
   */
  take(pass: Pass, can_modify_files?: boolean, fill?: Retaking["fill"]): Promise<Workspace>
  standing(tree: { directory: string; earlier: PassID }): Promise<Standing>
  /** The same, and a tree that is free is kept for a pass that goes on in it, until that takes or forgoes it. */
  promise(input: { directory: string; earlier: PassID; pass: PassID }): Promise<Standing>
  forgo(pass: PassID): void
  /** The very tree that was there before, from the user's tree as it is now. It throws where it cannot be had. */
  retake(pass: Pass, from: Retaking): Promise<Workspace>
  /** What a child has changed in its tree, with all contents kept. From then on nobody applies anything to it. */
  collect(workspace: Workspace): Promise<Collected>
  /** Gives a tree back: it is cleaned and kept for the next child, or removed. */
  release(workspace: Workspace): Promise<void>
  /** Leaves a tree of a pass that is over as it is, because it could not be read. `left` has it again at the next start. */
  setAside(workspace: Workspace): Promise<void>
  /** A pass is over, and another may come: when nothing goes on for some seconds, a tree is made ready for it. */
  expect(): void
  /** The tree of a pass whose process is gone, taken over; nothing where it had none, or somebody else has it. */
  left(pass_over_id: PassID): Promise<Workspace | undefined>
  /** A photograph of the user's own tree, and what is different between two of them. */
  snapshot(): Promise<string>
  between(from: string, to: string): Promise<Collected>
  /** Removes the trees of processes that are gone, whatever project they were of, but those that are still to be read. */
  sweep(): Promise<void>
  /** Removes the trees that this project has in this process but those that were not read yet; who works there is stopped. */
  close(): Promise<void>
}
