import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import type { PluginInput, ToolContext } from "@opencode-ai/plugin"
import type { HostConfig } from "../src/agent/register"
import { createDoor } from "../src/door"
import { TOOLS } from "../src/tool/shown.gen"
import { createFolder } from "./pass-over/support/folder"

const folder = createFolder()
const before = { db: process.env.PASS_OVER_DB, config: process.env.XDG_CONFIG_HOME }
const database = folder.at("data/pass-over.db")

beforeEach(() => {
  mkdirSync(folder.at("project/.opencode"), { recursive: true })
  process.env.PASS_OVER_DB = database
  process.env.XDG_CONFIG_HOME = folder.at("config")
})

afterAll(() => {
  process.env.PASS_OVER_DB = before.db
  process.env.XDG_CONFIG_HOME = before.config
  if (before.db === undefined) delete process.env.PASS_OVER_DB
  if (before.config === undefined) delete process.env.XDG_CONFIG_HOME
  folder[Symbol.dispose]()
})

const nobody = new Proxy(
  {},
  { get: () => new Proxy(() => Promise.resolve({}), { get: () => () => Promise.resolve({}) }) },
)

const input = () =>
  ({
    client: nobody,
    directory: folder.at("project"),
    worktree: folder.at("project"),
    serverUrl: new URL("http://127.0.0.1:1"),
  }) as unknown as Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">

const denied = (config: HostConfig, name: string) =>
  (config.agent?.[name]?.permission as Record<string, unknown> | undefined)?.pass_over === "deny"

test("opencode starts with the door alone: our agents and tools are there, our engine and its database are not", async () => {
  const door = createDoor(input())
  const config: HostConfig = { agent: { helper: { mode: "subagent" } } }
  await door.config(config)
  expect(Object.keys(config.agent ?? {})).toEqual(
    expect.arrayContaining(["alice", "scout", "audit", "inspector", "helper"]),
  )
  expect(denied(config, "alice")).toBe(false)
  expect(denied(config, "scout")).toBe(false)
  expect(denied(config, "helper")).toBe(true)
  expect(Object.keys(door.tools)).toEqual(TOOLS.map(({ name }) => name))
  const shown: { jsonSchema?: unknown } = {}
  door.define("pass_over", shown)
  expect(shown.jsonSchema).toMatchObject({ type: "object" })
  expect(await door.hooks()).toBeUndefined()
  door.event({ type: "session.idle", properties: { sessionID: "ses_1" } } as never)
  expect(existsSync(database)).toBe(false)
  await door.dispose()
  expect(existsSync(database)).toBe(false)
})

test("a file that makes an agent pass work on is obeyed from the start", async () => {
  writeFileSync(folder.at("project/.opencode/pass-over.json"), `{ "pairs": { "helper->audit": {} } }`)
  const door = createDoor(input())
  const config: HostConfig = { agent: { helper: { mode: "subagent" }, other: { mode: "subagent" } } }
  await door.config(config)
  expect(denied(config, "helper")).toBe(false)
  expect(denied(config, "other")).toBe(true)
  await door.dispose()
})

test("the first call brings the rest, and its answer comes from there", async () => {
  const door = createDoor(input())
  const context = { sessionID: "ses_1", messageID: "msg_1", agent: "alice", abort: new AbortController().signal }
  const answer = await door.tools["pass_over_read"]?.execute({ id: "nothing" }, context as unknown as ToolContext)
  expect(answer).toContain("Not done.")
  expect(existsSync(database)).toBe(true)
  expect(await door.hooks()).toBeDefined()
  await door.dispose()
})

