import type { PluginInput } from "@opencode-ai/plugin"
import { dirname, join } from "node:path"
import { alive } from "../identity"
import { keep } from "../pass-over/service/change/blob"
import { changesOf } from "../pass-over/service/change/deps"
import type { Engine } from "../pass-over/service/engine"
import type { Host } from "../pass-over/service/port-host"
import type { Workspaces } from "../pass-over/service/port-workspace"
import { dead } from "../pass-over/service/recover"
import { databasePath, nursery, turns } from "../runtime"
import { connect } from "./client"
import { createHost } from "./host"
import { enterTree, homeOf, type Home } from "./home"
import { earAt, leaveTree } from "./tree-map"
import { createWorkspaces } from "./worktree"

type Input = Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">

/** A host for children that work in another directory. */
export const hostAt =
  (input: Input) =>
  (directory: string): Host => {
    enterTree(directory, homeOf(input.directory) ?? input)
    return createHost({ client: connect({ ...input, directory }), observed: earAt(directory), turns, nursery })
  }

const VERSION = "1.18.33"

/** Trees for the children of one that works in a tree itself: they are those of the project that it stands for. */
export const workspacesInside = (engine: Engine, home: Home, { directory }: Pick<Input, "directory">) =>
  engine.projects.get(home.directory)?.workspaces?.inside(directory)

/** Trees for the children of a project that the user has open. */
export function workspacesOf(engine: Engine, input: Input): Workspaces | undefined {
  const deps = changesOf(engine)
  if (!deps) return
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
      if (!leaveTree(directory)) return
      await client.instance.dispose({ directory })
    },
  })
}
