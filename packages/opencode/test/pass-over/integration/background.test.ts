import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { order } from "../../../src/pass-over/service/command"
import type { PassID } from "../../../src/pass-over/domain/id"
import { createEngineWorld } from "../support/engine"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const later = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", wait: false, ...more })
const back = (decision_reason = "It is right.") => call("pass_over_return", { decision: "approved", decision_reason })

const messagesOf = async (sessionID: string, server = held.world.server) =>
  (await server.client.session.messages({ sessionID })).data ?? []

/** The messages by which results of passes came into a session. */
const brought = async (sessionID: string, server = held.world.server) =>
  (await messagesOf(sessionID, server)).filter((message) =>
    message.parts.some((part) => part.type === "text" && part.synthetic && part.text.includes("has come back")),
  )

const arrived = (session: string, count = 1) =>
  until("the result", async () => {
    const found = await brought(session)
    return found.length >= count ? found : undefined
  })

const idle = (sessionID: string) =>
  until("rest", async () => {
    const status = (await held.world.server.client.session.status()).data ?? {}
    return (status[sessionID]?.type ?? "idle") === "idle" ? true : undefined
  })

test("a pass that is not waited for returns at once; its result comes once, and wakes the idle originator", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [later("In the background"), say("I go on."), say("Now I have it.")],
      audit: [reply(hold(door), back())],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toBe("I go on.")
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass?.status).toMatch(/initial|waiting_for_return/)
  expect(await brought(answer.sessionID)).toEqual([])
  door.open()
  const [message] = await arrived(answer.sessionID)
  expect(message?.info.id).toStartWith("msg_")
  await until("the answer", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  await idle(answer.sessionID)
  expect(model.requests({ agent: "alice" })[2]?.user).toContain("audit: approved")
  expect(await brought(answer.sessionID)).toHaveLength(1)
  await until("the end", async () => ((await store.find(pass!.id))?.status === "processed" ? true : undefined))
})

