import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, gate, hold, repeat, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, storeOf, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const BATCH = {
  subagent: "audit",
  objective: "Review the first part",
  reason: "code_review",
  more: [
    { objective: "Review the second part" },
    { subagent: "nobody", objective: "x" },
    { objective: "Review the third part" },
  ],
}

const which = (request: ModelRequest) => /Review the (\w+) part/.exec(request.user)?.[1] ?? ""

const back = (request: ModelRequest) =>
  call("pass_over_return", {
    status: "completed",
    decision: "approved",
    decision_reason: `The ${which(request)} part holds.`,
  })

const messagesOf = async (sessionID: string, server = held.world.server) =>
  (await server.client.session.messages({ sessionID })).data ?? []

const answered = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")

test("one call with several passes: they run side by side, the part shows all, the answer has all in order", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [call("pass_over", BATCH), answered],
      audit: repeat((request: ModelRequest) =>
        which(request) === "first" ? reply(hold(door), back(request)) : back(request),
      ),
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session })
  const shown = await until("the view of all", async () => {
    const [part] = toolCalls(await messagesOf(session), "pass_over")
    return part?.state.metadata?.back === 3 ? part : undefined
  })
  expect(shown.state.metadata).toMatchObject({
    passes: 4,
    pass_2: expect.stringContaining("audit: approved"),
    pass_3: expect.stringContaining("E001"),
  })
  door.open()
  const answer = await turn
  const parts = answer.text.split(/^\d\. /m).slice(1)
  expect(parts.map((part) => /(?:The \w+ part holds|Not done\. E001)/.exec(part)?.[0])).toEqual([
    "The first part holds",
    "The second part holds",
    "Not done. E001",
    "The third part holds",
  ])
  const passes = await store.list({ session_id: session })
  expect(new Set(passes.map(({ call_id }) => call_id?.replace(/^[^#]+/, "")))).toEqual(new Set(["", "#2", "#4"]))
  await until("delivery", async () => ((await store.deliveries(session)).length === 0 ? true : undefined))
  expect((await store.list({ session_id: session })).map(({ status }) => status)).toEqual(Array(3).fill("processed"))
})

test("a user who stops a call with several passes loses none of what had come before, and is told none of it twice", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [call("pass_over", BATCH)],
      audit: repeat((request: ModelRequest) =>
        which(request) === "first" ? reply(hold(door), back(request)) : back(request),
      ),
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session }).catch(() => {})
  await until("two of them", async () => ((await store.deliveries(session)).length === 2 ? true : undefined))
  await server.client.session.abort({ sessionID: session })
  await turn
  door.open()
  // Whether the host still took the answer of the call, or was brought them as messages.
  const told = () => messagesOf(session).then((messages) => JSON.stringify(messages))
  const parts = ["second", "third"].map((part) => `The ${part} part holds.`)
  await until("both", async () => {
    const all = await told()
    return parts.every((part) => all.includes(part)) ? true : undefined
  })
  await Bun.sleep(1_500)
  const all = await told()
  for (const part of parts) expect(all.split(part)).toHaveLength(2)
  expect(await store.deliveries(session)).toEqual([])
  // Who stopped it does not want it to go on by itself.
  expect(model.requests({ agent: "alice" })).toHaveLength(1)
})

test("an opencode that is killed while a call with several passes runs loses none of the results", async () => {
  const { model, box } = held.world
  const server = await box.serve()
  await server.client.app.agents()
  const door = gate()
  model.play({
    agents: {
      alice: [call("pass_over", BATCH)],
      audit: repeat((request: ModelRequest) =>
        which(request) === "first" ? reply(hold(door), back(request)) : back(request),
      ),
    },
  })
  const session = (await server.client.session.create()).data!.id
  void server.prompt({ agent: "alice", text: "Go.", sessionID: session }).catch(() => {})
  const store = storeOf(box)
  await until("two results", async () => {
    const passes = await store.list({ session_id: session })
    const outcomes = await Promise.all(passes.map(({ id }) => store.outcome(id)))
    return outcomes.filter(Boolean).length === 2 ? true : undefined
  })
  await server.kill()
  door.open()
  const again = await box.serve()
  await again.client.app.agents()
  const texts = await until("three messages", async () => {
    const found = (await messagesOf(session, again)).flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" && part.text.includes("has come back") ? [part.text] : [])),
    )
    return found.length >= 3 ? found : undefined
  })
  await Bun.sleep(500)
  expect(await messagesOf(session, again)).toHaveLength(5)
  expect(texts.filter((text) => /The (second|third) part holds/.test(text))).toHaveLength(2)
  expect(await store.deliveries(session)).toEqual([])
  expect(model.requests({ agent: "alice" })).toHaveLength(1)
  store.close()
})
