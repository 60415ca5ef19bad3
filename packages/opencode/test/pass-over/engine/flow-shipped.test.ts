import { expect, test } from "bun:test"
import { SHIPPED_FLOWS } from "../../../src/flow/shipped"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { Child } from "../support/scripted-host"

const RESEARCH = {
  existing_implementations: [{ file: "src/total.ts", description: "adds the columns", relevance: "high" }],
  conflicts: [],
  patterns_found: [],
  recommendations: ["src/total.ts line 1"],
}
const WRITTEN = { files_created: [], files_modified: [], tests_written: [], implementation_notes: ["one line"] }
const checked = (overall_passed: boolean) => ({
  checks: { tests: { passed: overall_passed, total: 2, passed_count: 2, failed_count: 0, failures: [] } },
  overall_passed,
  blocking_issues: overall_passed ? [] : ["it loses cents"],
  warnings: [],
})

const defect = { severity: "error", category: "bug", message: "it loses cents", path: "src/total.ts", line: 1 }

const scene = (name: string) => createFlowScene([SHIPPED_FLOWS[name] ?? ""])

function plays(of: FlowScene, agents: Record<string, (child: Child) => Promise<unknown>>) {
  for (const [agent, play] of Object.entries(agents)) of.host.script(agent, async (child) => void (await play(child)))
}

const prompts = (of: FlowScene) => of.host.prompts.map(({ agent }) => agent)
const text = (of: FlowScene, agent: string, at = 0) =>
  of.host.prompts.filter((prompt) => prompt.agent === agent)[at]?.text ?? ""

test("every flow that comes with the product runs in a test", () => {
  expect(Object.keys(SHIPPED_FLOWS).toSorted()).toEqual(["bugfix", "council", "feature", "review"])
})

test("review: what there is is looked up, then judged with what was found", async () => {
  using world = scene("review")
  plays(world, {
    scout: (child) =>
      leaves(child, {
        decision: "PROCEED",
        findings: RESEARCH,
        context_summary: "src/total.ts changed; test/total.test.ts covers it.",
      }),
    audit: (child) => leaves(child, { findings: checked(true) }),
  })
  const run = await world.run("review", { target: "src/total.ts" })
  const done = await world.settled(run)
  expect(done?.state).toMatchObject({ status: "completed", results: { audit: { passed: true } } })
  expect(prompts(world)).toEqual(["scout", "audit"])
  expect(text(world, "scout")).toContain("Find out what there is to review: src/total.ts")
  expect(text(world, "audit")).toContain("with regard to correctness, security and tests")
  expect(text(world, "audit")).toContain("src/total.ts changed; test/total.test.ts covers it.")
})

test("review: what it finds comes back to whoever asked for it, and nobody has to answer first", async () => {
  using world = scene("review")
  plays(world, {
    scout: (child) => leaves(child, { decision: "PROCEED", findings: RESEARCH }),
    audit: (child) =>
      leaves(child, { findings: checked(false) }, { decision: "needs_modification", findings: [defect] }),
  })
  const run = await world.run("review")
  expect((await world.settled(run))?.state).toMatchObject({
    status: "completed",
    results: { audit: { passed: false, concerns: { high: 1 } } },
  })
  expect(world.host.delivered[0]?.text).toContain("it loses cents")
  expect(world.host.delivered[0]?.text).toContain("Your next step is to put right what you agree with")
})

test("bugfix: reproduced, fixed with a review, and verified with what failed before", async () => {
  using world = scene("bugfix")
  let reviews = 0
  plays(world, {
    inspector: (child) =>
      child.prompt.text.includes("Reproduce this")
        ? leaves(child, {
            decision: "PROCEED",
            findings: RESEARCH,
            context_summary: "bun test test/total.test.ts fails because of src/total.ts line 1.",
          })
        : leaves(child, { findings: checked(true) }),
    general: (child) => leaves(child, { decision: "PROCEED", findings: WRITTEN }),
    audit: (child) => {
      reviews += 1
      const routing = { recommendation: "LOOP", can_further_iteration_help: true, reason: "the cause is still there" }
      return reviews === 1
        ? leaves(child, { routing }, { decision: "needs_modification", findings: [defect] })
        : leaves(child)
    },
  })
  const run = await world.run("bugfix", { bug: "cents are lost" })
  const done = await world.settled(run)
  expect(done?.state).toMatchObject({
    status: "completed",
    results: { fix: { rounds: 2, passed: true }, verify: { passed: true } },
  })
  expect(prompts(world)).toEqual(["inspector", "general", "audit", "general", "audit", "inspector"])
  expect(text(world, "general")).toContain("bun test test/total.test.ts fails because of src/total.ts line 1.")
  expect(text(world, "general", 1)).toContain("it loses cents")
  // Who verifies is told what failed before, and what was done about it.
  expect(text(world, "inspector", 1)).toContain("bun test test/total.test.ts fails because of src/total.ts line 1.")
})

