import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { call, fault, gate, hold, reply, say, type Gate, type ModelRequest, type Script } from "@pass-over/rehearsal"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { broken } from "../proof/laws"
import { connect } from "../support/database"
import { createWorld, databaseOf, endWorld, type World } from "../support/opencode"
import { until } from "../support/until"
import { answerOf, back, to } from "../support/script"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({ preferences: { pairs: { "scout->audit": {} } } })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const todo = call("todowrite", { todos: [] })

const ended = (pass: Pass) =>
  until("its end", async () => {
    const now = await held.world.store.find(pass.id)
    return now && now.time_ended !== null ? now : undefined
  })

function lawful(passes: readonly Pass[]) {
  using database = connect(databaseOf(held.world.box))
  for (const pass of passes) expect(broken(database.client, pass.id, pass.originating_agent_id)).toEqual([])
}

/** A session in which alice has passed work to audit, whose child waits at a gate. */
async function working(door: Gate) {
  const { server, store } = held.world
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session })
  await door.reached
  const [pass] = await store.list({ session_id: session })
  if (!pass?.child_session_id) throw new Error("no child")
  return { session, turn, pass, child: pass.child_session_id }
}

test("stopping the originator ends the whole chain, and passes that are not waited for go on", async () => {
  const { model, server, store } = held.world
  const [deep, aside] = [gate(), gate()]
  model.play({
    agents: {
      alice: [to("inspector", "Aside", { wait: false }), to("scout", "Go deep"), say("Now I have it.")],
      scout: to("audit", "Deeper"),
      audit: reply(hold(deep)),
      inspector: reply(hold(aside), back),
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session }).catch(() => {})
  await Promise.all([deep.reached, aside.reached])
  await server.client.session.abort({ sessionID: session })
  await turn
  const passes = await store.list({ root_session_id: session })
  const by = (agent: string) => passes.find((pass) => pass.subagent_id === agent)!
  expect((await ended(by("scout"))).status).toBe("cancelled")
  expect((await ended(by("audit"))).status).toBe("cancelled")
  expect((await store.find(by("inspector").id))?.status).toBe("waiting_for_return")
  deep.open()
  aside.open()
  await ended(by("inspector"))
  expect((await store.outcome(by("inspector").id))?.output.status).toBe("completed")
  await until("the result", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  await until("its delivery", async () => ((await store.deliveries(session)).length === 0 ? true : undefined))
  lawful(passes)
})

test("a parent that is out of time takes its child with it, and each has its own outcome", async () => {
  const { model, server, store } = held.world
  const deep = gate()
  model.play({
    agents: {
      alice: [to("scout", "Run out of time", { timeout_ms: 3_000 }), answerOf],
      scout: to("audit", "Take for ever"),
      audit: reply(hold(deep)),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toMatch(/scout: (aborted|partial)/)
  deep.open()
  const passes = await store.list({ root_session_id: answer.sessionID })
  expect(passes).toHaveLength(2)
  for (const pass of passes) expect((await ended(pass)).status).toMatch(/timed_out|cancelled/)
  await until("its delivery", async () => ((await store.deliveries(answer.sessionID)).length === 0 ? true : undefined))
  lawful(passes)
})

describe("a child that has passed work on without waiting for it", () => {
  const told = (request: ModelRequest) => request.result("pass_over_return") ?? ""
  const idOf = (request: ModelRequest) => /as pass ([0-9a-f-]{36})/.exec(request.result("pass_over") ?? "")?.[1] ?? ""

  /** What the originator and those below it came to. */
  async function played(scout: Script, audit: Script) {
    const { model, server, store } = held.world
    model.play({ agents: { alice: [to("scout", "Return"), answerOf], scout, audit } })
    const answer = await server.prompt({ agent: "alice", text: "Go." })
    const passes = await store.list({ root_session_id: answer.sessionID })
    const below = passes.find((pass) => pass.subagent_id === "audit")!
    await ended(below)
    await until("all", async () => ((await store.undelivered(below.directory)).length === 0 ? true : undefined))
    expect(answer.text).toContain("scout: approved")
    lawful(passes)
    return (await store.outcome(below.id))?.error_code
  }

  test("is told what still runs when it returns, and cancels that when it returns again", async () => {
    const deep = gate()
    const heard: string[] = []
    const aside = to("audit", "Aside", { wait: false })
    const again = (request: ModelRequest) => (heard.push(told(request), idOf(request)), back)
    expect(await played([aside, back, again], reply(hold(deep)))).toBe("E016")
    expect(heard[0]).toStartWith(
      `Not done. E021 INVALID_WORK_OUTPUT: Passes that you started are still running: ${heard[1]}.`,
    )
    deep.open()
  })

  test("returns at once when it is asked for it, with nothing else open to it", async () => {
    const deep = gate()
    const aside = to("audit", "Aside", { wait: false })
    expect(await played([aside, say("I am done."), back], reply(hold(deep)))).toBe("E016")
    deep.open()
  })

  test("waits for it with pass_over_read, and returns with what came of it", async () => {
    const deep = gate()
    const heard: string[] = []
    const waits = (request: ModelRequest) => {
      setTimeout(() => deep.open(), 500)
      return call("pass_over_read", { id: idOf(request), wait: true })
    }
    const then = (request: ModelRequest) => (heard.push(request.result("pass_over_read") ?? ""), back)
    const aside = to("audit", "Aside", { wait: false })
    expect(await played([aside, back, waits, then], reply(hold(deep), back))).toBeNull()
    expect(heard[0]).toContain("audit: approved")
  })
})

test("a child session that is deleted in the middle leaves one typed outcome, with what was known of it", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({ agents: { alice: [to("audit", "Be deleted"), answerOf], audit: [todo, reply(hold(door))] } })
  const { turn, pass, child } = await working(door)
  await server.client.session.delete({ sessionID: child })
  const { text } = await turn
  door.open()
  expect(text).toContain("audit: aborted")
  expect(text).toContain("its session was deleted")
  const outcome = await store.outcome(pass.id)
  expect(outcome?.error_code).toBe("E016")
  expect(outcome?.output.artifacts.map((artifact) => artifact.type)).toEqual(["tool_result"])
  lawful([pass])
})

test("a fork of a child session is not the child: it cannot return, and the pass ends by its own child", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [to("audit", "Be forked"), answerOf],
      audit: [todo, reply(hold(door), back), say("I am the fork.")],
    },
  })
  const { turn, pass, child } = await working(door)
  const fork = (await server.client.session.fork({ sessionID: child })).data!.id
  await server.prompt({ agent: "audit", text: "Return it.", sessionID: fork })
  const [asked] = model.requests({ session: fork })
  expect(asked?.tools.map((tool) => tool.name)).not.toContain("pass_over_return")
  door.open()
  expect((await turn).text).toContain("audit: approved")
  expect((await store.outcome(pass.id))?.output.summary.decision).toBe("approved")
  lawful([pass])
})

