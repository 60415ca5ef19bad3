import type { ChangeSet } from "../../domain/change/change"
import type { Pass } from "../../domain/pass"
import type { Taken } from "../conclude"
import type { Engine, Project } from "../engine"
import { attributed } from "./attribute"
import { changesOf, type ChangeDeps } from "./deps"
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
  if (known.length > 0) return again(deps, known)
  const report = await engine.store.staged(pass.id)
  const workspace = await workspaces?.left(pass.id)
  if (!workspace || !workspaces) return takeChanges(deps, pass, { report, observed: undefined })
  try {
    const { files, shared: _known, ...found } = await workspaces.collect(workspace)
    const { directory, instead_of } = workspace
    const named = await attributed(engine.store, pass, { directory, files })
    const observed: Observed = { origin: "isolated", files: named, ...found, directory, target: instead_of }
    return await takeChanges(deps, pass, { report, observed })
  } finally {
    await workspaces.release(workspace)
  }
}
