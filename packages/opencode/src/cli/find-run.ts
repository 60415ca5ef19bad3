import { sep } from "node:path"
import type { Engine } from "../pass-over/service/engine"
import type { FlowRun } from "../pass-over/service/port-flow"
import { Stop, usage } from "./command"
import { EXIT } from "./exit"
import { projectRoot } from "./place"

export const runInProject = (run: FlowRun, directory: string) => {
  const root = projectRoot(directory)
  return run.directory === root || run.directory.startsWith(root + sep)
}

export const shortRun = (id: string) => id.slice(-12)

const none = (said: string) => new Stop(EXIT.not_found, said, "pass-over flow list shows them.", "E042")

export async function newestRun(engine: Engine, directory: string): Promise<FlowRun> {
  const all = await engine.store.runs({ limit: 1_000 })
  const newest = all.find((run) => runInProject(run, directory))
  if (!newest) throw none("No flow has run in this project.")
  return newest
}

/**
 * The run that a whole id, its beginning or its end names. No word means none: an empty variable of a script ends no run.
 * `besides` says what else was looked for under that name.
 */
export async function findRun(engine: Engine, given: string, besides?: string): Promise<FlowRun> {
  if (given.trim() === "") throw usage("The id of a run is empty.", "pass-over flow list shows them.")
  const exact = await engine.store.run(given)
  if (exact) return exact
  const all = await engine.store.runs({ limit: 1_000 })
  const [only, ...others] = all.filter(({ run_id }) => run_id.endsWith(given) || run_id.startsWith(given))
  if (!only) throw none([`No run is known as ${given}.`, besides].filter(Boolean).join(" "))
  if (others.length === 0) return only
  const names = [only, ...others].map(({ run_id }) => shortRun(run_id)).join(", ")
  throw usage(`${given} names several runs: ${names}.`, "Give more of the id.")
}
