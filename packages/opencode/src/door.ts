import type { ToolContext, ToolDefinition, ToolResult } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { readFileSync } from "node:fs"
import { ORIGINATORS, type Mode } from "./agent/agent"
import { redirectMentions } from "./agent/mention"
import { agentsIn, register, type HostConfig } from "./agent/register"
import { headless } from "./identity"
import { somethingLeft } from "./left"
import { readOption } from "./option"
import { PassOverErrorCode, refuse } from "./pass-over/domain/errors"
import { projectFile } from "./pass-over/store/config-place"
import { databasePath, globalConfigPath } from "./paths"
import type { Core } from "./core-port"
import type { CoreInput } from "./plugin"
import { homeOf } from "./session/home"
import { STANDBY } from "./standby/name"
import { refusalText } from "./tool/refusal-text"
import { TOOLS, type ShownTool } from "./tool/shown.gen"

// By then an `opencode run` has its first answer; before a terminal or a server somebody still sits down.
const CALM_MS = { headless: 5_000, attended: 1_000 }

/** Whoever is in this process once is soon asked for again: the instances of trees come with passes that run. */
const process_ = { loaded: false, serving: false }

/** What names an agent as one that passes work on: the source of a pair. */
function sourcesIn(path: string): string[] {
  try {
    return [...readFileSync(path, "utf8").matchAll(/"([^"\n]*)->/g)].map(([, from = ""]) => from)
  } catch {
    return []
  }
}

/** Fire and forget; what goes wrong is told when somebody needs it. */
const quietly = (work: Promise<unknown>) => void work.catch(() => {})

// What could not be loaded may be there later: an update that was half written, a disk that was full.
const AGAIN_MS = 60_000

/** Where the rest of us comes from. */
type Bring = () => Promise<{ createPlugin: (input: CoreInput) => Core | Promise<Core> }>

// Of the few seconds until the rest of us is there.
const MOST_EARLY = 2_000

// Much more often than the server would end by itself.
const SERVE_MS = 5 * 60_000

type Serve = () => Promise<boolean>

/** Keeps the user's server up from the moment that opencode has time for it, for as long as opencode is there. */
function createServing(calm_ms: number, serve: Serve, failed: () => void) {
  const state: { timer?: Timer; told?: boolean } = {}
  const look = async () => {
    if ((await serve().catch(() => false)) || state.told) return
    state.told = true
    failed()
  }
  const again = (ms: number) => {
    state.timer = setTimeout(() => quietly(look().finally(() => state.timer && again(SERVE_MS))), ms)
    state.timer.unref()
  }
  again(calm_ms)
  return () => {
    clearTimeout(state.timer)
    delete state.timer
  }
}

/** One clear line, in opencode's log and before the user. */
export function tell({ client }: CoreInput["input"], message: string) {
  const shown = { title: "Pass Over", message, variant: "warning" as const, duration: 10_000 }
  quietly(Promise.try(() => client.app.log({ body: { service: "pass-over", level: "error", message } })))
  quietly(Promise.try(() => client.tui.showToast({ body: shown })))
}

type Loaded = {
  loading?: Promise<Core>
  core?: Core
  /** The one that was there last: it keeps an eye on the children that it has left until there is another. */
  last?: Core
  since?: number
  again?: Timer
  told?: boolean
  over?: boolean
}

/** What stands for the rest of us until it is needed, and afterwards hands on to it. */
function createCore(input: CoreInput, bring: Bring) {
  const state: Loaded = {}
  // What opencode said before anybody was there to hear it.
  const early: Event[] = []

  function failed(error: unknown, what = "could not be loaded", again_ms = AGAIN_MS) {
    delete state.loading
    delete state.core
    if (state.over) return
    state.again = setTimeout(() => quietly(load()), again_ms)
    state.again.unref()
    if (state.told) return
    state.told = true
    tell(input.input, `Pass Over ${what}, and opencode goes on without it: ${String(error)}`)
  }

  /** What ran well until now comes back at once, for the sake of what it was at; else there is some reason. */
  function lost(why: string) {
    const lasted = performance.now() - (state.since ?? 0) > AGAIN_MS
    failed(why, "has stopped", lasted ? 0 : AGAIN_MS)
  }

  /** Everything, loaded once; what failed is tried again. */
  function load(): Promise<Core> {
    process_.loaded = true
    clearTimeout(state.again)
    state.loading ??= bring()
      .then(({ createPlugin }) => createPlugin(input))
      .then((core) => {
        void core.lost?.then(lost)
        for (const event of early.splice(0)) core.event(event)
        Object.assign(state, { core, last: core, since: performance.now(), told: false })
        return core
      })
      .catch((error: unknown) => {
        failed(error)
        throw error
      })
    return state.loading
  }

  return {
    load,
    /** What there is, without loading it: before that no pass of ours runs here. It never fails. */
    now: (): Core | undefined | Promise<Core | undefined> => state.core ?? state.loading?.catch(() => undefined),
    /** Comes back when a session's model may be asked. */
    hold: async (session_id: string) => state.core?.hold?.(session_id),
    hooks: async () => ((await (state.core ?? state.loading?.catch(() => undefined))) ?? state.last)?.hooks,
    event(event: Event) {
      if (state.core) return state.core.event(event)
      early.push(event)
      if (early.length > MOST_EARLY) early.shift()
    },
    over() {
      state.over = true
      clearTimeout(state.again)
    },
  }
}

