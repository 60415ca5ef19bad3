import { sep } from "node:path"
import type { Engine } from "../pass-over/service/engine"
import type { FlowRun } from "../pass-over/service/port-flow"
import { Stop, usage } from "./command"
import { EXIT } from "./exit"
import { projectRoot } from "./place"

const PAGE = 200

/** The newest runs of a project, however many others have made since. */
export async function runsIn({ store }: Pick<Engine, "store">, directory: string, most = PAGE): Promise<FlowRun[]> {
  const root = projectRoot(directory)
  const here = (run: FlowRun) => run.directory === root || run.directory.startsWith(root + sep)
  const found: FlowRun[] = []
  for (let after: string | undefined; ;) {
    const page = await store.runs({ after, limit: PAGE })
    found.push(...page.filter(here))
    after = page.at(-1)?.run_id
    if (page.length < PAGE || found.length >= most) return found.slice(0, most)
  }
}

export const shortRun = (id: string) => id.slice(-12)

const none = (said: string) => new Stop(EXIT.not_found, said, "pass-over flow list shows them.", "E042")

export async function newestRun(engine: Engine, directory: string): Promise<FlowRun> {
  const [newest] = await runsIn(engine, directory, 1)
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
