import { expect, test } from "bun:test"
import { sentence } from "../../../src/pass-over/domain/errors"
import type { Runner } from "../../../src/pass-over/service/runner"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

test("a child that returns ends its pass at the end of its step, with everything it cost", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.step({ input: 100, output: 10, cost: 0.01 })
    await child.wait(1_000)
    expect(await child.return(VERDICT)).toStartWith("Received.")
    await child.wait(500)
    child.step({ input: 200, output: 20, cost: 0.02 })
    await child.told
  })
  const runner = await started(world)
  const { output, usage } = await outcomeOf(world, runner)
  expect(output).toMatchObject({
    status: "completed",
    summary: { decision: "approved", files_reviewed: 1 },
    return_to: "alice",
  })
  expect(output.metadata).toMatchObject({ wall_time_ms: 1_500, chain_depth: 1 })
  expect(usage).toMatchObject({ input: 300, output: 30, cost: 0.03 })
  expect(await world.engine.store.find(runner.pass.id)).toMatchObject({ status: "returned" })
  expect(world.host.children[0]).toMatchObject({ stopped: 1 })
  await world.clock.advance(2_000)
  expect(world.host.children[0]?.closed).toBe("returned to alice: approved")
})

test("whose opencode it is stands in the pass and in every line of it, those of a refusal too", async () => {
  using world = createEngineWorld()
  Object.assign(world.engine, { user_id: "grace" })
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const runner = await started(world)
  await outcomeOf(world, runner)
  await world.ask({ subagent: "nobody" })
  expect(await world.engine.store.find(runner.pass.id)).toMatchObject({ user_id: "grace" })
  const lines = await world.engine.store.audit({})
  expect(new Set(lines.map(({ action }) => action))).toEqual(
    new Set(["requested", "dispatched", "returned", "refused"]),
  )
  expect(lines.map(({ user_id }) => user_id)).toEqual(lines.map(() => "grace"))
})

test("a child that stops without a return is asked for it once, with only that tool open", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    if (child.prompt.kind === "first") {
      child.say("I think it is fine.")
      return
    }
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(output.status).toBe("completed")
  expect(world.host.prompts.map((prompt) => prompt.kind)).toEqual(["first", "finalise"])
  expect(world.host.children[0]?.narrowed).toBe(true)
})

test("a child that never returns leaves what it did, marked partial, with what is missing", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    if (child.prompt.kind === "finalise") return
    child.tool("grep", { pattern: "total" }, "src/total.ts:1")
    child.say("The sign is wrong in src/total.ts.")
  })
  const { output, error_code } = await outcomeOf(world, await started(world))
  expect(error_code).toBe("E021")
  expect(output).toMatchObject({ status: "partial", auto_apply_allowed: false })
  expect(output.completion_reason).toContain("missing: its own decision and findings")
  expect(output.artifacts).toMatchObject([
    { type: "message", content: "The sign is wrong in src/total.ts." },
    { type: "tool_result", tool_name: "grep" },
  ])
})

test("a malformed return is answered so that the child can repair it, and nothing is lost", async () => {
  using world = createEngineWorld()
  const answers: string[] = []
  world.host.script("audit", async (child) => {
    answers.push(await child.return({ status: "done", findings: "none" }))
    answers.push(await child.return({ status: "completed" }))
    answers.push(await child.return(VERDICT))
    answers.push(await child.return({ ...VERDICT, decision: "rejected" }))
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(answers[0]).toMatch(/^E021 The return is not valid:[^]*status/)
  expect(answers[1]).toStartWith("E021 The return says nothing")
  expect(answers[2]).toStartWith("Received.")
  expect(answers[3]).toStartWith("E040 You have returned already")
  expect(output.summary.decision).toBe("approved")
})

test("the wall clock ends a pass and keeps what the child had done", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    for (;;) {
      child.tool("read", { filePath: "a.ts" }, "1: a")
      await child.wait(1_000)
      if (child.stopped) return
    }
  })
  const runner = await started(world, { timeout_ms: 5_500 })
  const { output, error_code } = await outcomeOf(world, runner)
  expect(error_code).toBe("E010")
  expect(output.status).toBe("partial")
  expect(output.artifacts).toHaveLength(6)
  expect(output.metadata.wall_time_ms).toBe(5_500)
  expect(await world.engine.store.find(runner.pass.id)).toMatchObject({ status: "timed_out" })
  expect(world.host.children[0]?.stopped).toBeGreaterThan(0)
})