test("the result reaches a session at its next boundary while its agent is at work", async () => {
  const { model, server } = held.world
  const [door, busy] = [gate(), gate()]
  model.play({
    agents: {
      alice: [later("While busy"), reply(hold(busy), call("todowrite", { todos: [] })), say("I have both.")],
      audit: [reply(hold(door), back())],
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session })
  await busy.reached
  door.open()
  await arrived(session)
  // It stands there, but nothing was interrupted for it.
  expect(model.requests({ agent: "alice" })).toHaveLength(2)
  busy.open()
  expect((await turn).text).toBe("I have both.")
  expect(JSON.stringify(model.requests({ agent: "alice" })[2]?.messages)).toContain("audit: approved")
  await idle(session)
  expect(await brought(session)).toHaveLength(1)
})

test("the user has gone on with another agent: the result comes to the one that is in use now", async () => {
  const { model, server } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [later("Then switch"), say("I go on.")],
      build: [say("I build."), say("I have read it.")],
      audit: [reply(hold(door), back())],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  await server.prompt({ agent: "build", text: "Build.", sessionID: answer.sessionID })
  door.open()
  await arrived(answer.sessionID)
  await until("the answer", async () => (model.requests({ agent: "build" }).length >= 2 ? true : undefined))
  await idle(answer.sessionID)
  expect(model.requests({ agent: "build" })[1]?.user).toContain("audit: approved")
  const [message] = await brought(answer.sessionID)
  expect(message?.info).toMatchObject({ role: "user", agent: "build" })
})

test("pass_over_read tells the state meanwhile", async () => {
  const { model, server } = held.world
  const door = gate()
  const told: string[] = []
  model.play({
    agents: {
      alice: [
        later("Be looked at"),
        call("pass_over_read", {}),
        (request: ModelRequest) => (told.push(request.result("pass_over_read") ?? ""), say("I see.")),
        say("Done."),
      ],
      audit: [reply(hold(door), back())],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(told[0]).toMatch(/alice → audit · (initial|waiting_for_return), (starting|working), step 1 · Be looked at/)
  door.open()
  await arrived(answer.sessionID)
  await until("the answer", async () => (model.requests({ agent: "alice" }).length >= 4 ? true : undefined))
  await idle(answer.sessionID)
})

test("a message to a running child reaches it at its next boundary and is recorded", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [call("pass_over", { subagent: "audit", objective: "Be spoken to", reason: "test" }), say("done")],
      audit: [reply(hold(door), call("todowrite", { todos: [] })), back()],
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session })
  await door.reached
  const [pass] = await store.list({ session_id: session })
  using outside = createEngineWorld({ store, owner: "88", seed: 8_000 })
  const said = order(outside.engine, {
    pass_over_id: pass!.id,
    kind: "message",
    text: "Look at the sign too.",
    actor: "ada",
  })
  expect(await said).toMatchObject({ ok: true })
  await until("the word of its owner", async () => {
    const events = await store.events(0, 10_000)
    return events.find((event) => event.type === "pass.message" && event.pass_over_id === pass!.id)
  })
  door.open()
  await turn
  const [, second] = model.requests({ agent: "audit" })
  expect(JSON.stringify(second?.messages)).toContain("ada says: Look at the sign too.")
  expect((await store.find(pass!.id))?.status).toMatch(/returned|processed/)
})

test("several passes at once: ids, results and events are never mixed up", async () => {
  const { model, server, store } = held.world
  const names = ["one", "two", "three", "four"]
  const of = (request: ModelRequest) => /Part (\w+)\./.exec(JSON.stringify(request.messages))?.[1] ?? "?"
  model.play({
    agents: {
      alice: [
        reply(
          ...names.map((name) => call("pass_over", { subagent: "audit", objective: `Part ${name}.`, reason: "test" })),
        ),
        (request: ModelRequest) => say(request.results.map(({ output }) => output).join("\n---\n")),
      ],
      audit: names.map(() => (request: ModelRequest) => back(`I did ${of(request)}.`)),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const passes = await store.list({ session_id: answer.sessionID })
  expect(passes.map((pass) => pass.objective).toSorted()).toEqual(names.map((name) => `Part ${name}.`).toSorted())
  const calls = toolCalls(answer.messages, "pass_over")
  for (const part of calls) {
    const name = /Part (\w+)\./.exec(String(part.state.input["objective"]))?.[1]
    const pass = passes.find((each) => each.objective === `Part ${name}.`)
    expect(part.state.output).toContain(`I did ${name}.`)
    expect(part.state.metadata).toMatchObject({
      pass_over: { pass_over_id: pass?.id },
      sessionId: pass?.child_session_id,
    })
    expect((await store.outcome(pass!.id))?.output.summary.decision_reason).toBe(`I did ${name}.`)
  }
  const events = (await store.events(0, 10_000)).filter(({ session_id }) => session_id === answer.sessionID)
  for (const pass of passes) {
    const types = events.filter((event) => event.pass_over_id === pass.id).map((event) => event.type)
    for (const once of ["pass.requested", "pass.dispatched", "pass.staged", "pass.returned"])
      expect(types.filter((type) => type === once)).toEqual([once as never])
  }
  const known = new Set<string>(passes.map((pass) => pass.id))
  expect(events.filter((event) => !known.has(event.pass_over_id as PassID))).toEqual([])
})

test("an undelivered result waits through a restart and comes without starting a model", async () => {
  const { model, server, box, store } = held.world
  const door = gate()
  model.play({ agents: { alice: [later("Over the night"), say("Good night.")], audit: [reply(hold(door), back())] } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  await door.reached
  await server.kill()
  door.open()
  await model.idle()
  model.play({ agents: { alice: [say("Good morning.")] } })
  held.world.server = await box.serve()
  await held.world.server.client.app.agents()
  await arrived(answer.sessionID)
  await Bun.sleep(500)
  expect(model.requests()).toEqual([])
  expect(await brought(answer.sessionID)).toHaveLength(1)
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass?.status).toBe("processed")
  // The user speaks, and their agent knows.
  await held.world.server.prompt({ agent: "alice", text: "Anything new?", sessionID: answer.sessionID })
  expect(JSON.stringify(model.requests({ agent: "alice" })[0]?.messages)).toContain("audit: failed")
})
