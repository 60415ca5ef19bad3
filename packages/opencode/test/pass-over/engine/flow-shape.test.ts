import { describe, expect, test } from "bun:test"
import { newRun } from "../../../src/pass-over/handoff/state"
import { holdsIn } from "../../../src/pass-over/handoff/values"
import { createFlowScene, leaves, planned, type FlowScene } from "../support/flow"

const every = (scene: FlowScene) => {
  for (const agent of ["scout", "audit", "inspector", "general"])
    scene.host.script(agent, async (child) => void (await leaves(child)))
}

const asked = (scene: FlowScene, agent: string) => scene.host.prompts.filter((prompt) => prompt.agent === agent)

const COUNCIL = `
name: council
steps:
  - id: vote
    rule: { quorum: 2 }
    parallel:
      - { id: a, agent: scout, objective: Judge, phase: validate }
      - { id: b, agent: audit, objective: Judge, phase: validate }
      - { id: c, agent: inspector, objective: Judge, phase: validate }
  - { id: after, agent: general, objective: Go on, when: steps.vote.passed }
`

const no = {
  decision: "needs_modification",
  findings: [{ severity: "error", message: "it loses cents", path: "src/total.ts", line: 1 }],
}
const stop = {
  decision: "STOP",
  findings: { checks: {}, overall_passed: false, blocking_issues: ["a secret is in it"], warnings: [] },
}

describe("branches side by side", () => {
  test("run at the same time and pass by their rule", async () => {
    using scene = createFlowScene([COUNCIL])
    every(scene)
    const running = new Set<string>()
    let most = 0
    for (const agent of ["scout", "audit", "inspector"])
      scene.host.script(agent, async (child) => {
        running.add(agent)
        most = Math.max(most, running.size)
        await child.wait(1_000)
        running.delete(agent)
        await leaves(child, {}, agent === "scout" ? no : {})
      })
    const run = await scene.run("council")
    const done = await scene.settled(run)
    expect(most).toBe(3)
    expect(done?.state).toMatchObject({
      status: "completed",
      results: {
        vote: {
          passed: true,
          findings: { aggregation: { passed: 2, failed: 1, rule: "quorum 2", overall_passed: true } },
        },
      },
    })
    // What the parallel phase came to goes along as one package.
    expect(asked(scene, "general")[0]?.text).toContain("2 of 3 branches passed (quorum 2)")
  })

  test("that do not pass ask a person, and one that says STOP is outvoted by nobody", async () => {
    using scene = createFlowScene([COUNCIL])
    every(scene)
    scene.host.script("audit", async (child) => void (await leaves(child, stop)))
    const run = await scene.run("council")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([
      { why: "stop", question: expect.stringContaining("b says stop") },
    ])
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("one branch that fails does not lose the others", async () => {
    using scene = createFlowScene([COUNCIL])
    every(scene)
    scene.host.script("audit", async () => {
      throw new Error("gone")
    })
    const run = await scene.run("council")
    const done = await scene.settled(run)
    expect(done?.state).toMatchObject({
      status: "completed",
      results: { vote: { passed: true }, "vote.b": { passed: false, veto: false } },
    })
  })

  test("a branch that only rejects is outvoted; one that escalates or is blocked is not", async () => {
    const ends = async (note: Record<string, unknown>, more: Record<string, unknown> = {}) => {
      using scene = createFlowScene([COUNCIL])
      every(scene)
      scene.host.script("audit", async (child) => void (await leaves(child, note, more)))
      const run = await scene.run("council")
      const done = await scene.settled(run)
      return [done?.state.status, ...(await scene.questions(run)).map(({ why }) => why)]
    }
    expect(await ends({}, { decision: "rejected", decision_reason: "I would not do it" })).toEqual(["completed"])
    expect(await ends({ routing: { recommendation: "ESCALATE", reason: "Two ways" } })).toEqual(["waiting", "stop"])
    expect(await ends({}, { decision: "blocked", decision_reason: "I cannot see it" })).toEqual(["waiting", "stop"])
  })
})

const LINE = `
name: line
budget: { passes: 2 }
steps:
  - { id: a, agent: scout, objective: One }
  - { id: b, agent: general, objective: Two }
  - { id: c, agent: inspector, objective: Three }
`
const FREE = LINE.replace("budget: { passes: 2 }\n", "")

describe("a budget that is used up among branches", () => {
  const branches = Array.from({ length: 6 }, (_, at) => `      - { id: b${at}, agent: scout, objective: Branch ${at} }`)
  const WIDE = `name: wide\nbudget: { passes: 2 }\nsteps:\n  - id: p\n    rule: all\n    parallel:\n${branches.join("\n")}\n`

  test("asks once for all of them, and what is granted begins what it is enough for", async () => {
    using scene = createFlowScene([WIDE])
    every(scene)
    const run = await scene.run("wide")
    await scene.settled(run)
    expect(asked(scene, "scout")).toHaveLength(2)
    expect(await scene.questions(run)).toMatchObject([
      { why: "budget", question: expect.stringContaining("wide, p: the budget of 2 passes is used up") },
    ])
    await scene.answer(run, "question", "Be brief")
    await scene.settled(run)
    expect(asked(scene, "scout")).toHaveLength(4)
    expect(asked(scene, "scout")[2]?.text).toContain("ada decided: Be brief")
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { p: { passed: true, findings: { aggregation: { total: 6, passed: 6 } } } },
    })
    expect(await scene.engine.store.gates({ run_id: run.run_id })).toHaveLength(2)
  })

  test("withdraws its question when the branches that it is about are left out", async () => {
    using scene = createFlowScene([`${WIDE.trimEnd()}\n  - { id: after, gate: release, items: ["Right?"] }\n`])
    every(scene)
    const run = await scene.run("wide")
    await scene.settled(run)
    for (const at of [2, 3, 4, 5]) {
      const skip = { type: "skip", step: `p.b${at}`, actor: "ada", reason: "enough" } as const
      expect(await scene.flows.order(run.run_id, skip, "ada")).toMatchObject({ ok: true })
    }
    expect((await scene.settled(run))?.state).toMatchObject({ status: "waiting", results: { p: { passed: true } } })
    await scene.clock.advance(10)
    expect((await scene.questions(run)).map(({ why }) => why)).toEqual(["gate"])
  })

  test("holds a branch that has to be repaired, and goes on with the repair", async () => {
    using scene = createFlowScene([WIDE.replace("passes: 2", "passes: 6")])
    let first = true
    scene.host.script("scout", async (child) => {
      const bad = first && child.prompt.text.includes("Branch 0")
      if (bad) first = false
      await leaves(child, bad ? { context_summary: "done" } : {})
    })
    const run = await scene.run("wide")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([{ why: "budget", question: expect.stringContaining("wide, p:") }])
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "scout").filter(({ text }) => text.includes("What is wrong"))).toHaveLength(1)
  })
})

