import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { call, eachSession, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(60_000)

const held = {} as { world: World }

beforeAll(async () => {
  const other = {
    name: "Other",
    tool_call: true,
    reasoning: true,
    limit: { context: 200_000, output: 8_000 },
    cost: { input: 10, output: 100, cache_read: 5 },
  }
  const hawk = { mode: "subagent", description: "Looks", prompt: "You look.", model: "rehearsal/other", variant: "low" }
  held.world = await createWorld({ config: { agent: { hawk }, provider: { rehearsal: { models: { other } } } } })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective: "Review src/total.ts", reason: "code_review", ...more })

const OTHER = { providerID: "rehearsal", modelID: "other" }

/** The session of the child that an agent works in. */
const childOf = async (sessionID: string, agent: string) => {
  const { data = [] } = await held.world.server.client.session.children({ sessionID })
  return data.find((child) => child.agent === agent)!.id
}

const finding = {
  severity: "error",
  category: "logic_error",
  message: "it subtracts",
  path: "src/total.ts",
  line: 1,
  suggested_fix: "a + b",
}

const verdict = (more: Record<string, unknown> = {}) =>
  call("pass_over_return", { status: "completed", decision: "needs_modification", findings: [finding], ...more })

const usage = { usage: { input: 1_000, output: 50, reasoning: 10, cached: 200 } }

test("alice passes work to audit and gets one typed outcome back", async () => {
  const { model, server, box, store } = held.world
  model.play({
    agents: {
      alice: [
        handover({ files: ["src/total.ts"] }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      audit: [reply(call("read", { filePath: join(box.project, "src/total.ts") }), usage), reply(verdict(), usage)],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Please review the total." })

  const opened = openEnvelope(answer.text)
  expect(opened?.headline).toMatch(/^UNVERIFIED · audit: needs_modification · 1 finding · [\d.]+ (ms|s)$/)
  expect(opened?.body).toMatchObject({
    status: "completed",
    decision: "needs_modification",
    findings: [{ severity: "error", at: "src/total.ts:1", message: "it subtracts", suggested_fix: "a + b" }],
    tool_results: 1,
  })

  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass).toMatchObject({
    originating_agent_id: "alice",
    subagent_id: "audit",
    objective: "Review src/total.ts",
    reason: "code_review",
    chain_depth: 1,
    ancestors: ["alice"],
    policy: "shipped",
    timeout_ms: 600_000,
    model: expect.stringContaining("/"),
  })
  const outcome = await store.outcome(pass!.id)
  expect(outcome?.output).toMatchObject({
    work_id: pass!.id,
    return_to: "alice",
    status: "completed",
    summary: {
      decision: "needs_modification",
      findings: ["src/total.ts:1 it subtracts"],
      files_reviewed: 1,
      issues_found: 1,
    },
    metadata: { chain_depth: 1, applied: false, policy_name: "shipped" },
  })
  expect(outcome?.output.artifacts.map((artifact) => artifact.type)).toEqual(["finding", "tool_result"])
  // Tokens of every step of the child, the one that returned included: its step was allowed to finish.
  expect(outcome?.usage).toMatchObject({ input: 2_000, output: 100, reasoning: 20, cache_read: 400 })
  // No request was made of the child's model after it had returned.
  expect(model.requests({ agent: "audit" })).toHaveLength(2)
})

test("a child works with the model that its originator works with, unless the call names another", async () => {
  const { model, server, store } = held.world
  const asked = async (modelID: string | undefined, more: Record<string, unknown> = {}) => {
    model.play({
      agents: { alice: [handover({ objective: `Work with ${modelID}`, ...more }), say("done")], audit: verdict() },
    })
    const chosen = modelID === undefined ? {} : { model: { providerID: "rehearsal", modelID } }
    const answer = await server.prompt({ agent: "alice", text: "Go.", ...chosen })
    const [pass] = await store.list({ session_id: answer.sessionID })
    return [pass?.model, ...new Set(model.requests({ agent: "audit" }).map((request) => request.model))]
  }
  expect(await asked(undefined)).toEqual(["rehearsal/script", "script"])
  expect(await asked("other")).toEqual(["rehearsal/other", "other"])
  expect(await asked("other", { model: "rehearsal/script" })).toEqual(["rehearsal/script", "script"])
})

test("a child works with the variant that the user works with now, unless its agent or the call names another", async () => {
  const { model, server, store } = held.world
  const { id: sessionID } = (await server.client.session.create()).data!
  const asked = async (variant: string | undefined, more: Record<string, unknown> = {}) => {
    const objective = `Work with ${variant} ${JSON.stringify(more)}`
    const subagent = more["subagent"] === "hawk" ? "hawk" : "audit"
    model.play({ agents: { alice: [handover({ objective, ...more }), say("done")], [subagent]: verdict() } })
    await server.prompt({ agent: "alice", text: "Go.", sessionID, ...(variant === undefined ? {} : { variant }) })
    const [pass] = (await store.list({ session_id: sessionID })).filter((one) => one.objective === objective)
    return [pass?.model, model.requests({ agent: subagent })[0]?.body["reasoning_effort"]]
  }
  expect(await asked("high")).toEqual(["rehearsal/script#high", "high"])
  // After a switch it is the new one, from the first step on.
  expect(await asked("low")).toEqual(["rehearsal/script#low", "low"])
  expect(await asked("high", { model: "rehearsal/script#medium" })).toEqual(["rehearsal/script#medium", "medium"])
  expect(await asked("high", { subagent: "hawk" })).toEqual(["rehearsal/other#low", "low"])
  expect(await asked(undefined)).toEqual(["rehearsal/script", undefined])
})

test("while a child works, the call that it works for shows its step, what it has used, its time and the chain", async () => {
  const { model, server, box } = held.world
  const [door, began] = [gate(), performance.now()]
  const back = call("pass_over_return", { decision: "approved", decision_reason: "done" })
  const ask = { objective: "Judge it slowly", reason: "test" }
  model.play({
    agents: {
      alice: [call("pass_over", { subagent: "scout", objective: "Look slowly", reason: "test" }), say("done")],
      scout: [reply(call("pass_over", { subagent: "audit", ...ask }), usage), back],
      audit: [reply(call("read", { filePath: join(box.project, "src/total.ts") }), usage), reply(hold(door), back)],
    },
  })
  const { id: sessionID } = (await server.client.session.create()).data!
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID, model: OTHER })
  await door.reached
  const [scout, audit] = await Promise.all([childOf(sessionID, "scout"), childOf(sessionID, "audit")])
  const shown = (of: string, step: number) =>
    until(`step ${step}`, async () => {
      const messages = (await server.client.session.messages({ sessionID: of })).data ?? []
      const { status, title, metadata } = toolCalls(messages, "pass_over")[0]?.state ?? {}
      const there = status === "running" && metadata?.["phase"] === "working" && metadata["step"] === step
      return there ? { title, metadata } : undefined
    })
  const working = { attempt: 1, waiting_for: null }
  const above = await shown(sessionID, 1)
  expect(above.title).toMatch(/^scout working · step 1 · [\d.]+ m?s$/)
  expect(above.metadata).toMatchObject({ ...working, sessionId: scout, chain: "alice → scout", tokens: 0, cost: 0 })
  const below = await shown(scout, 2)
  expect(below.title).toMatch(/^audit working · step 2 · 1,060 tokens · \$0\.02 · [\d.]+ m?s$/)
  expect(below.metadata).toMatchObject({
    ...working,
    sessionId: audit,
    chain: "alice → scout → audit",
    tokens: 1_060,
    cost: 0.017,
    pass_over: { originating_agent: "scout", subagent: "audit", reason: "test" },
  })
  const elapsed = below.metadata?.["elapsed_ms"]
  expect(elapsed).toBeGreaterThan(0)
  expect(elapsed).toBeLessThan(performance.now() - began)
  door.open()
  await turn
})

test("the return context moves to processed once the result stands in the originator's session", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [handover({ objective: "Check the exports" }), say("done")], audit: verdict() } })
  const answer = await server.prompt({ agent: "alice", text: "Check." })
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass?.status).toBe("processed")
  const audit = await store.audit({ pass_over_id: pass!.id })
  expect(audit.toReversed().map((line) => line.action)).toEqual(["requested", "dispatched", "returned", "processed"])
})