test("a child that the user speaks to in the middle hears it, and returns once", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: { alice: [to("audit", "Be continued"), answerOf], audit: [reply(hold(door), todo), back] },
  })
  const { turn, pass, child } = await working(door)
  await server.client.session.promptAsync({
    sessionID: child,
    agent: "audit",
    parts: [{ type: "text", text: "Mind the sign." }],
  })
  door.open()
  expect((await turn).text).toContain("audit: approved")
  expect(JSON.stringify(model.requests({ agent: "audit" })[1]?.messages)).toContain("Mind the sign.")
  expect(await store.list({ root_session_id: pass.root_session_id })).toHaveLength(1)
  lawful([pass])
})

test("a child session that is continued after its end returns nothing a second time", async () => {
  const { model, server, store } = held.world
  const told: string[] = []
  model.play({
    agents: {
      alice: [to("audit", "End first"), answerOf],
      audit: [
        back,
        call("pass_over_return", { decision: "rejected", decision_reason: "I thought again." }),
        (request: ModelRequest) => (told.push(request.result("pass_over_return") ?? ""), say("I was refused.")),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [pass] = await store.list({ session_id: answer.sessionID })
  await server.prompt({ agent: "audit", text: "Think again.", sessionID: pass!.child_session_id! })
  expect(told[0]).toContain("E040")
  expect((await store.outcome(pass!.id))?.output.summary.decision).toBe("approved")
  lawful([pass!])
})

test("a child session that is compacted in the middle goes on and returns", async () => {
  const { model, server, store } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [to("audit", "Be compacted"), answerOf],
      audit: [todo, reply(hold(door), todo), back],
      compaction: say("So far: a list of todos was written."),
    },
  })
  const { turn, pass, child } = await working(door)
  const compacted = server.client.session.summarize({ sessionID: child, providerID: "rehearsal", modelID: "script" })
  await Bun.sleep(300)
  door.open()
  await compacted
  expect((await turn).text).toContain("audit: approved")
  expect((await store.outcome(pass.id))?.output.status).toBe("completed")
  lawful([pass])
})

test("a result that comes while the user has taken back the message it was asked for in leaves that to be brought back", async () => {
  const { model, server } = held.world
  const door = gate()
  model.play({
    agents: { alice: [to("audit", "Undone", { wait: false }), say("Handed over.")], audit: reply(hold(door), back) },
  })
  const { sessionID } = await server.prompt({ agent: "alice", text: "Pass it." })
  await door.reached
  const messages = async () => (await server.client.session.messages({ sessionID })).data!
  const before = (await messages()).length
  const messageID = (await messages())[0]!.info.id
  await server.client.session.revert({ sessionID, messageID })
  door.open()
  const [pass] = await held.world.store.list({ session_id: sessionID })
  await ended(pass!)
  await Bun.sleep(1_000)
  expect((await server.client.session.get({ sessionID })).data?.revert?.messageID).toBe(messageID)
  await server.client.session.unrevert({ sessionID })
  await until("the result", async () => ((await messages()).length > before ? true : undefined))
  expect((await messages()).slice(0, before).map(({ info }) => info.role)).toEqual(["user", "assistant", "assistant"])
  // Whoever has taken it back does not want a model to go on with it.
  expect(model.requests({ agent: "alice" })).toHaveLength(2)
})

test("a child that is stopped while its provider makes it wait is stopped", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      alice: [to("audit", "Slow down"), answerOf],
      audit: fault.rateLimit(60),
    },
  })
  const session = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session })
  const child = await until("the child", async () => {
    const [pass] = await held.world.store.list({ session_id: session })
    return pass?.child_session_id ?? undefined
  })
  const { directory } = (await server.client.session.get({ sessionID: child })).data!
  await until("its wait", async () => {
    const { data } = await server.client.session.status({ directory })
    return data?.[child]?.type === "retry" || undefined
  })
  await server.client.session.abort({ sessionID: child, directory })
  expect((await turn).text).toContain("E016")
  expect(model.requests({ agent: "audit" })).toHaveLength(1)
})