test("bugfix: what cannot be made to happen is asked about before anything is changed", async () => {
  using world = scene("bugfix")
  let asked = 0
  plays(world, {
    inspector: (child) => {
      asked += 1
      const question = "Which currency is it about?"
      return asked === 1
        ? leaves(child, { decision: "CLARIFY", findings: RESEARCH, open_questions: [{ question, priority: "high" }] })
        : leaves(child, { decision: "PROCEED", findings: asked === 2 ? RESEARCH : checked(true) })
    },
    general: (child) => leaves(child, { decision: "PROCEED", findings: WRITTEN }),
    audit: (child) => leaves(child),
  })
  const run = await world.run("bugfix", { bug: "cents are lost" })
  await world.settled(run)
  expect(await world.questions(run)).toMatchObject([
    { why: "clarify", question: expect.stringContaining("Which currency is it about?") },
  ])
  expect(prompts(world)).toEqual(["inspector"])
  await world.answer(run, "approve", "yen, which have none")
  expect((await world.settled(run))?.state.status).toBe("completed")
  expect(text(world, "inspector", 1)).toContain("ada decided: yen, which have none")
})

const judge = (yes: boolean) => (child: Child) =>
  yes
    ? leaves(child, { findings: checked(true) })
    : leaves(child, { findings: checked(false) }, { decision: "needs_modification", findings: [defect] })

test("council: two of three have to agree", async () => {
  using world = scene("council")
  plays(world, { audit: judge(true), inspector: judge(false), scout: judge(true) })
  const run = await world.run("council", { question: "May src/total.ts use floats?" })
  const done = await world.settled(run)
  expect(done?.state).toMatchObject({
    status: "completed",
    results: { council: { passed: true, findings: { aggregation: { passed: 2, failed: 1, rule: "quorum 2" } } } },
  })
  expect(prompts(world).toSorted()).toEqual(["audit", "inspector", "scout"])
  for (const agent of ["audit", "inspector", "scout"])
    expect(text(world, agent)).toContain("May src/total.ts use floats?")
})

test("council: without two a person decides", async () => {
  using world = scene("council")
  plays(world, { audit: judge(true), inspector: judge(false), scout: judge(false) })
  const run = await world.run("council", { question: "May src/total.ts use floats?" })
  await world.settled(run)
  expect(await world.questions(run)).toMatchObject([
    { why: "parallel", question: expect.stringContaining("1 of 3 branches passed (quorum 2)") },
  ])
  await world.answer(run, "reject", "no floats")
  expect((await world.settled(run))?.state).toMatchObject({
    status: "stopped",
    reason: expect.stringContaining("no floats"),
  })
})

test("feature: a rejection at the gate goes back to the work, with what the person wrote", async () => {
  using world = scene("feature")
  plays(world, {
    scout: (child) => leaves(child, { decision: "PROCEED", findings: RESEARCH }),
    general: (child) => leaves(child, { decision: "PROCEED", findings: WRITTEN }),
    audit: (child) => leaves(child),
    inspector: (child) => leaves(child, { findings: checked(true) }),
  })
  const run = await world.run("feature", { goal: "totals" })
  await world.settled(run)
  await world.answer(run, "reject", "use cents")
  await world.settled(run)
  await world.answer(run, "approve")
  expect((await world.settled(run))?.state.status).toBe("completed")
  const once = ["general", "audit", "inspector"]
  expect(prompts(world)).toEqual(["scout", ...once, ...once])
  expect(text(world, "general", 1)).toContain("ada decided: use cents")
})
