import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { FlowRun } from "../../../src/pass-over/service/port-flow"

function scene(...flows: string[]) {
  const made = createFlowScene(flows)
  for (const agent of ["scout", "audit", "inspector", "general"])
    made.host.script(agent, async (child) => void (await leaves(child)))
  return made
}

const agents = (made: FlowScene) => made.host.prompts.map(({ agent }) => agent)

const retry = (made: FlowScene, run: FlowRun, step: string) =>
  made.flows.order(run.run_id, { type: "retry", step, actor: "ada" }, "ada")

const skip = (made: FlowScene, run: FlowRun, step: string) =>
  made.flows.order(run.run_id, { type: "skip", step, actor: "ada", reason: "not wanted" }, "ada")

describe("a step that a person left out", () => {
  const FLOW =
    "name: x\nsteps:\n  - { id: a, agent: scout, objective: One }\n  - id: p\n    parallel:\n      - { id: q, agent: audit, objective: Look }\n      - { id: r, agent: inspector, objective: Look }\n  - { id: g, gate: the work, items: [Good?] }\n  - { id: publish, agent: general, objective: Publish }\n"

  test("stays left out when an earlier one is done again", async () => {
    using made = scene(FLOW)
    const run = await made.run("x")
    await made.settled(run)
    await skip(made, run, "publish")
    await retry(made, run, "a")
    await made.settled(run)
    await made.answer(run, "approve")
    expect((await made.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { publish: { skipped: true, reason: "not wanted" } },
    })
    expect(agents(made)).not.toContain("general")
  })

  test("is done where a person wants just that one again, a branch too", async () => {
    using made = scene(FLOW)
    const run = await made.run("x")
    await skip(made, run, "publish")
    await skip(made, run, "p.r")
    await made.settled(run)
    await made.answer(run, "approve")
    await made.settled(run)
    expect(agents(made)).toEqual(["scout", "audit"])
    await retry(made, run, "publish")
    await made.settled(run)
    expect(agents(made)).toEqual(["scout", "audit", "general"])
    await retry(made, run, "p.r")
    await made.settled(run)
    expect(agents(made).slice(3).toSorted()).toEqual(["audit", "inspector"])
  })
})

describe("a sub-flow is called as its step is in the file", () => {
  const OUTER =
    "name: x\nsteps:\n  - { id: first, agent: scout, objective: One }\n  - { id: sub, flow: inner }\n  - { id: last, agent: general, objective: Last }\n"
  const INNER =
    "name: inner\nsteps:\n  - { id: a, agent: audit, objective: One }\n  - { id: g, gate: the middle, items: [Good?] }\n  - { id: b, agent: inspector, objective: Two }\n"

  test("it is done again from its first step", async () => {
    using made = scene(OUTER, INNER)
    const run = await made.run("x")
    await made.settled(run)
    expect(await retry(made, run, "sub")).toMatchObject({ ok: true })
    await made.settled(run)
    expect(agents(made)).toEqual(["scout", "audit", "audit"])
  })

  test("what is left of it is left out, and it is done again whole", async () => {
    using made = scene(OUTER, INNER)
    const run = await made.run("x")
    await made.settled(run)
    expect(await skip(made, run, "sub")).toMatchObject({ ok: true })
    expect((await made.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { "sub.a": { passed: true }, "sub.g": { skipped: true }, "sub.b": { skipped: true } },
    })
    expect(await skip(made, run, "sub")).toMatchObject({
      ok: false,
      refusal: { message: "The step sub is over already." },
    })
    await retry(made, run, "sub")
    await made.settled(run)
    await made.answer(run, "approve")
    expect((await made.settled(run))?.state.results).toMatchObject({ "sub.b": { passed: true } })
    expect(agents(made)).toEqual(["scout", "audit", "general", "audit", "inspector", "general"])
  })

  test("one that has not begun is not done again, and a name that is near is told", async () => {
    using made = scene(
      OUTER.replace("{ id: first, agent: scout, objective: One }", "{ id: first, gate: start, items: [Now?] }"),
      INNER,
    )
    const run = await made.run("x")
    await made.settled(run)
    const refusal = async (told: ReturnType<typeof retry>) => {
      const { ok, ...rest } = await told
      return ok ? undefined : "refusal" in rest && rest.refusal.message
    }
    expect(await refusal(retry(made, run, "sub"))).toBe("The step sub has not begun yet.")
    expect(await refusal(retry(made, run, "sup"))).toBe('There is no step "sup". Did you mean "sub"?')
  })
})

test("a run that has nothing to do is over at once, and is kept in nobody's hands", async () => {
  using made = scene(
    'name: x\ninputs: { word: {} }\nsteps:\n  - { id: a, agent: scout, objective: One, when: inputs.word == "go" }\n',
  )
  const run = await made.run("x", { word: "stay" })
  expect(run).toMatchObject({ status: "completed", time_ended: expect.any(Number) })
  expect(await made.flows.state(run.run_id)).toMatchObject({ state: { status: "completed" } })
  expect(await made.flows.rest(run.run_id)).toMatchObject({ status: "completed" })
  expect(agents(made)).toEqual([])
})
