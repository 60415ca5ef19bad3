import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rgPath } from "@vscode/ripgrep"
import type { Child } from "./child"
import { opencodeConfig, resolveSpec, type Json, type PluginSpec } from "./config"
import { environment } from "./environment"
import { findHost, type Host } from "./host"
import { createLayout, seed, type Layout } from "./layout"
import { readLog } from "./log"
import { processesOf, signal, type Process } from "./processes"
import { openProject } from "./project"
import { run, type RunOptions, type RunResult } from "./run"
import { serve, type ServeOptions, type Server } from "./server"
import { startTui, type Tui, type TuiOptions } from "./tui"

export type SandboxOptions = {
  /** A model from `createModel`, or anything else with the URL of an OpenAI-compatible server. */
  model: { url: string }
  /** Paths (relative to the working directory) or package names, alone or with options. */
  plugins?: PluginSpec[]
  tuiPlugins?: PluginSpec[]
  /** Merged over the sandbox's opencode.json. */
  config?: Json
  /** Files of the project, by path. They are in its first commit. */
  files?: Record<string, string>
  /** Added to the environment of everything that is started. */
  env?: Record<string, string>
}

export type Sandbox = AsyncDisposable & {
  /** The temporary directory that holds all the rest. */
  readonly root: string
  /** The git project. */
  readonly project: string
  /** XDG_DATA_HOME. */
  readonly data: string
  /** The environment that opencode is started with. */
  readonly env: Record<string, string>
  /** The path of the opencode in use. */
  readonly binary: string
  /** Starts `opencode serve`. Several can run at once, and after one another, on the same data. */
  serve(options?: ServeOptions): Promise<Server>
  /** `opencode run`, to its end. */
  run(options: RunOptions): Promise<RunResult>
  tui(options?: TuiOptions): Promise<Tui>
  /** Writes a file of the project. */
  write(file: string, content: string): void
  /** Reads a file of the project. */
  read(file: string): string
  /** opencode's own log, of all that were started here, oldest first. opencode writes it about once a second. */
  log(): string
  /** Runs git in the project and gives what it prints. */
  git(...args: string[]): string
  /** Spares a config directory (a `.opencode`) outside the project the npm install of its first use. */
  seed(directory: string): void
  /** What was started here and still lives, with all its descendants. */
  processes(): Process[]
  /** What still lives after a moment of grace; comes back at once when nothing does. */
  leftovers(grace_ms?: number): Promise<Process[]>
  /** Stops everything and removes the directory. Gives back what had to be killed because nobody stopped it. */
  dispose(): Promise<Process[]>
}

const GRACE_MS = 5_000

const open = new Set<string>()

/** The roots of sandboxes that were not disposed of; for an `afterAll` that says no. */
export const openSandboxes = () => [...open]

export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { binary, version, database } = await findHost()
  const layout = createLayout({ rg: rgPath, opencode: binary })
  open.add(layout.root)
  const env = environment(layout, options.env ?? {})
  const project = openProject({ directory: layout.project, env, version })
  const stops: (() => Promise<unknown>)[] = []

  const started = { binary, directory: layout.project, onSpawn: (child: Child) => void stops.push(() => child.stop()) }
  const withEnv = (extra: Record<string, string> = {}) => ({ ...env, ...extra })

  const dispose = async () => {
    if (!open.delete(layout.root)) return []
    await Promise.all(stops.map((stop) => stop()))
    const leaked = await leftovers(layout.root, GRACE_MS)
    for (const item of leaked) signal(item.pid, "SIGKILL")
    remove(layout.root)
    return leaked
  }

  try {
    configure(layout, options, { version, database })
    project.begin(options.files ?? {})
  } catch (error) {
    await dispose()
    throw error
  }

  return {
    root: layout.root,
    project: layout.project,
    data: layout.data,
    env,
    binary,
    serve: (extra = {}) => serve({ ...started, ...extra, env: withEnv(extra.env) }),
    run: (extra) => run({ ...started, ...extra, env: withEnv(extra.env) }),
    tui: async (extra = {}) => {
      const tui = await startTui({ ...started, root: layout.root, ...extra, env: withEnv(extra.env) })
      stops.push(tui.stop)
      return tui
    },
    write: project.write,
    read: project.read,
    log: () => readLog(layout.data),
    git: project.git,
    seed: (directory) => seed(directory, version),
    processes: () => processesOf(layout.root),
    leftovers: (grace_ms = GRACE_MS) => leftovers(layout.root, grace_ms),
    dispose,
    [Symbol.asyncDispose]: async () => {
      const leaked = await dispose()
      if (leaked.length > 0) console.error(`Killed what a sandbox left: ${JSON.stringify(leaked)}`)
    },
  }
}

function configure(layout: Layout, options: SandboxOptions, host: Pick<Host, "version" | "database">) {
  mkdirSync(join(layout.data, "opencode"))
  writeFileSync(join(layout.data, "opencode/opencode.db"), host.database)
  const directory = join(layout.config, "opencode")
  seed(directory, host.version)
  const put = (file: string, content: Json) =>
    writeFileSync(join(directory, file), JSON.stringify(content, undefined, 2))
  const { plugins = [], tuiPlugins = [], config = {} } = options
  put("opencode.json", opencodeConfig({ url: options.model.url, plugins, config, owner: process.pid }))
  if (tuiPlugins.length > 0) put("tui.json", { plugin: tuiPlugins.map(resolveSpec) })
}

// What opencode had started without waiting for it, a git for instance, ends by itself a moment later.
async function leftovers(root: string, grace_ms: number) {
  const until = performance.now() + grace_ms
  while (processesOf(root).length > 0 && performance.now() < until) await Bun.sleep(20)
  return processesOf(root)
}

function remove(root: string) {
  if (process.env["REHEARSAL_KEEP"] === "1") return console.error(`Kept: ${root}`)
  // A process that was just killed may still be at its last write.
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
