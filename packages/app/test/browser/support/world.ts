import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DEFAULTS, ORIGINATORS } from "../../../../opencode/src/agent/agent"
import { createPassOver } from "../../../../opencode/src/pass-over"
import type { Written } from "../../../../opencode/src/pass-over/domain/config"
import { send, type Ask, type Caller } from "../../../../opencode/src/pass-over/service/api-send"
import { alive } from "../../../../opencode/src/identity"
import { catalogOf } from "../../../../opencode/src/flow/catalog"
import { attendGates } from "../../../../opencode/src/pass-over/service/act"
import { createFlows, type Flows } from "../../../../opencode/src/pass-over/service/flow"
import { createFlowFiles } from "../../../../opencode/src/pass-over/store/flow-file"
import { attend } from "../../../../opencode/src/pass-over/service/command"
import type { Engine, Project } from "../../../../opencode/src/pass-over/service/engine"
import { clock, ids } from "../../../../opencode/src/runtime"
import { folderOf } from "../../../../opencode/src/server/address"
import { findServer, panelLink } from "../../../../opencode/src/server/client"
import { serve } from "../../../../opencode/src/server/serve"
import { buildPanel } from "../../../script/build"
import { createScriptedHost, type ScriptedHost } from "../../../../opencode/test/pass-over/support/scripted-host"

/** An opencode process with scripted children, and the server of its user beside it; all of it real but the children. */
export type World = AsyncDisposable & {
  host: ScriptedHost
  engine: Engine
  flows: Flows
  url: string
  directory: string
  database: string
  ask(ask: Partial<Ask>, caller?: Partial<Caller>): ReturnType<typeof send>
  /** A link that signs in, once. */
  link(): Promise<string>
  stop(): Promise<void>
  start(): Promise<void>
}

const POLL_MS = 50

const AGENTS = [
  { name: "alice", mode: "primary" as const },
  ...["scout", "audit", "inspector", "painter", "clerk"].map((name) => ({ name, mode: "subagent" as const })),
]

const FLOW = `
name: release
description: Looks a release through, side by side, asks a person, and writes it up.
inputs:
  what: { description: "What is released" }
budget: { tokens: 200000, passes: 20 }
steps:
  - { id: collect, agent: clerk, objective: "List what changed in {{ inputs.what }}" }
  - id: check
    rule: all
    parallel:
      - { id: texts, agent: clerk, objective: Read the texts }
      - { id: numbers, agent: clerk, objective: Check the numbers }
  - { id: agree, gate: "May this be released?", items: ["The list is whole"] }
  - { id: write, agent: clerk, objective: Write it up }
  - { id: tidy, agent: clerk, objective: Tidy up, when: steps.write.passed }
`

let built: Promise<string> | undefined

export async function createWorld(): Promise<World> {
  // In a folder of its own: other tests may be running.
  const panel = await (built ??= buildPanel(mkdtempSync(join(tmpdir(), "pass-over-dist-"))))
  const root = mkdtempSync(join(tmpdir(), "pass-over-panel-"))
  const database = join(root, "pass-over.db")
  const directory = join(root, "work", "shop")
  mkdirSync(directory, { recursive: true })
  const host = createScriptedHost({ after: clock.after, now: clock.now, agents: AGENTS })
  const made = createPassOver({
    path: database,
    clock,
    ids,
    tokens: async () => (text: string) => Math.ceil(text.length / 4),
    hash: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    log: () => {},
    owner_id: ids.make("own"),
    user_id: "ada",
    headless: false,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  })
  if (!made.ok) throw new Error(made.problem)
  const { engine } = made
  host.join(engine)
  const written = async (): Promise<Written[]> => [
    { origin: "stored", path: "the stored preferences", preferences: await engine.store.preferences(directory) },
  ]
  const project: Project = { host, directory, written, logged: () => {} }
  mkdirSync(join(directory, ".opencode", "flows"), { recursive: true })
  writeFileSync(join(directory, ".opencode", "flows", "release.yaml"), FLOW)
  engine.projects.set(directory, project)
  const flows = createFlows(engine, project, {
    files: createFlowFiles(directory),
    catalog: async () => catalogOf(directory),
    session: async () => "ses_flow",
  })
  const look = async () => {
    await attend(engine)
    await attendGates(engine)
    await flows.attend(alive)
    await flows.recover(alive)
  }
  const poll = setInterval(() => void look().catch(() => {}), POLL_MS)
  let server: Awaited<ReturnType<typeof serve>>
  let calls = 0
  const start = async () => {
    server = await serve({ database, panel, version: "0.0.0-test", log: () => {} })
    if (!server.ok) throw new Error(server.problem)
  }
  await start()
  return {
    host,
    engine,
    flows,
    directory,
    database,
    get url() {
      return server.ok ? server.url : ""
    },
    ask: (ask, caller = {}) =>
      send(
        engine,
        project,
        {
          agent: "alice",
          session_id: "ses_root",
          message_id: "msg_root",
          call_id: `call_root${++calls}`,
          by: "model",
          model: "provider/m1",
          ...caller,
        },
        { subagent: "audit", objective: "Review it", reason: "code_review", wait: false, ...ask },
      ),
    async link() {
      const found = await findServer(folderOf(database))
      if (!found) throw new Error("the server does not answer")
      return panelLink(found)
    },
    start,
    stop: async () => {
      if (server.ok) await server.stop()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(poll)
      if (server.ok) await server.stop()
      for (const runner of engine.running.all())
        runner.input({ type: "cancel", failure: { code: "E016", message: "over" } })
      await Bun.sleep(50)
      engine.store.close()
      rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