type Door = ReturnType<typeof createCore>

const definition = (door: Door, tool: ShownTool): ToolDefinition => ({
  description: tool.description,
  // What we put here becomes a JSON schema with every property required; `define` puts the true one in its place.
  args: {},
  execute: (args, context) => execute(door, tool.name, args, context),
})

async function execute(door: Door, name: string, args: unknown, context: ToolContext): Promise<ToolResult> {
  try {
    const core = await door.load()
    return await core.execute(name, args, context)
  } catch (error) {
    return refusalText(
      refuse(PassOverErrorCode.SUBAGENT_CRASHED, `Pass Over could not be loaded (${String(error)}).`, {
        suggestion: "Do this part yourself, and tell the user this sentence.",
      }),
    )
  }
}

type More = { bring?: Bring; serve?: Serve; option?: Readonly<Record<string, unknown>> | undefined }

/**
 * What opencode loads when it starts. It is small on purpose: the engine, its database and its libraries come when the
 * first pass is made, when something was left behind, or when opencode has had time for its user.
 */
export function createDoor(input: CoreInput["input"], more: More = {}) {
  const { bring = () => import("./thread/near"), serve = async () => (await import("./serving")).serve() } = more
  const door = createCore({ input, quit: () => process.exit(0) }, bring)
  // What holds in a project holds in its trees: a child can write into the copy of the file that lies there.
  const home = homeOf(input.directory) ?? input
  const state = { originators: new Set(ORIGINATORS), pause: undefined as Timer | undefined }
  const busy = process_.loaded || STANDBY !== undefined || somethingLeft(databasePath())
  if (busy) quietly(door.load())
  if (!busy) state.pause = setTimeout(() => quietly(door.load()), headless() ? CALM_MS.headless : CALM_MS.attended)
  state.pause?.unref()
  const option = readOption(more.option)
  if (option.problem !== undefined) tell(input, option.problem)
  // A run from a script is over soon, and trees and opencodes of our own are nobody's to look at.
  const serves = option.serve && !headless() && STANDBY === undefined && home === input && !process_.serving
  const rest = serves
    ? createServing(CALM_MS.attended, serve, () =>
        tell(input, "The panel's server did not start; pass-over serve says why."),
      )
    : undefined
  if (serves) process_.serving = true

  /** Who passes work on where no file says anything about it. */
  const plainly = (name: string, mode: Mode) => mode === "primary" || ORIGINATORS.includes(name)
  const asked = () =>
    [projectFile(home.directory, home.worktree), globalConfigPath()].some((path) =>
      sourcesIn(path).some((from) => from !== "*" && !ORIGINATORS.includes(from)),
    )

  return {
    async config(config: HostConfig) {
      const core = asked() ? await door.load().catch(() => undefined) : undefined
      const known = await core?.originators(agentsIn(config)).catch(() => undefined)
      const named = known && new Set(known)
      state.originators = register(config, named ? (name) => named.has(name) : plainly)
    },
    tools: Object.fromEntries(TOOLS.map((tool) => [tool.name, definition(door, tool)])),
    define(toolID: string, output: { jsonSchema?: unknown }) {
      const tool = TOOLS.find(({ name }) => name === toolID)
      if (tool) output.jsonSchema = tool.parameters
    },
    message: redirectMentions((name) => state.originators.has(name)),
    /** What we do around tool calls, once there is anything to do. */
    hooks: door.hooks,
    event(event: Event) {
      door.event(event)
    },
    hold: door.hold,
    async dispose() {
      clearTimeout(state.pause)
      if (rest) process_.serving = false
      rest?.()
      door.over()
      // At once where there is anything: the host stops what runs here while it waits for us.
      const core = door.now()
      await (core instanceof Promise ? core.then((loaded) => loaded?.dispose()) : core?.dispose())
    },
  }
}
