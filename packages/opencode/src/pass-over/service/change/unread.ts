import type { ChangeSet } from "../../domain/change/change"
import type { Pass } from "../../domain/pass"
import type { Taken } from "../conclude"
import type { Workspace } from "../port-workspace"
import type { ChangeDeps } from "./deps"
import { save, summaryOf } from "./take"

const UNREAD = "what it changed in its tree could not be read"

/** Whether a change only says that there is something which was not read yet. */
export const isUnread = (change: ChangeSet | undefined): boolean =>
  change !== undefined && change.files.length === 0 && change.notes.some((note) => note.startsWith(UNREAD))

/** How a change begins that was read after all. */
export const READ_LATER = "it could not be read when the pass ended, and was read at a later start of opencode"

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

type Unread = { workspace: Pick<Workspace, "directory" | "instead_of">; error: unknown }

/** Tells, once, that the changes of a pass could not be read: an outcome must not look as if there were none. */
export async function tellUnread(deps: ChangeDeps, pass: Pass, { workspace, error }: Unread): Promise<Taken> {
  const { directory, instead_of } = workspace
  const note = `${UNREAD} (${why(error)}). Nothing of it is lost: it is kept in ${directory}. Remove what stood in the way and start opencode again, which reads it then; or copy what you need from there.`
  const known = (await deps.store.changes(pass.id)).findLast(isUnread)
  const change =
    known ?? (await save(deps, pass, { directory: instead_of, origin: "isolated", files: [], notes: [note] }))
  return { change: summaryOf(change), artifacts: undefined, changed: [], directory }
}
