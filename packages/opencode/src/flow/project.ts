import { alive, headless } from "../identity"
import { createFlowFiles } from "../pass-over/store/flow-file"
import type { Engine, Project } from "../pass-over/service/engine"
import { createFlows, type Flows } from "../pass-over/service/flow"
import type { Log } from "../pass-over/service/port"
import { call, type Client } from "../session/client"
import { catalogOf } from "./catalog"

// News come in bursts.
const LOOK_MS = 200

/** The flows of a project that this opencode has open. */
export function projectFlows(engine: Engine, project: Project, client: Client, log: Log): Flows {
  const flows = createFlows(engine, project, {
    files: createFlowFiles(project.directory),
    catalog: async () => catalogOf(project.directory),
    short: headless(),
    session: async (title) => (await call("make a session for a flow", client.session.create({ title }))).id,
  })
  const look = { due: false }
  engine.news.on((what) => {
    // What is asked of flows, and those that are left, come from other processes.
    if (what === "place" || look.due || engine.projects.get(project.directory) !== project) return
    look.due = true
    engine.clock.after(LOOK_MS, () => {
      look.due = false
      flows
        .attend(alive)
        .then(() => flows.recover(alive))
        .then(() => flows.bring(alive))
        .catch((error: unknown) => log("warn", "flows could not be looked after", { error: String(error) }))
    })
  })
  return flows
}
