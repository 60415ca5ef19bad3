import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  createModel,
  createSandbox,
  type Model,
  type Sandbox,
  type SandboxOptions,
  type Server,
} from "@pass-over/rehearsal"
import type { Pass } from "../../../src/pass-over/domain/pass"
import type { Store } from "../../../src/pass-over/service/port"
import { openDatabase } from "../../../src/pass-over/store/open"
import { createStore } from "../../../src/pass-over/store/store"

const built: { plugin?: Promise<string> } = {}

// In a process of its own, because the bundler does not work where the same modules are loaded already; in a folder of
// its own, because other tests may be running.
async function bundle(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-bundle-"))
  const script = join(import.meta.dir, "../../../script/build.ts")
  const child = Bun.spawn([process.execPath, script, folder], { stdout: "ignore", stderr: "pipe" })
  if ((await child.exited) !== 0)
    throw new Error(`the plugin could not be built: ${await new Response(child.stderr).text()}`)
  return join(folder, "server.js")
}

/** The plugin as it ships: one bundle, made once for all tests of a run. */
export function plugin(): Promise<string> {
  built.plugin ??= bundle()
  return built.plugin
}

export const databaseOf = (box: Sandbox) => box.env.PASS_OVER_DB ?? join(box.data, "opencode/pass-over.db")

/** A second reader on the database that opencode writes. */
export function storeOf(box: Sandbox): Store {
  const path = databaseOf(box)
  const opened = openDatabase(path)
  if (!opened.ok) throw new Error(opened.problem)
  return createStore(opened, path)
}

export type World = {
  model: Model
  box: Sandbox
  server: Server
  /** All passes of the sandbox's database, oldest first. */
  passes(): Promise<Pass[]>
  store: Store
}

export type WorldOptions = Omit<SandboxOptions, "model"> & {
  /** `.opencode/pass-over.json` */
  preferences?: unknown
  /** The user's own preferences for all projects. */
  global?: unknown
}

const FILES = { "src/total.ts": "export const total = (xs: number[]) => xs.reduce((a, b) => a - b, 0)\n" }

/** The real opencode with the plugin on a small project, for the length of one test file. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { preferences, global, ...rest } = options
  const model = await createModel()
  const box = await createSandbox({
    ...rest,
    model,
    plugins: [await plugin(), ...(options.plugins ?? [])],
    files: { ...FILES, ...options.files },
  })
  if (preferences !== undefined) {
    box.write(".opencode/pass-over.json", typeof preferences === "string" ? preferences : JSON.stringify(preferences))
    box.seed(join(box.project, ".opencode"))
  }
  if (global !== undefined) {
    const folder = join(box.env.XDG_CONFIG_HOME ?? "", "opencode")
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "pass-over.json"), JSON.stringify(global))
  }
  const server = await box.serve()
  // opencode loads plugins with the first request for a directory.
  await server.client.app.agents()
  const store = storeOf(box)
  return { model, box, server, store, passes: () => store.list({}) }
}

/** Ends a world, and says what outlived it. */
export async function endWorld(world: World) {
  world.store.close()
  const leaked = await world.box.dispose()
  world.model.stop()
  return leaked
}

type ToolPart = {
  type: "tool"
  tool: string
  state: {
    status: string
    input: Record<string, unknown>
    output?: string
    error?: string
    title?: string
    metadata?: Record<string, unknown>
  }
}

/** The calls of one tool in a list of messages, in order. */
export const toolCalls = (messages: readonly { parts: readonly { type: string }[] }[], name: string) =>
  messages.flatMap((message) =>
    message.parts.filter((part): part is ToolPart => part.type === "tool" && (part as ToolPart).tool === name),
  )