test("a child from which nothing comes is stopped and told to go on, while a quarter of the time is left", async () => {
  using world = createEngineWorld()
  world.preferences.push({
    origin: "project",
    path: "p",
    preferences: { defaults: { timeout_ms: 100_000, idle_timeout_ms: 10_000 } },
  })
  world.host.script("audit", async (child) => {
    if (child.prompt.kind === "first") {
      child.tool("bash", { command: "make" }, "ok")
      await child.told
      return { failure: { code: "E016", message: "its session was stopped" } }
    }
    await child.return(VERDICT)
    child.step({ input: 5 })
    await child.told
    return {}
  })
  const runner = await started(world)
  const { output } = await outcomeOf(world, runner)
  expect(output.status).toBe("completed")
  const attempts = await world.engine.store.attempts(runner.pass.id)
  expect(attempts.map(({ kind, error_code }) => ({ kind, error_code }))).toEqual([
    { kind: "first", error_code: "E010" },
    { kind: "continue", error_code: null },
  ])
  expect(world.host.children).toHaveLength(1)
})

test("time that a person takes to answer does not count", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await child.wait(1_000)
    child.ask("per_1")
    await child.wait(3_600_000)
    child.answered("per_1")
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world, { timeout_ms: 10_000 }))
  expect(output.status).toBe("completed")
  expect(output.metadata).toMatchObject({ wall_time_ms: 3_602_000, subagent_compute_ms: 2_000 })
})

test("a wall clock that jumps an hour either way changes nothing", async () => {
  for (const jump of [3_600_000, -3_600_000]) {
    using world = createEngineWorld()
    world.host.script("audit", async (child) => {
      await child.wait(2_000)
      world.clock.shift(jump)
      await child.wait(2_000)
      await child.return(VERDICT)
      child.step()
      await child.told
    })
    const { output } = await outcomeOf(world, await started(world, { timeout_ms: 10_000 }))
    expect(output.status).toBe("completed")
    expect(output.metadata.wall_time_ms).toBe(4_000)
  }
})

test("a provider that fails is tried again in the same session, and the originator gets one outcome", async () => {
  using world = createEngineWorld()
  const left = { failures: 2 }
  world.host.script("audit", async (child) => {
    if (left.failures-- > 0) return { failure: { code: "E011", message: "the provider failed: 503" } }
    await child.return(VERDICT)
    child.step()
    await child.told
    return {}
  })
  const runner = await started(world)
  const { output } = await outcomeOf(world, runner)
  expect(output.status).toBe("completed")
  expect((await world.engine.store.attempts(runner.pass.id)).map((attempt) => attempt.error_code)).toEqual([
    "E011",
    "E011",
    null,
  ])
  expect(world.host.prompts.map((prompt) => prompt.kind)).toEqual(["first", "continue", "continue"])
})

test("a failure that trying again cannot help ends the pass at once", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async () => ({
    failure: { code: "E011", message: "the provider refused the key", final: true },
  }))
  const { output, error_code } = await outcomeOf(world, await started(world))
  expect(error_code).toBe("E011")
  expect(output).toMatchObject({ status: "failed", summary: { findings: [] } })
  expect(output.completion_reason).toContain("nothing of its work could be kept")
})

test("a session that is gone is replaced only where the child has done nothing yet", async () => {
  for (const touched of [false, true]) {
    using world = createEngineWorld()
    world.host.script("audit", async (child) => {
      if (world.host.children.length === 1) {
        if (touched) child.tool("bash", { command: "make" }, "ok")
        return { session_gone: true, failure: { code: "E011", message: "its session was deleted" } }
      }
      await child.return(VERDICT)
      child.step()
      await child.told
      return {}
    })
    const { output } = await outcomeOf(world, await started(world))
    expect(output.status).toBe(touched ? "failed" : "completed")
    expect(world.host.children).toHaveLength(touched ? 1 : 2)
  }
})

