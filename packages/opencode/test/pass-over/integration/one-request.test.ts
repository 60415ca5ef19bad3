import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createFolder } from "../support/folder"
import { createWorld, endWorld, type World } from "../support/opencode"
import { answerOf, back, to } from "../support/script"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const folder = createFolder()
const busy = folder.at("busy")
const sessions = folder.at("sessions")
const locked = folder.at("locked")
const database = folder.at("pass-over.db")
const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({
    preferences: {},
    env: { PASS_OVER_DB: database },
    plugins: [
      [join(import.meta.dir, "../support/slow-stop.ts"), { while: busy }],
      [join(import.meta.dir, "../support/sessions-told.ts"), { to: sessions }],
      [join(import.meta.dir, "../support/locked-births.ts"), { database, while: locked }],
    ],
  })
})
afterAll(async () => {
  expect(await endWorld(held.world)).toEqual([])
  folder[Symbol.dispose]()
})

test("whoever has returned asks its model for nothing more, however slow opencode is to stop it", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [to("audit", "Look"), answerOf], audit: [back] } })
  writeFileSync(busy, "")
  const { text, sessionID } = await server.prompt({ agent: "alice", text: "Go." })
  expect(text).toContain("audit: approved")
  await Bun.sleep(1_000)
  expect(model.requests({ agent: "audit" })).toHaveLength(1)
  rmSync(busy)
  const child = (await store.list({ root_session_id: sessionID }))[0]!.child_session_id!
  // It was stopped as any other, and nothing went wrong.
  const last = async () => (await server.client.session.messages({ sessionID: child })).data?.at(-1)?.info
  const error = await until("its end", async () => {
    const info = await last()
    return info?.role === "assistant" ? info.error : undefined
  })
  expect(error.name).toBe("MessageAbortedError")
  model.verify()
})

test("a child's session has its model from the beginning", async () => {
  const { model, server } = held.world
  writeFileSync(sessions, "")
  const own = [to("audit", "Look again"), answerOf]
  model.play({ agents: { alice: own, audit: [back] } })
  const { sessionID } = await server.prompt({ agent: "alice", text: "Go." })
  const told = readFileSync(sessions, "utf8")
    .trim()
    .split("\n")
    .map((line): { type: string; parentID?: string; model?: unknown } => JSON.parse(line))
    .filter(({ parentID }) => parentID === sessionID)
  expect(told[0]).toMatchObject({ type: "session.created", model: { providerID: "rehearsal", id: "script" } })
  expect(new Set(told.map((each) => JSON.stringify(each.model))).size).toBe(1)
  model.verify()
})

test("a child has its first words with its session, and its model is asked when it is bound", async () => {
  const { model, server, store } = held.world
  const own = [to("audit", "Look once more"), answerOf]
  model.play({ agents: { alice: own, audit: [back] } })
  const before = model.requests({ agent: "audit" }).length
  const asked = () => model.requests({ agent: "audit" }).length - before
  writeFileSync(locked, "")
  const { data: session } = await server.client.session.create({})
  const sessionID = session!.id
  const answer = server.prompt({ sessionID, agent: "alice", text: "Go." })
  const child = await until("its child", async () => (await server.client.session.children({ sessionID })).data?.[0])
  const words = await until("its first words", async () => {
    const [first] = (await server.client.session.messages({ sessionID: child.id })).data ?? []
    return first?.parts.find((part) => part.type === "text")?.text
  })
  expect(words).toContain("Look once more")
  await Bun.sleep(1_000)
  expect((await store.list({ root_session_id: sessionID }))[0]?.child_session_id).toBeNull()
  expect(asked()).toBe(0)
  rmSync(locked)
  expect((await answer).text).toContain("audit: approved")
  expect(asked()).toBe(1)
  // It was asked with the words that it had, and with none besides.
  const { data: messages = [] } = await server.client.session.messages({ sessionID: child.id })
  expect(messages.filter(({ info }) => info.role === "user")).toHaveLength(1)
  model.verify()
})
