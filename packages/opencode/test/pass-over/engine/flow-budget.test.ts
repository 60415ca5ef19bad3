import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { FlowRun } from "../../../src/pass-over/service/port-flow"
import type { Child } from "../support/scripted-host"

type Turn = (child: Child) => Promise<unknown>

const fine: Turn = (child) => leaves(child)

/** Each agent does the next of its turns, and its work once it has none left. */
function scene(flow: string, turns: Record<string, Turn[]> = {}) {
  const made = createFlowScene([flow])
  for (const agent of ["scout", "audit", "inspector", "general"]) {
    const left = [...(turns[agent] ?? [])]
    made.host.script(agent, async (child) => void (await (left.shift() ?? fine)(child)))
  }
  return made
}

const agents = (made: FlowScene) => made.host.prompts.map(({ agent }) => agent)

async function asked(made: FlowScene, run: FlowRun) {
  await made.settled(run)
  return (await made.questions(run)).map(({ question }) => question)
}

async function approved(made: FlowScene, run: FlowRun, note?: string) {
  await made.answer(run, "approve", note)
  return (await made.settled(run))?.state
}

const detours: Turn = (child) =>
  leaves(child, { routing: { recommendation: "DETOUR", next_step_suggestion: "d", reason: "needs numbers" } })

const unclear: Turn = (child) =>
  leaves(
    child,
    { acknowledgment: { received: true, understood: "partial", questions: ["Which column?"] } },
    { status: "partial" },
  )

const vague: Turn = (child) => leaves(child, { context_summary: "done" })

const spent = (passes: number) => `the budget of ${passes} passes is used up (${passes})`

describe("a yes to one budget is no yes to another", () => {
  test("more for a step is no more for its flow", async () => {
    using made = scene(
      "name: x\nbudget: { passes: 3 }\nsteps:\n  - { id: a, agent: scout, objective: One, budget: { tokens: 100 }, critic: { agent: audit, objective: Review } }\n  - { id: b, agent: general, objective: Two }\n  - { id: c, agent: inspector, objective: Three }\n",
    )
    const run = await made.run("x")
    expect(await asked(made, run)).toEqual(["x, a: a: the budget of 100 tokens is used up (110)"])
    await approved(made, run)
    expect(agents(made)).toEqual(["scout", "audit", "general"])
    expect(await asked(made, run)).toEqual([`x, c: ${spent(3)}`])
    expect(await approved(made, run)).toMatchObject({ status: "completed", grants: { a: 1, "#0": 1 } })
  })

  test("a branch whose own budget is asked about waits for that answer alone", async () => {
    using made = scene(
      "name: x\nbudget: { passes: 2 }\nsteps:\n  - id: p\n    parallel:\n      - { id: a, agent: scout, objective: One, budget: { tokens: 100 } }\n      - { id: b, agent: general, objective: Two }\n      - { id: c, agent: inspector, objective: Three }\n",
      { scout: [vague] },
    )
    const run = await made.run("x")
    expect((await asked(made, run)).toSorted()).toEqual([`x, p: ${spent(2)}`])
    await made.answer(run, "approve")
    expect(await asked(made, run)).toEqual(["x, p.a: p.a: the budget of 100 tokens is used up (110)"])
    expect(agents(made)).toEqual(["scout", "general", "inspector"])
    expect(await approved(made, run)).toMatchObject({ status: "completed", results: { p: { passed: true } } })
    expect(agents(made)).toEqual(["scout", "general", "inspector", "scout"])
  })
})

describe("a budget that is used up is asked about before every pass", () => {
  const one = (passes: number, more = "") =>
    `name: x\nbudget: { passes: ${passes} }\ndetours:\n  - { id: d, agent: inspector, objective: Side }\nsteps:\n  - { id: a, agent: scout, objective: One }\n  - { id: b, agent: general, objective: Two, detours: [d]${more} }\n`
  const critic = ", critic: { agent: audit, objective: Review }"

  // What it is about, the flow, the turns, and who has been asked when the budget is used up and after the yes.
  const TABLE: [string, string, Record<string, Turn[]>, string[], string[]][] = [
    ["back from a detour", one(3), { general: [detours] }, ["scout", "general", "inspector"], ["general"]],
    ["with a clarification", one(3), { general: [unclear] }, ["scout", "general", "scout"], ["general"]],
    [
      "with a clarification for the critic",
      one(4, critic),
      { audit: [unclear] },
      ["scout", "general", "audit", "general"],
      ["audit"],
    ],
    ["to the review", one(2, critic), {}, ["scout", "general"], ["audit"]],
    ["to a repair", one(2), { general: [vague] }, ["scout", "general"], ["general"]],
  ]
  for (const [name, flow, turns, before, after] of TABLE) {
    test(`on the way ${name}`, async () => {
      using made = scene(flow, turns)
      const run = await made.run("x")
      expect(await asked(made, run)).toEqual([`x, b: ${spent(before.length)}`])
      expect(agents(made)).toEqual(before)
      expect((await approved(made, run))?.status).toBe("completed")
      expect(agents(made)).toEqual([...before, ...after])
    })
  }

  const GATE = `${one(2)}  - { id: g, gate: the work, items: [Good?] }\n`

  test("when a gate sends back, and the words of the person are still heard", async () => {
    using made = scene(GATE)
    const run = await made.run("x")
    await made.settled(run)
    await made.answer(run, "reject", "Once more")
    expect(await asked(made, run)).toEqual([`x, b: ${spent(2)}`])
    await made.answer(run, "approve")
    expect(await asked(made, run)).toEqual(["x, g: the work"])
    expect(agents(made)).toEqual(["scout", "general", "general"])
    expect(made.host.prompts.at(-1)?.text).toContain("ada decided: Once more")
  })

  test("when a person asks something at a gate, and then what they asked", async () => {
    using made = scene(GATE)
    const run = await made.run("x")
    await made.settled(run)
    await made.answer(run, "question", "Which file?")
    expect(await asked(made, run)).toEqual([`x, g: ${spent(2)}`])
    await made.answer(run, "approve")
    expect(await asked(made, run)).toEqual(["x, g: the work"])
    expect(agents(made)).toEqual(["scout", "general", "general"])
    expect(made.host.prompts.at(-1)?.text).toContain("Which file?")
  })

  test("when a person has a step done again", async () => {
    using made = scene(one(2), {
      general: [(child) => child.return({ status: "failed", decision_reason: "no compiler" }).then(() => child.step())],
    })
    const run = await made.run("x")
    expect(await asked(made, run)).toEqual(["x, b: general did not finish: E011: no compiler"])
    await made.answer(run, "question", "Take the other one")
    expect(await asked(made, run)).toEqual([`x, b: ${spent(2)}`])
    expect((await approved(made, run))?.status).toBe("completed")
    expect(made.host.prompts.at(-1)?.text).toContain("ada decided: Take the other one")
  })
})