test("a no to a command leaves the question about a pass to be answered for itself", async () => {
  const { model, server, box, store } = held.world
  box.write(".opencode/pass-over.json", JSON.stringify({ defaults: { require_confirmation: true } }))
  model.play({
    agents: {
      scout: reply(to("audit", "May it start"), call("bash", { command: "echo hi", description: "say hi" })),
    },
  })
  const open = async () => (await server.client.permission.list()).data ?? []
  const session = (
    await server.client.session.create({ permission: [{ permission: "bash", pattern: "*", action: "ask" }] })
  ).data!.id
  const turn = server.prompt({ agent: "scout", text: "Go.", sessionID: session }).catch(() => {})
  const bash = await until("both questions", async () => {
    const list = await open()
    return list.length === 2 ? list.find(({ permission }) => permission === "bash") : undefined
  })
  await server.client.permission.reply({ requestID: bash.id, reply: "reject" })
  const again = await until("the question", async () =>
    (await open()).find(({ permission }) => permission === "pass_over_gate"),
  )
  expect(await store.gates({ status: ["pending"], kind: "confirmation" })).toHaveLength(1)
  await server.client.permission.reply({ requestID: again.id, reply: "reject" })
  await turn
  expect(await store.gates({ status: ["pending"], kind: "confirmation" })).toEqual([])
})
