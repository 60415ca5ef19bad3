import { expect, test } from "bun:test"
import type { LimitPreference } from "../../../src/pass-over/domain/limit"
import { standing, type Slot, type Turn } from "../../../src/pass-over/domain/queue"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"
import { settle } from "../support/fake-clock"

function world(limits: LimitPreference, more: PassOverPreferences = {}, options: EngineWorldOptions = {}): EngineWorld {
  const made = createEngineWorld(options)
  made.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences: { limits, ...more } })
  made.host.script("audit", async (child) => {
    await child.wait(1_000)
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.step({ input: 900, output: 100, cost: 0.4 })
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step({ input: 900, output: 100, cost: 0.4 })
    await child.told
  })
  return made
}

test("no more run at once than may; the next one starts when a place is free, in order of priority", async () => {
  using made = world({ running: 1 })
  const first = await started(made)
  const low = await started(made, { priority: "low" })
  const high = await started(made, { priority: "high" })
  await settle(20)
  expect(made.host.children.map((child) => child.pass.id)).toEqual([first.pass.id])
  expect([low.waiting, high.waiting]).toEqual(["queued, place 1", "queued, place 1"])
  await outcomeOf(made, high)
  await outcomeOf(made, low)
  expect(made.host.children.map((child) => child.pass.id)).toEqual([first.pass.id, high.pass.id, low.pass.id])
})

test("a place in line is nothing that a person is waited for", async () => {
  using made = world({ running: 1 })
  const first = await started(made)
  const second = await started(made)
  await made.clock.advance(500)
  const seen = new Map((await made.engine.store.lives()).map((live) => [live.pass_over_id, live]))
  expect(seen.get(second.pass.id)).toMatchObject({ phase: "starting", waits: 0, deadline_at: null })
  await outcomeOf(made, first)
  await outcomeOf(made, second)
})

test("where others start before it, a pass waits without its time running; one that ends meanwhile makes no child", async () => {
  using made = world({})
  const gates = [0, 1].map(() => Promise.withResolvers<void>())
  const over: number[] = []
  const turns = gates.map(({ promise }, index) => promise.then(() => ({ over: () => void over.push(index) })))
  made.host.startTurn = () => turns.shift() ?? { over: () => {} }
  const [first, second] = [await started(made, { timeout_ms: 60_000 }), await started(made, { timeout_ms: 60_000 })]
  await made.clock.advance(30_000)
  expect([first.waiting, first.remaining_ms]).toEqual(["waiting for others to start", 60_000])
  // Each view would hold up those that start.
  expect(made.host.shown).toEqual([])
  second.input({ type: "cancel", failure: { code: "E016", message: "cancelled by ada" } })
  expect((await outcomeOf(made, second)).error_code).toBe("E016")
  for (const { resolve } of gates) resolve()
  expect((await outcomeOf(made, first)).output.status).toBe("completed")
  expect(made.host.children.map((child) => child.pass.id)).toEqual([first.pass.id])
  // Nobody is to wait for the model of a child that was never made.
  expect(over).toEqual([1])
})

test("a busy host is shown nothing until it has time for it; the panel sees it all the same", async () => {
  using made = world({})
  const waits: number[] = []
  const calm = Promise.withResolvers<void>()
  made.host.calm = (most_ms) => {
    waits.push(most_ms)
    return calm.promise
  }
  const pass = await started(made)
  const steps = async () => (await made.engine.store.lives()).map(({ step }) => step)
  await made.clock.advance(500)
  expect(await steps()).toEqual([1])
  await made.clock.advance(1_000)
  expect({ waits, shown: made.host.shown }).toEqual({ waits: [5_000], shown: [] })
  // What has changed since is there too, though the host has been shown nothing yet.
  expect(await steps()).toEqual([2])
  calm.resolve()
  await settle()
  expect(made.host.shown.map(({ progress }) => progress.title)).toEqual([expect.stringContaining("step 2")])
  await outcomeOf(made, pass)
})