test("what cannot be loaded leaves opencode as it is, says so once, and is tried again when it is needed", async () => {
  const told: string[] = []
  const said = (of: { body: { message: string } }) => Promise.resolve(void told.push(of.body.message))
  const client = { app: { log: said }, tui: { showToast: said } } as unknown as PluginInput["client"]
  const times = { tried: 0 }
  writeFileSync(folder.at("project/.opencode/pass-over.json"), `{ "pairs": { "helper->audit": {} } }`)
  const bring = async () => {
    times.tried += 1
    if (times.tried === 1) throw new Error("a file is missing")
    if (times.tried === 2) return { createPlugin: () => raise("the disk is full") }
    return import("../src/plugin")
  }
  const door = createDoor({ ...input(), client }, { bring })
  // opencode asks for the hooks with every tool call of every session.
  const config: HostConfig = { agent: { helper: { mode: "subagent" } } }
  await door.config(config)
  expect(await door.hooks()).toBeUndefined()
  door.event({ type: "session.idle", properties: { sessionID: "ses_1" } } as never)
  const context = { sessionID: "ses_1", messageID: "msg_1", agent: "alice", abort: new AbortController().signal }
  const call = () => door.tools["pass_over_read"]?.execute({ id: "nothing" }, context as unknown as ToolContext)
  const [answer, meanwhile] = await Promise.all([call(), door.hooks()])
  expect(answer).toBe(
    "Not done. E011 SUBAGENT_CRASHED: Pass Over could not be loaded (Error: the disk is full). → Do this part yourself, and tell the user this sentence.",
  )
  expect(meanwhile).toBeUndefined()
  expect([...new Set(told)]).toEqual([
    "Pass Over could not be loaded, and opencode goes on without it: Error: a file is missing",
  ])
  expect(told).toHaveLength(2)
  expect(await call()).toContain("Not done.")
  expect(await door.hooks()).toBeDefined()
  expect(times.tried).toBe(3)
  await door.dispose()
})

test("a tool that is not there is told like every other refusal", async () => {
  const { createPlugin } = await import("../src/plugin")
  const core = await createPlugin({ input: input(), quit: () => {} })
  const context = { sessionID: "ses_1", messageID: "msg_1", agent: "alice", abort: new AbortController().signal }
  expect(await core.execute("nothing", {}, context as unknown as ToolContext)).toBe(
    "Not done. E042 NOT_FOUND: There is no tool nothing here. → Do this part yourself.",
  )
  await core.dispose()
})

function raise(message: string): never {
  throw new Error(message)
}

describe("the option beside the plugin", () => {
  const listening = () => {
    const told: string[] = []
    const said = (of: { body: { message: string } }) => Promise.resolve(void told.push(of.body.message))
    return { told, client: { app: { log: said }, tui: { showToast: said } } as unknown as PluginInput["client"] }
  }

  test("serve keeps the user's server up from when opencode has time, once a process, and says once if it cannot", async () => {
    const { told, client } = listening()
    const asked: number[] = []
    const serve = async () => asked.push(performance.now()) === 0
    const world = { ...input(), client }
    const [door, other] = [
      createDoor(world, { serve, option: { serve: true } }),
      createDoor(world, { serve, option: { serve: true } }),
    ]
    expect(asked).toEqual([])
    while (asked.length === 0) await Bun.sleep(20)
    await Bun.sleep(50)
    expect(asked).toHaveLength(1)
    expect([...new Set(told)]).toEqual(["The panel's server did not start; pass-over serve says why."])
    await other.dispose()
    await door.dispose()
    const quiet = createDoor(world, { serve, option: { serve: false } })
    await quiet.dispose()
    // Gone before it had its time, it asks for nothing.
    await createDoor(world, { serve, option: { serve: true } }).dispose()
    await Bun.sleep(1_100)
    expect(asked).toHaveLength(1)
  })

  test("a word that is unknown there is told with what there is, and nothing is guessed", async () => {
    const { told, client } = listening()
    const serve = () => raise("asked for")
    for (const option of [{ sreve: true }, { serve: "yes" }]) {
      await createDoor({ ...input(), client }, { serve, option }).dispose()
    }
    expect([...new Set(told)]).toEqual([
      expect.stringMatching(/"sreve" .* is unknown, .* There is "serve", true or false/),
      expect.stringMatching(/"serve" of opencode-pass-over is "yes"\. It is "serve", true or false/),
    ])
  })
})