test("the log of the project has a line for each change, and git does not see it", async () => {
  const { model, server, box } = held.world
  model.play({ agents: { alice: [handover({ objective: "Check the log" }), say("done")], audit: verdict() } })
  const answer = await server.prompt({ agent: "alice", text: "Check." })
  const folder = `.opencode/pass-over-logs/${new Date().toISOString().slice(0, 7)}`
  const path = `${folder}/session-${answer.sessionID}-passes.jsonl`
  const written = () => (existsSync(join(box.project, path)) ? box.read(path).trimEnd().split("\n") : [])
  await eventually(
    async () => written(),
    (lines) => lines.length >= 4,
  )
  const lines = written().map((line) => JSON.parse(line))
  expect(lines.map((line) => line.action)).toEqual(["requested", "dispatched", "returned", "processed"])
  expect(lines.at(-1)).toMatchObject({
    originating_agent: "alice",
    subagent: "audit",
    status: "completed",
    returned: true,
  })
  expect(lines[0]).toMatchObject({ status: null, completed_at: null, started_at: null })
  expect(box.git("status", "--porcelain")).toBe("")
})

test("the child session hangs on the originator's, is titled for opencode's navigation and ends with its return", async () => {
  const { model, server } = held.world
  model.play({ agents: { alice: [handover({ objective: "Look at the types" }), say("done")], audit: verdict() } })
  const answer = await server.prompt({ agent: "alice", text: "Check." })
  const [child] = (await server.client.session.children({ sessionID: answer.sessionID })).data ?? []
  expect(child).toMatchObject({
    parentID: answer.sessionID,
    title: "Look at the types (@audit subagent)",
    agent: "audit",
  })
  const closing = async () => {
    const messages = (await server.client.session.messages({ sessionID: child!.id })).data ?? []
    return messages.at(-1)?.parts.at(-1)
  }
  const part = await eventually(closing, (last) => last?.type === "text")
  expect(part).toMatchObject({
    type: "text",
    text: "returned to alice: needs_modification",
    synthetic: true,
    metadata: { pass_over_return: { return_to: "alice", work_output: { status: "completed" } } },
  })
})