test("what a busy host had no time for is not shown when it is over", async () => {
  using made = world({})
  const calm = Promise.withResolvers<void>()
  made.host.calm = () => calm.promise
  await outcomeOf(made, await started(made))
  calm.resolve()
  await settle()
  expect(made.host.shown).toEqual([])
})

test("the last line of a child's transcript waits for a host that has time, but not whoever goes on with the child", async () => {
  using made = world({})
  const calm = Promise.withResolvers<void>()
  const first = await started(made)
  await outcomeOf(made, first)
  made.host.calm = () => calm.promise
  await made.clock.advance(2_000)
  expect(made.host.children[0]?.closed).toBeUndefined()
  calm.resolve()
  await settle()
  expect(made.host.children[0]?.closed).toBe("returned to alice: approved")

  const second = await started(made)
  await outcomeOf(made, second)
  made.host.calm = () => new Promise(() => {})
  await made.clock.advance(2_000)
  expect(made.host.children[1]?.closed).toBeUndefined()
  await started(made, { continue: second.pass.id })
  await settle(20)
  expect(made.host.children[1]?.closed).toBe("returned to alice: approved")
})

test("waiting in line does not burn the deadline", async () => {
  using made = world({ running: 1 })
  await started(made)
  const second = await started(made, { timeout_ms: 2_500 })
  await made.clock.advance(1_500)
  expect(second.remaining_ms).toBe(2_500)
  expect((await outcomeOf(made, second)).output.status).toBe("completed")
})

test("a pass that stands in line can be cancelled, and nobody waits behind it", async () => {
  using made = world({ running: 1 })
  const first = await started(made)
  const second = await started(made)
  const third = await started(made)
  second.input({ type: "cancel", failure: { code: "E016", message: "cancelled by ada" } })
  expect((await outcomeOf(made, second)).error_code).toBe("E016")
  expect((await outcomeOf(made, third)).output.status).toBe("completed")
  await outcomeOf(made, first)
  expect(made.host.children).toHaveLength(2)
})