test("a nested pass gets no more time than its caller has left, and ends with it", async () => {
  using world = createEngineWorld()
  const nested = {} as { runner: Runner }
  world.host.script("scout", async (child) => {
    await child.wait(4_000)
    nested.runner = await started(world, { subagent: "audit" }, { agent: "scout", session_id: child.session_id })
    await child.told
  })
  world.host.script("audit", async (child) => child.told)
  const runner = await started(world, { subagent: "scout", timeout_ms: 10_000 })
  const { output } = await outcomeOf(world, runner)
  expect(output.status).toBe("aborted")
  expect(nested.runner.pass).toMatchObject({
    timeout_ms: 6_000,
    chain_depth: 2,
    ancestors: ["alice", "scout"],
    parent_pass_id: runner.pass.id,
  })
  const inner = await outcomeOf(world, nested.runner)
  expect(["E010", "E016"]).toContain(inner.error_code!)
  expect(world.engine.running.all()).toEqual([])
})

test("the line of a refusal says what was said: why, what to do, the chain and how deep it would have been", async () => {
  using world = createEngineWorld()
  for (const agent of ["scout", "audit"]) world.host.script(agent, async (child) => child.told)
  const below = async (agent: string) => {
    await settle(20)
    return { agent, session_id: world.host.children.at(-1)!.session_id }
  }
  await started(world, { subagent: "scout" })
  await started(world, { subagent: "audit" }, await below("scout"))
  const sent = await world.ask({ subagent: "inspector" }, await below("audit"))
  if (sent.ok) throw new Error("it was not refused")
  const { refusal, pass_over_id } = sent
  const [line] = await world.engine.store.audit({ pass_over_id })
  expect(line?.summary).toBe(sentence(refusal))
  expect(line?.detail?.error).toEqual({
    code: "E002",
    name: "CHAIN_DEPTH_EXCEEDED",
    message: "The chain would be 4 agents long and 3 are allowed (alice → scout → audit → inspector).",
    recoverable: false,
    suggested_action: refusal.suggestion,
    detail: { chain: ["alice", "scout", "audit", "inspector"], max_chain_depth: 3 },
    context: {
      session_id: expect.any(String),
      from_agent: "audit",
      to_agent: "inspector",
      chain_depth: 3,
    },
  })
  expect(refusal.suggestion).toContain("Do this part yourself")
})

test("every refusal is recorded with its code and who was refused", async () => {
  using world = createEngineWorld()
  world.preferences.push({
    origin: "project",
    path: "p.json",
    preferences: { pairs: { "alice->scout": { enabled: false, reason: "not here" } } },
  })
  const codes: string[] = []
  for (const subagent of ["nobody", "build", "scout"]) {
    const sent = await world.ask({ subagent })
    if (!sent.ok) codes.push(sent.refusal.code)
  }
  expect(codes).toEqual(["E001", "E001", "E004"])
  const audit = await world.engine.store.audit({ session_id: "ses_root" })
  expect(audit.map((line) => [line.action, line.subagent, line.error_code])).toEqual([
    ["refused", "scout", "E004"],
    ["refused", "build", "E001"],
    ["refused", "nobody", "E001"],
  ])
  expect(audit[0]?.summary).toContain("not here")
})

test("the chain of an outcome names each agent with the time of the pass that it made, and a return only where there was one", async () => {
  using world = createEngineWorld()
  const nested: { runner?: Runner; late?: Runner } = {}
  world.host.script("audit", async (child) => {
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  world.host.script("inspector", async (child) => child.told)
  world.host.script("scout", async (child) => {
    await child.wait(2_000)
    const caller = { agent: "scout", session_id: child.session_id }
    nested.runner = await started(world, { subagent: "audit" }, caller)
    await nested.runner.outcome
    nested.late = await started(world, { subagent: "inspector", timeout_ms: 1_000 }, caller)
    await nested.late.outcome
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const began = world.clock.now()
  await outcomeOf(world, await started(world, { subagent: "scout" }))
  const chainOf = async (of: Runner | undefined) =>
    (await world.engine.store.outcome(of!.pass.id))?.output.metadata.origination_chain.map(
      ({ agent_id, action, timestamp }) => [agent_id, action, timestamp - began],
    )
  const [returned, late] = [await chainOf(nested.runner), await chainOf(nested.late)]
  const made = nested.runner!.pass.time_created - began
  expect(made).toBeGreaterThanOrEqual(2_000)
  expect(returned).toEqual([
    ["alice", "initiated", 0],
    ["scout", "delegated", made],
    ["audit", "returned", expect.any(Number)],
  ])
  expect(returned?.[2]?.[2]).toBeGreaterThanOrEqual(made + 1_000)
  expect(late).toEqual([
    ["alice", "initiated", 0],
    ["scout", "delegated", nested.late!.pass.time_created - began],
  ])
})
