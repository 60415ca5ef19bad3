import type { Pass } from "../domain/pass"
import { holdBack, releaseOrDrop } from "./deliver"
import type { Engine, Project } from "./engine"
import { dead, whole, type Alive } from "./recover"

/** Sees to it that a person is asked about one held result, and that their word is carried out. */
async function askOnce(engine: Engine, project: Project, pass: Pass) {
  const [gate] = await engine.store.gates({ pass_over_id: pass.id, kind: "delivery" })
  if (gate && gate.status !== "pending" && gate.time_acted !== null) return releaseOrDrop(engine, project, gate)
  const outcome = gate ? undefined : await engine.store.outcome(pass.id)
  if (outcome) await holdBack(engine, pass, await whole(engine, project, pass, outcome))
}

/**
 * Every held result of a project has its question in the inbox, also where whoever held it back was gone before it was
 * asked: the process that runs a pass asks when it is over, anybody does once that process is gone. It is one question
 * by its key, however many ask.
 */
export async function askHeld(engine: Engine, project: Project, alive: Alive) {
  for (const pass of await engine.store.held(project.directory)) {
    if (engine.running.get(pass.id)) continue
    try {
      if (pass.owner_id === engine.owner_id || (await dead(engine, alive, pass.owner_id)))
        await askOnce(engine, project, pass)
    } catch (error) {
      engine.log("warn", "nobody could be asked about a held result", { pass_over_id: pass.id, error: String(error) })
    }
  }
}