test("caps hold for each subagent, and one that is full lets others by", async () => {
  using made = world({ running: 3, running_per_subagent: 1 })
  made.host.script("scout", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  await started(made)
  const full = await started(made)
  const other = await started(made, { subagent: "scout" })
  expect((await outcomeOf(made, other)).output.status).toBe("completed")
  expect(full.waiting).toBe("queued, place 1")
})

test("caps hold over two processes that share the database", async () => {
  using here = world({ running: 1 })
  using there = world({ running: 1 }, {}, { owner: "2", seed: 1_000, store: here.engine.store })
  await started(here)
  const second = await started(there)
  await settle(20)
  expect(there.host.children).toHaveLength(0)
  const [running] = here.engine.running.all()
  if (!running) throw new Error("nothing runs")
  await outcomeOf(here, running)
  there.engine.news.tell("elsewhere")
  expect((await outcomeOf(there, second)).output.status).toBe("completed")
})

test("a pass that waits for its own lends it its place: a cap of one does not lock a chain", async () => {
  using made = world({ running: 1 })
  const nested = Promise.withResolvers<string>()
  made.host.script("scout", async (child) => {
    const below = await started(made, {}, { agent: "scout", session_id: child.session_id, call_id: "call_nested" })
    const outcome = await below.outcome
    nested.resolve(outcome.output.status)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const above = await started(made, { subagent: "scout" })
  expect((await outcomeOf(made, above)).output.status).toBe("completed")
  expect(await nested.promise).toBe("completed")
})

test("a tree that has used up its passes gets no more, and is told what is left", async () => {
  using made = world({ tree: { passes: 1 } })
  made.host.script("scout", async (child) => {
    const refused = await made.ask({}, { agent: "scout", session_id: child.session_id, call_id: "call_nested" })
    await child.return({ decision: "approved", decision_reason: refused.ok ? "let in" : refused.refusal.message })
    child.step()
    await child.told
  })
  const runner = await started(made, { subagent: "scout" })
  const { output } = await outcomeOf(made, runner)
  expect(output.summary.decision_reason).toBe(
    "All passes of this tree together may use 1 passes; 1 passes are used or promised, 0 passes left.",
  )
  const lines = await made.engine.store.audit({ action: "refused" })
  expect(lines).toMatchObject([{ error_code: "E015" }])
  expect(lines[0]?.summary).toContain("for the user to say (pass-over config set limits tree.passes <most>)")
})

for (const [name, limits, more] of [
  ["max_tokens of its pair", {}, { pairs: { "alice->audit": { max_tokens: 500 } } }],
  ["max_cost of its subagent", {}, { subagents: { audit: { max_cost: 0.1 } } }],
  ["the tokens of its tree", { tree: { tokens: 500 } }, {}],
  ["the cost of its tree", { tree: { cost: 0.1 } }, {}],
] as const) {
  test(`a pass that uses more than ${name} is ended with E015, and what it did is kept`, async () => {
    using made = world(limits, more)
    const outcome = await outcomeOf(made, await started(made))
    expect(outcome.error_code).toBe("E015")
    expect(outcome.output.status).toBe("partial")
    expect(outcome.output.artifacts.map((artifact) => artifact.type)).toContain("tool_result")
    expect(made.host.children[0]?.stopped).toBeGreaterThan(0)
  })
}

test("what a pass may use is reserved before it starts, so that two cannot both have it", async () => {
  using made = world({ tree: { tokens: 5_000 } }, { pairs: { "scout->audit": { max_tokens: 3_000 } } })
  const answers: string[] = []
  made.host.script("scout", async (child) => {
    const caller = { agent: "scout", session_id: child.session_id }
    const one = await made.ask({ wait: false }, { ...caller, call_id: "call_1" })
    const two = await made.ask({ wait: false }, { ...caller, call_id: "call_2" })
    answers.push(one.ok ? "ok" : one.refusal.code, two.ok ? "ok" : two.refusal.code)
    if (one.ok) await one.runner.outcome
    // What it did not use is free again when it has ended.
    const three = await made.ask({ wait: false }, { ...caller, call_id: "call_3" })
    answers.push(three.ok ? "ok" : three.refusal.code)
    if (three.ok) await three.runner.outcome
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  await outcomeOf(made, await started(made, { subagent: "scout" }))
  expect(answers).toEqual(["ok", "E015", "ok"])
})

test("a pass in line is told its place and what it waits for", () => {
  const slot = (id: string, more: Partial<Slot> = {}): Slot => ({
    pass_over_id: id,
    parent_pass_id: null,
    root_session_id: "ses",
    wait: false,
    subagent: "audit",
    model: "p/m",
    priority: "medium",
    state: "queued",
    time_created: 0,
    ...more,
  })
  const limits = { running: 3, running_per_subagent: 2, running_per_model: 2, tree: {} }
  const runs = (...more: Partial<Slot>[]) => more.map((one, index) => slot(`r${index}`, { state: "running", ...one }))
  const at = (slots: Slot[], more: Partial<Turn> = {}) => standing(slots, "x", { limits, now: 0, ...more })
  const scout = { subagent: "scout", model: "q/m" }
  expect(at([...runs({}, {}, scout), slot("x")])).toEqual({ place: 1, what: "running", limit: 3 })
  expect(at([...runs({}, { model: null }), slot("x")])).toEqual({ place: 1, what: "subagent", limit: 2 })
  expect(at([...runs({ subagent: "a" }, { subagent: "b" }), slot("x")])).toEqual({ place: 1, what: "model", limit: 2 })
  const cooling = new Map([["p", 1]])
  expect(at([...runs({ subagent: "a" }), slot("x")], { cooling })).toEqual({ place: 1, what: "provider", limit: 1 })
  expect(at([slot("w", { priority: "high" }), slot("x")])).toEqual({ place: 2, what: "line", limit: 0 })
  expect(at([slot("x", { state: "running" })])).toBeUndefined()
  expect(at([])).toBeUndefined()
})
