import type { ChangeSet } from "../../domain/change/change"
import type { Pass } from "../../domain/pass"
import type { Taken } from "../conclude"
import type { Engine, Project } from "../engine"
import { attributed } from "./attribute"
import { changesOf, type ChangeDeps } from "./deps"
import { isUnread, READ_LATER, tellUnread } from "./unread"
import { exactly, summaryOf, takeChanges, type Observed } from "./take"

/** What was taken before its process ended, as it was taken. */
async function again(deps: ChangeDeps, changes: readonly ChangeSet[]): Promise<Taken> {
  const seen = changes.filter(({ origin }) => origin !== "proposed").flatMap(({ files }) => files)
  const last = changes.at(-1)
  return {
    change: last && summaryOf(last),
    artifacts: seen.length > 0 ? await exactly(deps, seen) : undefined,
    changed: seen.map(({ path }) => path),
    directory: undefined,
  }
}

/** A child's own words for its files begin with the directory that it worked in, whoever had it work there. */
async function placeOf({ host }: Project, { child_session_id }: Pass): Promise<string | undefined> {
  if (child_session_id === null) return
  return host.directoryOf(child_session_id).catch(() => undefined)
}

/** Takes what a pass changed and wants changed whose process ended before it did; nothing is taken twice. */
export async function takeLeft(engine: Engine, project: Project, pass: Pass): Promise<Taken | undefined> {
  const taken = await take(engine, project, pass)
  return taken && { ...taken, directory: taken.directory ?? (await placeOf(project, pass)) }
}

async function take(engine: Engine, project: Project, pass: Pass): Promise<Taken | undefined> {
  const deps = changesOf(engine)
  if (!deps) return
  const { workspaces } = project
  const known = await engine.store.changes(pass.id)
  const read = known.filter((change) => !isUnread(change))
  if (read.length > 0) return again(deps, read)
  const report = await engine.store.staged(pass.id)
  const workspace = await workspaces?.left(pass.id)
  if (!workspace || !workspaces) {
    return known.length > 0 ? again(deps, known) : takeChanges(deps, pass, { report, observed: undefined })
  }
  const collecting = async () => {
    const { files, shared: _known, ...found } = await workspaces.collect(workspace)
    const { directory, instead_of } = workspace
    const named = await attributed(engine.store, pass, { directory, files })
    const notes = known.length > 0 ? [READ_LATER, ...found.notes] : found.notes
    const observed: Observed = { origin: "isolated", files: named, ...found, notes, directory, target: instead_of }
    return takeChanges(deps, pass, { report, observed })
  }
  try {
    const taken = await collecting()
    await workspaces.release(workspace).catch(failed(engine, pass, "a tree could not be given back"))
    return taken
  } catch (error) {
    failed(engine, pass, "what it changed could not be taken")(error)
    await workspaces.setAside(workspace)
    return tellUnread(deps, pass, { workspace, error })
  }
}

const failed =
  ({ log }: Engine, { id }: Pass, what: string) =>
  (error: unknown) =>
    log("warn", what, { pass_over_id: id, error: String(error) })

/** Reads what could not be read at an earlier start. It never throws. */
export async function readAside(engine: Engine, project: Project) {
  for (const { pass_over_id } of project.workspaces ? await engine.store.worktrees() : []) {
    const pass = pass_over_id === null ? undefined : await engine.store.find(pass_over_id)
    if (pass?.directory !== project.directory) continue
    if (!isUnread((await engine.store.changes(pass.id)).at(-1))) continue
    await takeLeft(engine, project, pass).catch(failed(engine, pass, "what it changed could still not be taken"))
  }
}
