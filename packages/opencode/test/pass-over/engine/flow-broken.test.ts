import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"

const FIND = `name: find\nsteps:\n  - { id: find, agent: scout, phase: research, objective: Find it }\n`
const EMPTY = `name: empty\ninputs: { x: { default: "" } }\nsteps:\n  - { id: find, agent: scout, phase: research, objective: "{{ inputs.x }}" }\n`
const findings = { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] }

const asked = (scene: FlowScene) => scene.host.prompts.map(({ text }) => text)

describe("a summary that no response can hold", () => {
  for (const [name, summary] of [
    ["is blank", " \n "],
    ["is longer than any", "The file src/total.ts adds the columns of a row. ".repeat(4_000).slice(0, 150_000)],
  ] as const) {
    test(`goes back to its agent when it ${name}, and the corrected one is taken`, async () => {
      using scene = createFlowScene([FIND])
      let turn = 0
      scene.host.script("scout", async (child) => {
        turn += 1
        const note = { decision: "PROCEED", findings, ...(turn === 1 ? { context_summary: summary } : {}) }
        await leaves(child, note)
      })
      const run = await scene.run("find")
      expect((await scene.settled(run))?.state).toMatchObject({
        status: "completed",
        results: { find: { passed: true } },
      })
      expect(asked(scene)).toHaveLength(2)
      expect(asked(scene)[1]).toContain("context_summary:")
    })
  }
})

describe("a step that cannot be carried out", () => {
  test("because its words come to nothing asks a person, who can write what is to be done", async () => {
    using scene = createFlowScene([EMPTY])
    scene.host.script("scout", async (child) => void (await leaves(child, { decision: "PROCEED", findings })))
    const run = await scene.run("empty")
    expect((await scene.settled(run))?.state.status).toBe("waiting")
    expect(await scene.questions(run)).toMatchObject([
      { why: "failed", question: expect.stringContaining("the objective of find comes to nothing") },
    ])
    await scene.answer(run, "question", "Find where totals are rounded")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene)[0]).toContain("Find where totals are rounded")
  })

  test("because the words of its review come to nothing asks a person too, and takes what they write", async () => {
    const text = `name: loop\ninputs: { look: { required: false } }\nsteps:\n  - id: build\n    agent: general\n    objective: Build it\n    critic: { agent: audit, objective: "{{ inputs.look }}" }\n`
    using scene = createFlowScene([text])
    let turn = 0
    scene.host.script("general", async (child) => {
      turn += 1
      if (turn > 1) return void (await leaves(child))
      await child.return({ status: "failed", decision_reason: "no compiler here" })
      child.step()
    })
    scene.host.script("audit", async (child) => void (await leaves(child)))
    const run = await scene.run("loop")
    await scene.settled(run)
    await scene.answer(run, "question", "There is one in tools/")
    await scene.settled(run)
    // What was written to the worker is no task for its critic.
    expect((await scene.questions(run))[0]?.question).toContain("the objective of the review of build comes to nothing")
    await scene.answer(run, "question", "Look at the rounding")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene)).toHaveLength(3)
    expect(asked(scene)[2]).toContain("# Objective\nLook at the rounding")
  })

  test("can be cancelled, and left out", async () => {
    using scene = createFlowScene([EMPTY])
    const [first, second] = [await scene.run("empty"), await scene.run("empty")]
    for (const run of [first, second]) await scene.settled(run)
    const cancel = { type: "cancel", actor: "ada", reason: "" } as const
    expect(await scene.flows.order(first.run_id, cancel, "ada")).toMatchObject({ ok: true })
    const skip = { type: "skip", actor: "ada", step: "find", reason: "known" } as const
    expect(await scene.flows.order(second.run_id, skip, "ada")).toMatchObject({ ok: true })
    expect((await scene.settled(first))?.state.status).toBe("cancelled")
    expect((await scene.settled(second))?.state.status).toBe("completed")
  })

  test("because what it left cannot be read asks a person, once trying again did not help", async () => {
    using scene = createFlowScene([FIND])
    scene.host.script("scout", async (child) => void (await leaves(child, { decision: "PROCEED", findings })))
    const { tokens } = scene.engine
    let asks = 0
    Object.assign(scene.engine, {
      tokens: async () => {
        asks += 1
        throw new Error("no counter")
      },
    })
    const run = await scene.run("find")
    expect((await scene.settled(run))?.state.status).toBe("waiting")
    expect(asks).toBeGreaterThan(1)
    expect(await scene.questions(run)).toMatchObject([
      { why: "failed", question: expect.stringContaining("no counter") },
    ])
    Object.assign(scene.engine, { tokens })
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })
})

test("a run that cannot be taken up keeps none of the others from going on, and what is asked of it is answered", async () => {
  const ASKS = `name: asks\nsteps:\n  - { id: ok, gate: release, items: ["Is it right?"] }\n`
  using scene = createFlowScene([ASKS])
  const broken = await scene.run("asks")
  const whole = await scene.run("asks")
  for (const run of [broken, whole]) await scene.settled(run)
  using later = createFlowScene([ASKS], { store: scene.engine.store, owner: "2", seed: 9_000 })
  const { entries } = later.engine.store
  later.engine.store.entries = async (id) =>
    id === broken.run_id ? Promise.reject(new Error("unreadable")) : entries(id)
  expect(await later.flows.recover(() => "dead")).toBe(1)
  expect(later.flows.carried(whole.run_id)?.state.status).toBe("waiting")
  const command_id = later.engine.ids.make("cmd")
  const input = { type: "cancel", actor: "ada", reason: "" } as const
  await later.engine.store.flowCommand({ command_id, run_id: broken.run_id, input, actor: "ada" }, 1)
  await later.flows.attend(() => "dead")
  expect(await later.engine.store.flowCommandState(command_id)).toMatchObject({
    status: "refused",
    result: expect.stringContaining("unreadable"),
  })
})

test("every run that an earlier opencode left is taken up, however many there are, the oldest among them", async () => {
  const ASKS = `name: asks\nsteps:\n  - { id: ok, gate: release, items: ["Is it right?"] }\n`
  using scene = createFlowScene([ASKS])
  const first = await scene.run("asks")
  for (let count = 1; count < 203; count += 1) await scene.run("asks")
  await scene.settled(first)
  using later = createFlowScene([ASKS], { store: scene.engine.store, owner: "2", seed: 9_000 })
  expect(await later.flows.recover(() => "dead")).toBe(203)
  await later.answer(first, "approve")
  expect((await later.flows.state(first.run_id))?.state.status).toBe("completed")
})
