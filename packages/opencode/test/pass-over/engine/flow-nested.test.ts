import { describe, expect, test } from "bun:test"
import { parse } from "yaml"
import { both } from "../../../src/pass-over/domain/override"
import { HandoffPackage } from "../../../src/pass-over/handoff/package"
import { settle } from "../support/fake-clock"
import { createFlowScene, leaves, memoryFiles, type FlowScene } from "../support/flow"
import type { Child } from "../support/scripted-host"

const every = (scene: FlowScene) => {
  for (const agent of ["scout", "audit", "inspector", "general"])
    scene.host.script(agent, async (child) => void (await leaves(child)))
}

/** The policy of each pass, by its agent, in the order in which they were made. */
const policies = async (scene: FlowScene) =>
  (await scene.engine.store.list({}))
    .toSorted((a, b) => a.id.localeCompare(b.id))
    .map(({ subagent_id, overrides }) => ({ agent: subagent_id, policy: overrides }))

const INNER = `
name: inner
policy: { can_modify_files: false, timeout_ms: 60000, constraints: ["read_only"] }
budget: { passes: 1 }
archive: true
steps:
  - { id: a, agent: scout, objective: Look, policy: { max_tokens: 500 } }
  - { id: b, agent: audit, objective: Judge }
`
const outer = (policy = "") => `
name: outer
${policy}
steps:
  - { id: first, agent: general, objective: Make }
  - { id: sub, flow: inner }
  - { id: last, agent: general, objective: End }
`

