import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, eachSession, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { createFolder } from "../support/folder"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(60_000)

const held = {} as { world: World }
const folder = createFolder()
/** While this file is there, opencode stops nobody. */
const busy = folder.at("busy")
const digs = { mode: "subagent", description: "Digs", prompt: "You dig." }
const deep = { max_chain_depth: 5 }

beforeAll(async () => {
  // The user's own agents take part like ours: dora originates because a pair names her.
  held.world = await createWorld({
    config: { agent: { dora: digs, erin: digs, finn: digs } },
    preferences: {
      pairs: {
        "dora->audit": {},
        "dora->alice": {},
        "dora->*": {},
        "dora->scout": {},
        "alice->erin": deep,
        "erin->finn": deep,
        "finn->*": deep,
      },
    },
    plugins: [[join(import.meta.dir, "../support/slow-stop.ts"), { while: busy }]],
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => {
  expect(await endWorld(held.world)).toEqual([])
  folder[Symbol.dispose]()
})

const to = (subagent: string, objective = "Look into it", more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent, objective, reason: "because", ...more })
const back = (decision_reason = "done") => call("pass_over_return", { decision: "approved", decision_reason })
const answerOf = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")
const backWithAnswer = (request: ModelRequest) => back(request.result("pass_over")?.slice(0, 400) ?? "nothing")

test("a chain of three agents runs, and each outcome reaches the agent that asked", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: { alice: [to("scout"), answerOf], scout: [to("audit", "Judge it"), backWithAnswer], audit: back("fine") },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toContain("scout: approved")
  const passes = await store.list({ root_session_id: answer.sessionID })
  expect(passes.map(({ ancestors, subagent_id, chain_depth }) => ({ ancestors, subagent_id, chain_depth }))).toEqual([
    { ancestors: ["alice"], subagent_id: "scout", chain_depth: 1 },
    { ancestors: ["alice", "scout"], subagent_id: "audit", chain_depth: 2 },
  ])
  expect(passes[1]).toMatchObject({ parent_pass_id: passes[0]!.id, trace_id: passes[0]!.id })
  // Both hang on the root session: a question of a grandchild would otherwise be shown to nobody.
  const children = (await server.client.session.children({ sessionID: answer.sessionID })).data ?? []
  expect(children.map((child) => child.id).toSorted()).toEqual(passes.map((pass) => pass.child_session_id!).toSorted())
})

test("the last agent of a full chain is not even shown the tool", async () => {
  const { model } = held.world
  model.play({
    agents: { alice: [to("dora"), say("done")], dora: [to("scout", "Find it"), backWithAnswer], scout: back() },
  })
  await held.world.server.prompt({ agent: "alice", text: "Go." })
  const names = model.requests({ agent: "scout" })[0]!.tools.map((tool) => tool.name)
  expect(names).toContain("pass_over_return")
  expect(names).not.toContain("pass_over")
})

for (const [name, chain, target, code, words] of [
  ["itself", "dora", "dora", "E003", "cannot pass work to itself"],
  ["back to the agent that asked it", "dora", "alice", "E003", "Ping-pong: alice passed this work to dora"],
] as const) {
  test(`an agent that passes work to ${name} is refused with a sentence that it can act on`, async () => {
    const { model, server, store } = held.world
    const refused: string[] = []
    model.play({
      agents: {
        alice: [to(chain, `Try ${name}`), say("done")],
        [chain]: [
          to(target, "Again"),
          (request: ModelRequest) => (refused.push(request.result("pass_over") ?? ""), back()),
        ],
      },
    })
    const answer = await server.prompt({ agent: "alice", text: "Go." })
    expect(refused[0]).toStartWith(`Not done. ${code}`)
    expect(refused[0]).toContain(words)
    expect(refused[0]).toContain(" → ")
    expect(await store.list({ root_session_id: answer.sessionID })).toHaveLength(1)
  })
}

test("a longer circle is refused with the chain that it would close, where a chain may be that long", async () => {
  const { model, server, store } = held.world
  const refused: string[] = []
  model.play({
    agents: {
      alice: [to("erin"), say("done")],
      erin: [to("finn", "Go on"), backWithAnswer],
      finn: [
        to("alice", "Do it"),
        (request: ModelRequest) => (refused.push(request.result("pass_over") ?? ""), back()),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(refused).toEqual([
    'Not done. E003 CYCLE_DETECTED: alice is already in this chain (alice → erin → finn → alice). → Choose an agent that is not in the chain yet, or return what you have to the agent that asked you; "enabled": false rules a pair out.',
  ])
  expect((await store.list({ root_session_id: answer.sessionID })).map(({ subagent_id }) => subagent_id)).toEqual([
    "erin",
    "finn",
  ])
})

test("a nested pass gets what is left of its caller's time, however much it asks for", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: {
      alice: [to("scout", "Look a while", { timeout_ms: 20_000 }), say("done")],
      scout: [to("audit", "Judge a while", { timeout_ms: 500_000 }), backWithAnswer],
      audit: back(),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [above, below] = await store.list({ root_session_id: answer.sessionID })
  expect(above?.timeout_ms).toBe(20_000)
  expect(below?.timeout_ms).toBeLessThan(20_000)
  expect(below?.timeout_ms).toBeGreaterThan(1_000)
})

test("an agent whose own time is up passes nothing on, however late opencode stops it", async () => {
  const { model, server, store } = held.world
  const door = gate()
  const refused: string[] = []
  model.play({
    agents: {
      alice: [to("scout", "Look briefly", { timeout_ms: 1_500 }), say("done")],
      scout: [
        reply(hold(door), to("audit", "Judge late", { wait: false })),
        (request: ModelRequest) => (refused.push(request.result("pass_over") ?? ""), say("too late")),
      ],
    },
  })
  writeFileSync(busy, "")
  const answer = await server.prompt({ agent: "alice", text: "Go." }).finally(() => door.open())
  await until("the refusal", async () => refused[0])
  rmSync(busy)
  expect(refused).toEqual([
    "Not done. E010 SUBAGENT_TIMEOUT: scout's own time is up, so audit would have none. → Return what you have now with pass_over_return.",
  ])
  const passes = await store.list({ root_session_id: answer.sessionID })
  expect(passes.map(({ subagent_id, status }) => [subagent_id, status])).toEqual([["scout", "timed_out"]])
})

test("the same objective to the same agent is refused the fourth time in a session tree", async () => {
  const { model, server, store } = held.world
  const again = to("audit", "Review  src/total.ts")
  model.play({ agents: { alice: [again, again, again, again, answerOf], audit: eachSession([back()]) } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toStartWith("Not done. E003 CYCLE_DETECTED: Repetition:")
  expect(toolCalls(answer.messages, "pass_over").map((part) => part.state.output?.split(":")[0])).toEqual([
    "UNVERIFIED · audit",
    "UNVERIFIED · audit",
    "UNVERIFIED · audit",
    "Not done. E003 CYCLE_DETECTED",
  ])
  expect(await store.list({ root_session_id: answer.sessionID })).toHaveLength(3)
})
