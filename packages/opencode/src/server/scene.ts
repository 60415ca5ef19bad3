import { isAbsolute } from "node:path"
import { AGENTS } from "../agent/agent"
import type { AgentInfo } from "../pass-over/domain/agent"
import { resolveLimits, type Limits } from "../pass-over/domain/limit"
import { allWritten, type Scene } from "../pass-over/service/preference"
import { filesNow } from "../project-files"
import type { ServerDeps } from "./deps"
import { HttpError } from "./failure"

/** The agents of a project as far as they can be known without its opencode: ours, and whoever took part in a pass. */
async function agents(deps: ServerDeps, directory: string): Promise<AgentInfo[]> {
  const ours = AGENTS.map(({ name, originator, subagent }) => ({ name, mode: modeOf(originator, subagent) }))
  const known = new Set(ours.map((agent) => agent.name))
  const { pairs } = await deps.engine.store.statistics({ directory })
  const [from, to] = [new Set(pairs.map((pair) => pair.from)), new Set(pairs.map((pair) => pair.to))]
  const others = [...from.union(to)].filter((name) => !known.has(name)).toSorted()
  return [...ours, ...others.map((name) => ({ name, mode: modeOf(from.has(name), to.has(name)) }))]
}

function modeOf(originates: boolean, receives: boolean): AgentInfo["mode"] {
  if (originates && receives) return "all"
  return receives ? "subagent" : "primary"
}

/** How much may happen at once in a project. Files that are not in order are left out here; the preferences say so. */
export async function limitsOf({ engine }: Pick<ServerDeps, "engine">, directory: string): Promise<Limits> {
  const { files } = filesNow(directory)
  return resolveLimits((await allWritten(engine, { directory, files })).map(({ preferences }) => preferences.limits))
}

/** What holds in a project: its files as they stand just now. A broken one is said and left out. */
export async function sceneOf(deps: ServerDeps, directory: string): Promise<Scene & { problem: string | null }> {
  if (!isAbsolute(directory)) throw new HttpError("BAD_REQUEST", "directory: the whole path of the project is needed.")
  return { directory, agents: await agents(deps, directory), ...filesNow(directory) }
}
