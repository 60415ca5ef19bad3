import { afterAll, expect, test } from "bun:test"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import type { PluginInput, ToolContext } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { createDoor } from "../../src/door"
import { openDatabase } from "../../src/pass-over/store/open"
import { createStore } from "../../src/pass-over/store/store"
import { engineThread } from "../../src/thread/start"
import { alive, bury, place, processStart } from "../../src/identity"
import { createFolder } from "../pass-over/support/folder"
import { until } from "../pass-over/support/until"

const folder = createFolder()
const before = process.env.PASS_OVER_DB

afterAll(() => {
  process.env.PASS_OVER_DB = before
  if (before === undefined) delete process.env.PASS_OVER_DB
  folder[Symbol.dispose]()
})

test("a thread that ends is told of once; the next call has another, which knows that nobody carries its passes", async () => {
  process.env.PASS_OVER_DB = folder.at("data/pass-over.db")
  mkdirSync(folder.at("project/.opencode"), { recursive: true })
  const told: string[] = []
  const said = (of: { body: { message: string } }) => Promise.resolve(void told.push(of.body.message))
  const stopped: string[] = []
  const abort = async ({ path }: { path: { id: string } }) => void stopped.push(path.id)
  const client = { app: { log: said }, tui: { showToast: said }, session: { abort } }
  const directory = folder.at("project")
  const input = { client, directory, worktree: directory, serverUrl: new URL("http://127.0.0.1:1") }
  const door = createDoor(input as unknown as PluginInput)
  const context = { sessionID: "ses_1", messageID: "msg_1", agent: "alice", abort: new AbortController().signal }
  const call = () => door.tools["pass_over_read"]?.execute({ id: "nothing" }, context as unknown as ToolContext)
  expect(await call()).toContain("Not done.")

  for (const event of [
    ...session("ses_child", { parentID: "ses_1", metadata: { pass_over: { id: "01" } } }),
    ...session("ses_rested", { parentID: "ses_1", metadata: { pass_over: { id: "02" } } }, "idle"),
    ...session("ses_other", { parentID: "ses_1" }),
  ]) {
    door.event(event)
  }

  const store = createStore(...opened())
  const first = engineThread()
  const owner = await until("its place", async () => (await store.owners())[0]?.owner_id)
  expect(first.owners).toEqual([owner])
  first.worker.terminate()
  await first.lost
  // Its child is stopped, and until then it does nothing that nobody can judge; others are let be.
  await until("the end of its child", async () => (stopped.length > 0 ? true : undefined))
  expect(stopped).toEqual(["ses_child"])
  const hooks = (await door.hooks())!
  const read = (sessionID: string) => hooks.before({ tool: "read", sessionID, callID: "call_1" }, {})
  expect(read("ses_child")).rejects.toThrow("Pass Over has stopped")
  expect(await read("ses_other")).toBeUndefined()
  await until("the word about it", async () => (told.length > 0 ? true : undefined))
  expect(new Set(told)).toEqual(
    new Set(["Pass Over has stopped, and opencode goes on without it: its thread has ended"]),
  )

  expect(await call()).toContain("Not done.")
  const second = engineThread()
  expect(second).not.toBe(first)
  expect(second.buried).toEqual([owner])
  expect(second.owners).not.toEqual(first.owners)
  await until("the place of the first", async () =>
    (await store.owners()).some((each) => each.owner_id === owner) ? undefined : true,
  )
  await door.dispose()
})

test("a database that could not be opened is opened with the next call once it can be, and was told of once", async () => {
  process.env.PASS_OVER_DB = folder.at("later/pass-over.db")
  // Nobody, not even root, makes a folder in a file.
  writeFileSync(folder.at("later"), "")
  const toasts: string[] = []
  /** opencode, as it is reached where it listens nowhere. */
  async function opencode(request: Request) {
    const body = await request.text()
    if (request.url.includes("/tui/show-toast")) toasts.push((JSON.parse(body) as { message: string }).message)
    return Response.json(true)
  }
  const client = { _client: { getConfig: () => ({ baseUrl: "http://localhost:4096", fetch: opencode }) } }
  const directory = folder.at("project")
  const input = { client, directory, worktree: directory, serverUrl: new URL("http://localhost:4096/") }
  const door = createDoor(input as unknown as PluginInput)
  const context = { sessionID: "ses_1", messageID: "msg_1", agent: "alice", abort: new AbortController().signal }
  const call = () => door.tools["pass_over_read"]?.execute({}, context as unknown as ToolContext)
  const problem = `Pass Over cannot use its database ${folder.at("later/pass-over.db")}: something else is in its place`
  expect(await call()).toContain(problem)
  expect(await call()).toContain(problem)
  expect(await door.hooks()).toBeUndefined()

  rmSync(folder.at("later"))
  expect(JSON.stringify(await call())).not.toContain(problem)
  expect(await door.hooks()).toBeDefined()
  expect(engineThread().owners).toHaveLength(1)
  await Bun.sleep(1_500)
  expect(toasts).toEqual([expect.stringContaining(problem)])
  await door.dispose()
})

test("whoever is buried is dead, though its process is there", () => {
  const here = { pid: process.pid, process_start: processStart() ?? "", host: hostname(), place: place() }
  const [first, second] = (["own_1", "own_2"] as const).map((owner_id) => ({
    owner_id,
    ...here,
    time_heartbeat: Date.now(),
  }))
  expect([alive(first!), alive(second!)]).toEqual(["alive", "alive"])
  bury("own_1")
  expect([alive(first!), alive(second!)]).toEqual(["dead", "alive"])
})

function session(id: string, info: Record<string, unknown>, status = "busy") {
  const event = (type: string, properties: unknown) => ({ id: "evt", type, properties }) as unknown as Event
  const says = (type: string) => event("session.status", { sessionID: id, status: { type } })
  return [event("session.created", { info: { id, ...info } }), says("busy"), says(status)]
}

function opened(): Parameters<typeof createStore> {
  const path = folder.at("data/pass-over.db")
  const database = openDatabase(path)
  if (!database.ok) throw new Error(database.problem)
  return [database, path]
}