describe("people at the wheel", () => {
  test("a paused run begins nothing, keeps what comes back, and goes on where it was", async () => {
    using scene = createFlowScene([FREE])
    every(scene)
    scene.host.script("scout", async (child) => {
      await child.wait(1_000)
      await leaves(child)
    })
    const run = await scene.run("line")
    await scene.clock.advance(10)
    expect(await scene.flows.order(run.run_id, { type: "pause", actor: "ada" }, "ada")).toMatchObject({ ok: true })
    await scene.clock.advance(5_000)
    expect((await scene.flows.state(run.run_id))?.state).toMatchObject({
      status: "paused",
      results: { a: { passed: true } },
    })
    expect(asked(scene, "general")).toHaveLength(0)
    expect(await scene.flows.order(run.run_id, { type: "resume", actor: "ada" }, "ada")).toMatchObject({ ok: true })
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "scout")).toHaveLength(1)
  })

  test("cancel stops what runs, withdraws what is asked, and ends the run", async () => {
    using scene = createFlowScene([FREE])
    every(scene)
    scene.host.script("scout", async (child) => child.told.then(() => {}))
    const run = await scene.run("line")
    await scene.clock.advance(10)
    await scene.flows.order(run.run_id, { type: "cancel", actor: "ada", reason: "not needed" }, "ada")
    await scene.clock.advance(5_000)
    expect((await scene.flows.state(run.run_id))?.state).toMatchObject({ status: "cancelled", reason: "not needed" })
    const [pass] = await scene.engine.store.list({})
    expect(pass?.status).toBe("cancelled")
    expect(await scene.flows.order(run.run_id, { type: "pause", actor: "ada" }, "ada")).toMatchObject({ ok: false })
  })

  test("a step is left out with its reason, before it begins or while it runs", async () => {
    using scene = createFlowScene([FREE])
    every(scene)
    scene.host.script("scout", async (child) => child.told.then(() => {}))
    const run = await scene.run("line")
    await scene.clock.advance(10)
    await scene.flows.order(run.run_id, { type: "skip", step: "b", actor: "ada", reason: "done by hand" }, "ada")
    await scene.flows.order(run.run_id, { type: "skip", step: "a", actor: "ada", reason: "known already" }, "ada")
    const done = await scene.settled(run)
    expect(done?.state).toMatchObject({
      status: "completed",
      results: {
        a: { skipped: true, reason: "known already" },
        b: { skipped: true, reason: "done by hand" },
        c: { passed: true },
      },
    })
    expect(asked(scene, "general")).toHaveLength(0)
    expect(
      await scene.flows.order(run.run_id, { type: "skip", step: "d", actor: "ada", reason: "x" }, "ada"),
    ).toMatchObject({ ok: false, refusal: { message: expect.stringContaining('There is no step "d"') } })
  })

  test("a budget that is used up asks, and what is granted counts", async () => {
    using scene = createFlowScene([LINE])
    every(scene)
    const run = await scene.run("line")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([
      { why: "budget", question: expect.stringContaining("the budget of 2 passes is used up") },
    ])
    expect(asked(scene, "inspector")).toHaveLength(0)
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("a definition that changes does not change a run that runs", async () => {
    const texts = [FREE]
    using scene = createFlowScene(texts)
    every(scene)
    scene.host.script("scout", async (child) => {
      await child.wait(1_000)
      await leaves(child)
    })
    const run = await scene.run("line")
    texts[0] = FREE.replace("agent: general", "agent: audit")
    await scene.settled(run)
    expect(asked(scene, "general")).toHaveLength(1)
    expect(asked(scene, "audit")).toHaveLength(0)
    const again = await scene.run("line")
    await scene.settled(again)
    expect(asked(scene, "audit")).toHaveLength(1)
    expect(again.plan_hash).not.toBe(run.plan_hash)
  })

  test("what is asked of a run from elsewhere is carried out by whoever carries it", async () => {
    using scene = createFlowScene([FREE])
    every(scene)
    scene.host.script("scout", async (child) => child.told.then(() => {}))
    const run = await scene.run("line")
    await scene.clock.advance(10)
    using elsewhere = createFlowScene([FREE], { store: scene.engine.store, owner: "2", seed: 9_000 })
    expect(await elsewhere.flows.order(run.run_id, { type: "cancel", actor: "ada", reason: "" }, "ada")).toMatchObject({
      ok: true,
      text: "Handed to the opencode that carries this run.",
    })
    await scene.flows.attend(() => "alive")
    expect((await elsewhere.flows.state(run.run_id))?.state.status).toBe("cancelled")
  })
})

