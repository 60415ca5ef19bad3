import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { Child } from "../support/scripted-host"

const AGENTS = ["scout", "audit", "inspector", "general"]

type Plays = Record<string, (child: Child) => Promise<unknown>>

/** Everybody does their work, but for those who play another part. */
function scene(flow: string, plays: Plays) {
  const made = createFlowScene([flow])
  for (const agent of AGENTS) made.host.script(agent, async (child) => void (await (plays[agent] ?? leaves)(child)))
  return made
}

async function ends(made: FlowScene) {
  const run = await made.run("x")
  const done = await made.settled(run)
  return { state: done?.state, questions: (await made.questions(run)).map(({ question }) => question) }
}

const flow = (step: string) =>
  `name: x\ndetours:\n  - { id: measure, agent: inspector, objective: Measure }\nsteps:\n  - { id: before, agent: audit, objective: Zero }\n  - { id: a, agent: scout, objective: One, ${step} }\n  - { id: b, agent: general, objective: Two }\n`

const detours = (child: Child) =>
  leaves(child, { routing: { recommendation: "DETOUR", next_step_suggestion: "measure", reason: "needs numbers" } })

const unclear = (child: Child) =>
  leaves(
    child,
    { acknowledgment: { received: true, understood: "partial", questions: ["Which column?"] } },
    { status: "partial" },
  )

const gone = async () => {
  throw new Error("gone")
}

/** Does its own step, and is gone when it is asked about it. */
function once() {
  let asked = 0
  return (child: Child) => (++asked > 1 ? gone() : leaves(child))
}

describe("what follows from a failure holds for whatever a step asks for", () => {
  const TABLE: [string, string, () => Plays][] = [
    ["its own work", "", () => ({ scout: gone })],
    ["its review", "critic: { agent: inspector, objective: Review },", () => ({ inspector: gone })],
    ["its detour", "detours: [measure],", () => ({ scout: detours, inspector: gone })],
    ["whoever it asks back", "", () => ({ scout: unclear, audit: once() })],
  ]
  for (const [name, fields, plays] of TABLE) {
    test(`${name}: continue goes on, and the step has not passed`, async () => {
      using made = scene(flow(`${fields} on_failure: continue`), plays())
      expect(await ends(made)).toMatchObject({
        state: { status: "completed", results: { a: { passed: false }, b: { passed: true } } },
        questions: [],
      })
    })

    test(`${name}: stop ends the run`, async () => {
      using made = scene(flow(`${fields} on_failure: stop`), plays())
      expect(await ends(made)).toMatchObject({
        state: { status: "stopped", reason: expect.stringContaining("did not finish: E011: gone") },
        questions: [],
      })
    })
  }
})

test("why a step failed is told with its code once", async () => {
  using made = scene(flow(""), { scout: gone })
  const { questions } = await ends(made)
  expect(questions).toEqual([expect.stringMatching(/^x, a: scout did not finish: E011: gone; missing/)])
})

test("so it is where its pass could not even begin", async () => {
  using made = scene(flow(""), {})
  const pairs = { "alice->audit": { enabled: false, reason: "not here" } }
  made.preferences.push({ origin: "project", path: "x", preferences: { pairs } })
  const { questions } = await ends(made)
  expect(questions).toEqual([expect.stringMatching(/^x, before: audit did not finish: E004 /)])
  expect(questions[0]?.match(/E004/g)).toHaveLength(1)
})

test("a path that cannot be held to is told, and not passed on as a wish", async () => {
  using made = scene(flow('constraints: ["no_paths: secret keys", "the API stays as it is"]'), {})
  const { questions } = await ends(made)
  expect(questions).toEqual([expect.stringContaining('"secret keys" is not read as a path')])
})
