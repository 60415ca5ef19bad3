import type { PluginInput } from "@opencode-ai/plugin"
import { dirname, join } from "node:path"
import { alive } from "../identity"
import { keep } from "../pass-over/service/change/blob"
import { changesOf } from "../pass-over/service/change/deps"
import type { Engine } from "../pass-over/service/engine"
import type { Host } from "../pass-over/service/port-host"
import type { Workspaces } from "../pass-over/service/port-workspace"
import { dead } from "../pass-over/service/recover"
import { databasePath } from "../runtime"
import { connect } from "./client"
import { createHost } from "./host"
import { createObserved, type Observed } from "./observed"
import { createWorkspaces } from "./worktree"

// The trees that this process has made, each with what its instance of opencode was heard saying. The instance of a
// tree loads this plugin once more, and both have to hear with the same ear.
const heard = new Map<string, Observed>()
const trees = new Map<string, Home>()

/** A project as the user has it open. */
type Home = Pick<PluginInput, "directory" | "worktree">

/** The project that a directory stands for, where it is, or was, a tree of ours. */
export const homeOf = (directory: string): Home | undefined => trees.get(directory)

/** The ear of a directory, where it is a tree of ours. */
export const observedIn = (directory: string): Observed | undefined => heard.get(directory)

type Input = Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">

/** A host for children that work in another directory. */
export const hostAt =
  (input: Input) =>
  (directory: string): Host => {
    const observed = heard.get(directory) ?? createObserved()
    heard.set(directory, observed)
    trees.set(directory, homeOf(input.directory) ?? input)
    return createHost({ client: connect({ ...input, directory }), directory, observed })
  }

const VERSION = "1.18.33"

/** Trees for the children of a project; none where the project is such a tree itself. */
export function workspacesOf(engine: Engine, input: Input): Workspaces | undefined {
  const deps = changesOf(engine)
  if (!deps || homeOf(input.directory)) return
  const client = connect(input)
  return createWorkspaces({
    store: engine.store,
    log: engine.log,
    owner_id: engine.owner_id,
    now: () => engine.clock.now(),
    folder: join(dirname(databasePath()), "pass-over", "trees"),
    directory: input.directory,
    version: VERSION,
    keep: (contents) => keep(deps, contents),
    gone: (owner_id) => dead(engine, alive, owner_id),
    busy: () => engine.running.all().length > 0,
    boot: async (directory) => void (await hostAt(input)(directory).agents()),
    dispose: async (directory) => {
      if (!heard.delete(directory)) return
      await client.instance.dispose({ directory })
    },
  })
}