test("a condition decides, and what was left out does not count as passed", async () => {
  using scene = createFlowScene([
    `name: x\ninputs: { deep: { default: "no" } }\nsteps:\n  - { id: a, agent: scout, objective: One, when: inputs.deep == "yes" }\n  - { id: b, agent: general, objective: Two, when: "!steps.a.passed && steps.a.skipped" }\n`,
  ])
  every(scene)
  const run = await scene.run("x")
  const done = await scene.settled(run)
  expect(done?.state.results).toMatchObject({ a: { skipped: true, passed: false }, b: { passed: true } })
  expect(asked(scene, "scout")).toHaveLength(0)
})

test("an optional input that is not given is empty, in a condition as in words", async () => {
  const flow = (when: string) =>
    `name: x\ninputs: { x: { required: false } }\nsteps:\n  - { id: a, agent: scout, objective: "One <{{ inputs.x }}>", when: 'inputs.x ${when} ""' }\n`
  for (const [when, skipped] of [
    ["==", false],
    ["!=", true],
  ] as const) {
    using scene = createFlowScene([flow(when)])
    every(scene)
    const done = await scene.settled(await scene.run("x"))
    expect(done?.state).toMatchObject({ status: "completed", results: { a: { skipped } } })
    if (!skipped) expect(scene.host.prompts[0]?.text).toContain("One <>")
  }
})

test("a condition looks at the steps that it names, however many there are", () => {
  const steps = Array.from({ length: 200 }, (_, at) => `  - { id: s${at}, agent: scout, objective: Step ${at} }`)
  const plan = planned(`name: x\nsteps:\n${steps.join("\n")}\n`)
  const looked = new Set<string | symbol>()
  const { results, ...rest } = newRun({})
  const state = { ...rest, results: new Proxy(results, { get: (_all, name) => void looked.add(name) }) }
  expect(holdsIn(plan, state, { text: "round == 1 || steps.s3.passed", scope: 0 })).toEqual({ ok: true, value: true })
  expect([...looked]).toEqual(["s3"])
})

test("inputs that are missing or unknown are refused before anything runs", async () => {
  using scene = createFlowScene([
    `name: x\ninputs: { goal: {} }\nsteps:\n  - { id: a, agent: scout, objective: "Do {{ inputs.goal }}" }\n`,
  ])
  expect(scene.run("x")).rejects.toThrow("also needs: goal")
  expect(scene.run("x", { goal: "y", gaol: "z" })).rejects.toThrow('no input "gaol"')
  expect(scene.run("y")).rejects.toThrow('There is no flow "y"')
  expect(await scene.engine.store.runs({})).toEqual([])
})