describe("a flow as a step of another", () => {
  test("allows no more than it does alone, and no more than the flow around it", async () => {
    using scene = createFlowScene([
      outer("policy: { can_run_tools: false, timeout_ms: 30000, max_tokens: 900 }"),
      INNER.replace("budget: { passes: 1 }\n", ""),
    ])
    every(scene)
    await scene.settled(await scene.run("outer"))
    const [first, a, b, last] = await policies(scene)
    for (const outside of [first, last])
      expect(outside?.policy).toEqual({
        pass_context: false,
        can_run_tools: false,
        timeout_ms: 30_000,
        max_tokens: 900,
      })
    expect(a?.policy).toEqual({
      pass_context: false,
      can_modify_files: false,
      can_run_tools: false,
      timeout_ms: 30_000,
      max_tokens: 500,
      constraints: ["read_only"],
    })
    expect(b?.policy).toMatchObject({ can_modify_files: false, max_tokens: 900 })
  })

  test("keeps to its own budget, and asks once that is used up", async () => {
    using scene = createFlowScene([outer(), INNER])
    every(scene)
    const run = await scene.run("outer")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([
      { why: "budget", question: "outer, sub.b: sub: the budget of 1 passes is used up (1)" },
    ])
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("has its handoffs kept where it wants them kept", async () => {
    using scene = createFlowScene([outer(), INNER.replace("budget: { passes: 1 }\n", "")])
    every(scene)
    await scene.settled(await scene.run("outer"))
    expect(scene.files.written.has(".project/07-audit/sessions/ses_root/handoffs/HO-001.yaml")).toBe(true)
  })
})

test("of two policies what allows less holds, setting by setting", () => {
  expect(
    both(
      { can_modify_files: false, max_tokens: 0, max_cost: 2, isolation: "worktree", constraints: ["read_only"] },
      { can_modify_files: true, max_tokens: 5, max_cost: 3, isolation: "none", auto_apply: false },
    ),
  ).toEqual({
    can_modify_files: false,
    max_tokens: 5,
    max_cost: 2,
    isolation: "worktree",
    auto_apply: false,
    constraints: ["read_only"],
  })
  expect(both({ timeout_ms: 5 }, { timeout_ms: 9 })).toEqual({ timeout_ms: 5 })
  expect(both({ max_tokens: 5 }, { max_tokens: 0 })).toEqual({ max_tokens: 5 })
})

describe("a pass is made with the settings of what it is", () => {
  const STEP = `
name: step
steps:
  - id: make
    agent: general
    objective: Make it
    phase: write
    files: [src/other.ts]
    policy: { can_modify_files: true, max_tokens: 1000 }
    timeout_ms: 50000
    detours: [measure]
    critic: { agent: audit, objective: Review it, policy: { can_modify_files: false } }
detours:
  - id: measure
    agent: inspector
    objective: Measure it
    files: [docs/numbers.md]
    policy: { can_run_tools: false }
    timeout_ms: 20000
`
  const detours = (child: Child) =>
    leaves(child, { routing: { recommendation: "DETOUR", next_step_suggestion: "measure", reason: "needs numbers" } })

  test("a detour with its own, and a critic that corrects its handoff with the critic's", async () => {
    using scene = createFlowScene([STEP])
    every(scene)
    let made = 0
    scene.host.script("general", async (child) => void (await (++made === 1 ? detours(child) : leaves(child))))
    let judged = 0
    scene.host.script("audit", async (child) => {
      judged += 1
      await leaves(child, judged === 1 ? { context_summary: "It's done" } : {})
    })
    expect((await scene.settled(await scene.run("step")))?.state.status).toBe("completed")
    const made_with = await policies(scene)
    expect(made_with.map(({ agent }) => agent)).toEqual(["general", "inspector", "general", "audit", "audit"])
    const [worker, detour, , critic, repair] = made_with.map(({ policy }) => policy)
    expect(worker).toEqual({
      pass_context: false,
      can_modify_files: true,
      max_tokens: 1_000,
      timeout_ms: 50_000,
    })
    expect(detour).toEqual({ pass_context: false, can_run_tools: false, timeout_ms: 20_000 })
    for (const each of [critic, repair]) expect(each).toEqual({ pass_context: false, can_modify_files: false })
    const [, measured = ""] = scene.host.prompts.map(({ text }) => text)
    expect(measured).toContain("docs/numbers.md")
    expect(measured).not.toContain("src/other.ts")
    expect(measured).not.toContain("Request of the phase")
  })

  test("of two flows with a detour of one name each step is given its own", async () => {
    const sub = (name: string, agent: string) =>
      `name: ${name}\nsteps:\n  - { id: make, agent: general, objective: Make, detours: [measure] }\ndetours:\n  - { id: measure, agent: ${agent}, objective: Measure }\n`
    using scene = createFlowScene([
      "name: outer\nsteps:\n  - { id: one, flow: one }\n  - { id: two, flow: two }\n",
      sub("one", "scout"),
      sub("two", "inspector"),
    ])
    every(scene)
    let made = 0
    scene.host.script("general", async (child) => void (await (++made % 2 === 1 ? detours(child) : leaves(child))))
    await scene.settled(await scene.run("outer"))
    expect((await policies(scene)).map(({ agent }) => agent)).toEqual([
      "general",
      "scout",
      "general",
      "general",
      "inspector",
      "general",
    ])
  })
})

test("what goes into a step is bounded where the flow bounds it", async () => {
  using scene = createFlowScene([
    "name: x\nsteps:\n  - { id: a, agent: scout, objective: Look, phase: research, budget: { input_tokens: 10 } }\n",
  ])
  every(scene)
  const run = await scene.run("x")
  await scene.settled(run)
  expect(await scene.questions(run)).toMatchObject([
    { why: "failed", question: expect.stringContaining("where 10 are the budget of what goes in") },
  ])
  expect(scene.host.prompts).toHaveLength(0)
})

describe("so is what goes to whoever a step needs besides", () => {
  const flow = (more: string) =>
    `name: x\ndetours:\n  - { id: d, agent: inspector, objective: Measure }\nsteps:\n  - { id: a, agent: scout, objective: Look, budget: { input_tokens: 200 }, ${more} }\n`
  const long = { context_summary: `Looked at src/total.ts: ${"the columns of a row, ".repeat(60)}and no more.` }
  const detour = { recommendation: "DETOUR", next_step_suggestion: "d", reason: "needs numbers" }
  for (const [name, more, note, agent] of [
    ["its critic", "critic: { agent: audit, objective: Review }", long, "audit"],
    ["its detour", "detours: [d]", { ...long, routing: detour }, "inspector"],
  ] as const)
    test(name, async () => {
      using scene = createFlowScene([flow(more)])
      every(scene)
      scene.host.script("scout", async (child) => void (await leaves(child, note)))
      const run = await scene.run("x")
      await scene.settled(run)
      expect(await scene.questions(run)).toMatchObject([
        { why: "failed", question: expect.stringContaining(`x, a: ${agent} did not finish: E015`) },
      ])
      expect(scene.host.prompts.map((prompt) => prompt.agent)).toEqual(["scout"])
    })
})

describe("the archive of a session", () => {
  const KEPT = "name: kept\narchive: true\nsteps:\n  - { id: a, agent: scout, objective: Look }\n"
  const kept = (scene: FlowScene) =>
    [...scene.files.written.keys()].flatMap((path) => /handoffs\/(HO-\d+)\.yaml$/.exec(path)?.[1] ?? []).toSorted()

  test("keeps the handoffs of every run, also of two that go on at once", async () => {
    using scene = createFlowScene([KEPT])
    every(scene)
    const runs = await Promise.all([scene.run("kept"), scene.run("kept")])
    for (const run of runs) await scene.settled(run)
    await scene.settled(await scene.run("kept"))
    expect(kept(scene)).toEqual(["HO-001", "HO-002", "HO-1001", "HO-1002", "HO-2001", "HO-2002"])
    const state = JSON.parse(scene.files.written.get(`.opencode/runs/${runs[1]?.run_id}/state/current.json`) ?? "{}")
    expect(state.handoffs).toMatchObject([
      { id: "HO-1001", status: "completed" },
      { id: "HO-1002", status: "completed" },
    ])
  })

  test("gives no number twice: not while a handoff is being measured, and not where the first one is none", async () => {
    const measured = KEPT.replace("objective: Look", "objective: Look, budget: { input_tokens: 100000 }")
    const empty = KEPT.replace("objective: Look", 'objective: "{{ inputs.what }}"').replace(
      "steps:",
      'inputs: { what: { default: "" } }\nsteps:',
    )
    for (const text of [measured, empty]) {
      using scene = createFlowScene([text])
      every(scene)
      const tokens = await scene.engine.tokens()
      const slow = async () => {
        await settle()
        return tokens
      }
      Object.assign(scene.engine, { tokens: slow })
      const runs = await Promise.all([scene.run("kept"), scene.run("kept")])
      for (const run of runs) await scene.settled(run)
      expect(runs.map(({ plan }) => plan.first_handoff)).toEqual([1, 1_001])
      expect(kept(scene)).toEqual(["HO-001", "HO-002", "HO-1001", "HO-1002"])
    }
  })

  test("gives no number twice where two processes begin a run in it at the same moment", async () => {
    const files = memoryFiles()
    using scene = createFlowScene([KEPT], { files })
    using other = createFlowScene([KEPT], { files, store: scene.engine.store, owner: "2", seed: 9_000 })
    for (const each of [scene, other]) every(each)
    const runs = await Promise.all([scene.run("kept"), other.run("kept")])
    expect(runs.map(({ plan }) => plan.first_handoff).toSorted((a, b) => a - b)).toEqual([1, 1_001])
  })

  test("keeps a handoff that is too large for its step, and one of which no task can be made", async () => {
    for (const step of ["objective: Look, budget: { input_tokens: 10 }", 'objective: "{{ inputs.what }}"']) {
      using scene = createFlowScene([
        KEPT.replace("objective: Look", step).replace("steps:", 'inputs: { what: { default: "" } }\nsteps:'),
      ])
      every(scene)
      const run = await scene.run("kept")
      await scene.settled(run)
      expect(await scene.questions(run)).toMatchObject([{ why: "failed" }])
      expect(kept(scene)).toEqual(["HO-001", "HO-002"])
      const text = scene.files.written.get(".project/07-audit/sessions/ses_root/handoffs/HO-001.yaml") ?? ""
      expect(HandoffPackage.parse(parse(text)).handoff.to.agent).toBe("scout")
    }
  })

  test("keeps what a run came to when it is done again from a step", async () => {
    using scene = createFlowScene([KEPT])
    every(scene)
    const run = await scene.run("kept")
    await scene.settled(run)
    const before = new Map(scene.files.written)
    await scene.flows.order(run.run_id, { type: "retry", step: "a", actor: "ada" }, "ada")
    await scene.settled(run)
    expect(kept(scene)).toEqual(["HO-001", "HO-002", "HO-003", "HO-004"])
    const path = ".project/07-audit/sessions/ses_root/handoffs/HO-002.yaml"
    expect(scene.files.written.get(path)).toBe(before.get(path) ?? "")
  })
})
