import { isAbsolute } from "node:path"
import { AGENTS } from "../agent/agent"
import { projectConfig } from "../cli/place"
import type { AgentInfo } from "../pass-over/domain/agent"
import { resolveLimits, type Limits } from "../pass-over/domain/limit"
import { PassOverError } from "../pass-over/domain/errors"
import { allWritten, type Scene } from "../pass-over/service/preference"
import { createConfigFiles } from "../pass-over/store/config-file"
import { globalConfigPath } from "../runtime"
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

const filesOf = (directory: string) =>
  createConfigFiles({ project: () => projectConfig(directory), global: globalConfigPath(), warn: () => {} })

/** How much may happen at once in a project. Files that are not in order are left out here; the preferences say so. */
export async function limitsOf({ engine }: Pick<ServerDeps, "engine">, directory: string): Promise<Limits> {
  const files = (() => {
    try {
      return filesOf(directory).read()
    } catch {
      return []
    }
  })()
  return resolveLimits((await allWritten(engine, { directory, files })).map(({ preferences }) => preferences.limits))
}

/** What holds in a project: its files as they stand just now. A broken one is said and left out. */
export async function sceneOf(deps: ServerDeps, directory: string): Promise<Scene & { problem: string | null }> {
  if (!isAbsolute(directory)) throw new HttpError("BAD_REQUEST", "directory: the whole path of the project is needed.")
  const files = filesOf(directory)
  const scene = { directory, agents: await agents(deps, directory) }
  try {
    return { ...scene, files: files.read(), problem: null }
  } catch (error) {
    if (!(error instanceof PassOverError)) throw error
    return { ...scene, files: [], problem: error.message }
  }
}