describe("an earlier answer", () => {
  const CACHED = `name: x\nsteps:\n  - { id: a, agent: scout, objective: Find it, cache: true, files: [src/total.ts] }\n`
  const allow = (scene: FlowScene) =>
    scene.preferences.push({ origin: "project", path: "x", preferences: { defaults: { result_cache: true } } })

  test("is used again where the preference allows it, and is marked as such", async () => {
    using scene = createFlowScene([CACHED])
    every(scene)
    allow(scene)
    await scene.settled(await scene.run("x"))
    const done = await scene.settled(await scene.run("x"))
    expect(done?.state.results["a"]).toMatchObject({ cached: true, passed: true, tokens: 0 })
    expect(asked(scene, "scout")).toHaveLength(1)
  })

  test("is not used without the preference", async () => {
    using scene = createFlowScene([CACHED])
    every(scene)
    await scene.settled(await scene.run("x"))
    await scene.settled(await scene.run("x"))
    expect(asked(scene, "scout")).toHaveLength(2)
  })

  const UNNAMED = CACHED.replace(", files: [src/total.ts]", "")

  test("is not used once a file has changed that its child was seen reading, and again when that is as it was", async () => {
    using scene = createFlowScene([UNNAMED, CACHED.replace("name: x", "name: y")])
    every(scene)
    allow(scene)
    await scene.settled(await scene.run("x"))
    scene.files.hashes.set("src/total.ts", "another")
    await scene.settled(await scene.run("x"))
    expect(asked(scene, "scout")).toHaveLength(2)
    // What is named beforehand is part of the request itself.
    await scene.settled(await scene.run("y"))
    scene.files.hashes.delete("src/total.ts")
    await scene.settled(await scene.run("y"))
    scene.files.hashes.set("src/total.ts", "another")
    await scene.settled(await scene.run("y"))
    expect(asked(scene, "scout")).toHaveLength(4)
  })

  test("is not used where its child ran something, which may have read anything", async () => {
    using scene = createFlowScene([CACHED])
    allow(scene)
    scene.host.script("scout", async (child) => {
      child.tool("bash", { command: "cat secrets" }, "1")
      await leaves(child)
    })
    await scene.settled(await scene.run("x"))
    await scene.settled(await scene.run("x"))
    expect(asked(scene, "scout")).toHaveLength(2)
  })

  test("is not used once a file that it read has changed, nor when it was not verified", async () => {
    using scene = createFlowScene([CACHED])
    every(scene)
    allow(scene)
    await scene.settled(await scene.run("x"))
    scene.files.hashes.set("src/total.ts", "another")
    await scene.settled(await scene.run("x"))
    expect(asked(scene, "scout")).toHaveLength(2)
    scene.files.hashes.set("src/total.ts", "a third")
    scene.host.script("scout", async (child) => {
      await child.return({ decision: "approved", decision_reason: "Trust me: src/total.ts adds every column." })
      child.step()
    })
    await scene.settled(await scene.run("x"))
    await scene.settled(await scene.run("x"))
    expect(asked(scene, "scout")).toHaveLength(4)
  })
})

test("a flow of 1,000 steps runs to its end", async () => {
  const steps = Array.from(
    { length: 1_000 },
    (_, index) => `  - { id: s${index}, agent: scout, objective: Step ${index} }`,
  )
  using scene = createFlowScene([`name: long\nsteps:\n${steps.join("\n")}\n`])
  every(scene)
  const run = await scene.run("long")
  const done = await scene.settled(run)
  expect(done?.state.status).toBe("completed")
  expect(Object.keys(done?.state.results ?? {})).toHaveLength(1_000)
  expect(scene.host.prompts).toHaveLength(1_000)
}, 120_000)

test("a flow of 100 branches side by side runs to its end", async () => {
  const branches = Array.from(
    { length: 100 },
    (_, index) => `      - { id: b${index}, agent: scout, objective: Branch ${index} }`,
  )
  using scene = createFlowScene([
    `name: wide\nsteps:\n  - id: p\n    rule: majority\n    parallel:\n${branches.join("\n")}\n`,
  ])
  every(scene)
  const run = await scene.run("wide")
  const done = await scene.settled(run)
  expect(done?.state).toMatchObject({
    status: "completed",
    results: { p: { passed: true, findings: { aggregation: { total: 100, passed: 100 } } } },
  })
}, 60_000)