test("the child is told its objective, its context as fenced data, and what to give back", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      alice: [
        handover({
          background: "It ships tomorrow.",
          constraints: ["read_only"],
          files: ["src/total.ts"],
          objective: "Prove the total",
        }),
        say("done"),
      ],
      audit: verdict(),
    },
  })
  await server.prompt({ agent: "alice", text: "The total looks wrong to me." })
  const [request] = model.requests({ agent: "audit" })
  expect(request?.user).toContain("# Objective\nProve the total")
  expect(request?.user).toContain("# Background\nIt ships tomorrow.")
  expect(request?.user).toContain("- read_only")
  expect(request?.user).toMatch(
    /<<pass-over-context [0-9a-f]{32}\n[^]*The total looks wrong to me\.[^]*a - b[^]*pass-over-context>>/,
  )
  expect(request?.user).toContain("call pass_over_return exactly once")
})

test("originators see the tools for passing, a child sees the return, and nobody else sees any", async () => {
  const { model, server } = held.world
  const ours = (request: ModelRequest) =>
    request.tools.map((tool) => tool.name).filter((name) => name.startsWith("pass_over"))
  model.play({
    agents: {
      alice: [handover({ objective: "Look at the tools" }), say("done")],
      audit: verdict(),
      build: [call("task", { description: "look", prompt: "look", subagent_type: "general" }), say("done")],
      general: say("I looked"),
    },
  })
  await server.prompt({ agent: "alice", text: "Go." })
  await server.prompt({ agent: "build", text: "Go." })
  const seen = (agent: string) => ours(model.requests({ agent })[0]!)
  expect(seen("alice")).toEqual(["pass_over", "pass_over_read", "pass_over_review"])
  expect(seen("audit")).toEqual(["pass_over_return"])
  expect(seen("build")).toEqual(["pass_over", "pass_over_read", "pass_over_review"])
  expect(seen("general")).toEqual([])
  const names = (agent: string) => model.requests({ agent })[0]!.tools.map((tool) => tool.name)
  expect(names("alice")).not.toContain("task")
  expect(names("build")).toContain("task")
  expect(names("audit")).not.toContain("edit")
})

test("a mention of an agent in a prompt to an originator leads to a pass", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      build: [
        (request: ModelRequest) =>
          request.user.includes("call pass_over with subagent: audit")
            ? handover({ objective: "As mentioned" })
            : say("no pass"),
        say("done"),
      ],
      audit: verdict(),
    },
  })
  const { id } = (await server.client.session.create()).data!
  const parts = [
    { type: "text" as const, text: "Look at this @audit" },
    { type: "agent" as const, name: "audit" },
  ]
  await server.client.session.prompt({ sessionID: id, agent: "build", parts })
  expect(model.requests({ agent: "build" })[0]?.user).not.toContain("task tool")
})

test("several passes in one turn run side by side and are not mixed up", async () => {
  const { model, server, store } = held.world
  const names = ["one", "two", "three"]
  model.play({
    agents: {
      alice: [reply(...names.map((name) => handover({ objective: `Look at ${name}` }))), say("done")],
      audit: eachSession([
        (request: ModelRequest) =>
          verdict({ findings: [{ ...finding, message: /Look at (\w+)/.exec(request.user)?.[1] ?? "?" }] }),
      ]),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const passes = await store.list({ session_id: answer.sessionID })
  expect(passes).toHaveLength(3)
  const found = await Promise.all(
    passes.map(async (pass) => [pass.objective, (await store.outcome(pass.id))?.output.summary.findings]),
  )
  expect(found).toEqual(passes.map((pass) => [pass.objective, [`src/total.ts:1 ${pass.objective.split(" ").at(-1)}`]]))
  const answers = toolCalls(answer.messages, "pass_over").map((part) => openEnvelope(part.state.output ?? "")?.body)
  expect(answers).toHaveLength(3)
})

async function eventually<T>(read: () => Promise<T>, ok: (value: T) => boolean, left = 50): Promise<T> {
  const value = await read()
  if (ok(value) || left === 0) return value
  await Bun.sleep(40)
  return eventually(read, ok, left - 1)
}
