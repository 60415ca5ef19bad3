import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { Child } from "../support/scripted-host"

const LOOP = `
name: loop
steps:
  - id: build
    agent: general
    objective: Build it
    critic: { agent: audit, objective: Review it, rounds: 2 }
`

const RESEARCH = `
name: study
steps:
  - id: study
    agent: general
    phase: research
    objective: Study it
    critic: { agent: audit, objective: Review it }
  - { id: after, agent: inspector, objective: Go on, when: steps.study.decision == "PROCEED" }
`

const findings = { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] }
const defect = { severity: "error", category: "bug", message: "it loses cents", path: "src/total.ts", line: 1 }

type Turn = (child: Child) => Promise<unknown>

/** Each time an agent is asked it does the next of its turns, and the last one for ever. */
function plays(scene: FlowScene, turns: Record<string, Turn[]>) {
  for (const [agent, each] of Object.entries(turns)) {
    let turn = 0
    scene.host.script(agent, async (child) => void (await each[Math.min(turn++, each.length - 1)]?.(child)))
  }
}

const fine: Turn = (child) => leaves(child)
const vague: Turn = (child) => leaves(child, { context_summary: "It's done" })
const again: Turn = (child) =>
  leaves(
    child,
    { routing: { recommendation: "LOOP", can_further_iteration_help: true, reason: "Issues are fixable" } },
    { decision: "needs_modification", findings: [defect] },
  )

const agents = (scene: FlowScene) => scene.host.prompts.map(({ agent }) => agent)
const prompt = (scene: FlowScene, agent: string, at: number) =>
  scene.host.prompts.filter((each) => each.agent === agent)[at]?.text ?? ""

async function asked(scene: FlowScene, run: Awaited<ReturnType<FlowScene["run"]>>) {
  await scene.settled(run)
  const [gate] = await scene.engine.store.gates({ run_id: run.run_id, status: ["pending"] })
  if (!gate) throw new Error("nobody was asked")
  const { why, options, package: asking } = gate.detail
  return {
    why,
    options: options as Record<string, string>,
    handoff: (asking as { handoff: Record<string, unknown> }).handoff,
  }
}

describe("what a person's yes is about", () => {
  test("a worker's handoff that is taken as it is still meets its critic", async () => {
    using scene = createFlowScene([LOOP])
    plays(scene, { general: [vague], audit: [fine] })
    const run = await scene.run("loop")
    const { why, options } = await asked(scene, run)
    expect({ why, approve: options["approve"] }).toEqual({
      why: "handoff",
      approve: "Take the handoff as it is: the review by audit follows",
    })
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { build: { passed: true } },
    })
    expect(agents(scene)).toEqual(["general", "general", "audit"])
  })

  test("a critic's malformed handoff keeps its routing: the work goes round again", async () => {
    using scene = createFlowScene([LOOP])
    const loop: Turn = (child) =>
      leaves(
        child,
        {
          context_summary: "It's done",
          routing: { recommendation: "LOOP", can_further_iteration_help: true, reason: "fixable" },
        },
        { decision: "needs_modification", findings: [defect] },
      )
    plays(scene, { general: [fine], audit: [loop, loop, fine] })
    const run = await scene.run("loop")
    const { options } = await asked(scene, run)
    expect(options["approve"]).toBe("Take the review as it is: what it says holds, also where it wants another round")
    expect(options["question"]).toBe("What you write goes back to audit, which does it again")
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(agents(scene)).toEqual(["general", "audit", "audit", "general", "audit"])
    expect(prompt(scene, "general", 1)).toContain("it loses cents")
  })

  test("what is written about a critic's handoff goes to the critic, and a critic that failed reviews again", async () => {
    using scene = createFlowScene([LOOP])
    const fails: Turn = (child) =>
      child.return({ status: "failed", decision_reason: "no compiler here" }).then(() => child.step())
    plays(scene, { general: [fine], audit: [vague, vague, fails, fine] })
    const run = await scene.run("loop")
    await scene.settled(run)
    await scene.answer(run, "question", "Name the places")
    const { why, options } = await asked(scene, run)
    expect(prompt(scene, "audit", 2)).toContain("ada decided: Name the places")
    expect({ why, approve: options["approve"] }).toEqual({ why: "failed", approve: "audit does it again" })
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(agents(scene).filter((agent) => agent === "general")).toHaveLength(1)
  })

  test("a worker's STOP that is overruled is no review, and what comes after sees that the work goes on", async () => {
    using scene = createFlowScene([RESEARCH])
    const conflict = { type: "naming", description: "total() is there already", severity: "critical" }
    plays(scene, {
      general: [(child) => leaves(child, { decision: "STOP", findings: { ...findings, conflicts: [conflict] } })],
      audit: [fine],
      inspector: [fine],
    })
    const run = await scene.run("study")
    const { why, options } = await asked(scene, run)
    expect({ why, approve: options["approve"] }).toEqual({
      why: "stop",
      approve: "The run goes on all the same, with the review by audit",
    })
    await scene.answer(run, "approve", "replace it")
    expect((await scene.settled(run))?.state.results).toMatchObject({
      study: { passed: true, decision: "PROCEED", reason: "let through by ada: replace it" },
      after: { skipped: false },
    })
    expect(agents(scene)).toEqual(["general", "audit", "inspector"])
  })

  test("a STOP that a person has let through is not asked again after they grant more budget: its critic comes", async () => {
    using scene = createFlowScene([`budget: { passes: 1 }\n${RESEARCH}`])
    plays(scene, {
      general: [(child) => leaves(child, { decision: "STOP", findings })],
      audit: [fine],
      inspector: [fine],
    })
    const run = await scene.run("study")
    for (const why of ["stop", "budget", "budget"]) {
      expect((await asked(scene, run)).why).toBe(why)
      await scene.answer(run, "approve")
    }
    await scene.settled(run)
    expect(agents(scene)).toEqual(["general", "audit", "inspector"])
    expect((await scene.flows.state(run.run_id))?.state.results["study"]).toMatchObject({
      passed: true,
      reason: "let through by ada",
    })
  })

  test("a review that is not satisfied is overruled as a whole, in those words, with what it says beside them", async () => {
    using scene = createFlowScene([LOOP])
    plays(scene, { general: [fine], audit: [again] })
    const run = await scene.run("loop")
    const { why, options, handoff } = await asked(scene, run)
    expect({ why, approve: options["approve"] }).toEqual({
      why: "loop",
      approve: "The work is taken as it is, over what its review says, and the run goes on",
    })
    expect((handoff["validation_request"] as { items: string[] }).items).toContain("HIGH src/total.ts:1 it loses cents")
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.results["build"]).toMatchObject({ passed: true, concerns: { high: 1 } })
  })

  test("a branch's vote stays as it was cast; what the votes come to can be overruled", async () => {
    using scene = createFlowScene([
      "name: vote\nsteps:\n  - id: vote\n    parallel:\n      - { id: a, agent: scout, objective: Judge }\n      - { id: b, agent: audit, objective: Judge }\n",
    ])
    const no: Turn = (child) =>
      leaves(child, { context_summary: "It's done" }, { decision: "needs_modification", findings: [defect] })
    plays(scene, { scout: [fine], audit: [no] })
    const run = await scene.run("vote")
    expect((await asked(scene, run)).options["approve"]).toBe(
      "Take the handoff as it is: its vote counts as it was cast",
    )
    await scene.answer(run, "approve")
    const { why, options } = await asked(scene, run)
    expect({ why, approve: options["approve"] }).toEqual({
      why: "parallel",
      approve: "Go on all the same: the step counts as passed, over the votes against it",
    })
    expect((await scene.flows.state(run.run_id))?.state.results["vote.b"]).toMatchObject({ passed: false })
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { vote: { passed: true } },
    })
  })
})

test("a critic that found something grave and decided nothing sends the work round", async () => {
  using scene = createFlowScene([LOOP])
  plays(scene, {
    general: [fine],
    audit: [(child) => leaves(child, {}, { decision: undefined, findings: [defect] }), fine],
  })
  const run = await scene.run("loop")
  expect((await scene.settled(run))?.state.results["build"]).toMatchObject({ rounds: 2, passed: true })
  expect(agents(scene)).toEqual(["general", "audit", "general", "audit"])
})

const CHECKED = `
name: checked
inputs: { what: { default: "" } }
steps:
  - id: build
    agent: general
    objective: Build it
    critic: { agent: audit, objective: Review it, rounds: 2 }
  - id: checks
    parallel:
      - { id: risk, agent: inspector, objective: Judge the risk }
      - { id: fit, agent: scout, objective: Judge the fit, when: inputs.what == "" }
  - id: accept
    gate: "accept {{ inputs.what }}"
    items: ["Is {{ inputs.what }} right?"]
    on_reject: ON_REJECT
    options: { approve: "Ship {{ inputs.what }}" }
`

describe("at a gate", () => {
  test("a question behind a parallel step reaches one of its agents, and the answer is seen with the gate", async () => {
    using scene = createFlowScene([CHECKED.replace("ON_REJECT", "build")])
    plays(scene, {
      general: [fine],
      audit: [fine],
      scout: [fine],
      inspector: [fine, (child) => leaves(child, { context_summary: "The risk is in rounding at src/total.ts." })],
    })
    const run = await scene.run("checked", { what: "" })
    const first = await asked(scene, run)
    expect(first.options["question"]).toContain("inspector is asked what you write")
    await scene.answer(run, "question", "What is the risk?")
    const { handoff } = await asked(scene, run)
    expect(prompt(scene, "inspector", 1)).toContain("What is the risk?")
    const { summary } = handoff["context"] as { summary: string }
    expect(summary).toContain("2 of 2 branches passed")
    expect(summary).toContain("ada asked: What is the risk?")
    expect(summary).toContain("inspector answered: The risk is in rounding at src/total.ts.")
  })

  test("its own words are filled in, those of its options too", async () => {
    using scene = createFlowScene([CHECKED.replace("ON_REJECT", "build")])
    plays(scene, { general: [fine], audit: [fine], scout: [fine], inspector: [fine] })
    const run = await scene.run("checked", { what: "CSV" })
    const { options, handoff } = await asked(scene, run)
    expect(handoff).toMatchObject({ gate: { name: "accept CSV" }, validation_request: { items: ["Is CSV right?"] } })
    expect(options).toMatchObject({
      approve: "Ship CSV",
      reject: "Adjustments required: build is done again with what you write, and what comes after it",
    })
  })

  test("its title is filled in wherever it is told: in the question, for a redo, and in its result", async () => {
    using scene = createFlowScene([CHECKED.replace("ON_REJECT", "build")])
    const fails: Turn = (child) =>
      child.return({ status: "failed", decision_reason: "no compiler here" }).then(() => child.step())
    plays(scene, { general: [fine], audit: [fine], inspector: [fine, fine, fine, fails] })
    const run = await scene.run("checked", { what: "CSV" })
    const question = async () => {
      await scene.settled(run)
      return (await scene.questions(run)).map((each) => each.question)
    }
    const titled = [expect.stringContaining("accept CSV")]
    expect(await question()).toEqual(titled)
    await scene.answer(run, "reject")
    expect(await question()).toEqual(titled)
    expect(prompt(scene, "general", 1)).toContain("ada decided: Adjustments required at accept CSV")
    await scene.answer(run, "question", "What is the risk?")
    expect(await question()).toEqual(titled)
    await scene.answer(run, "question", "And how great is it?")
    expect(await question()).toEqual([expect.stringContaining("no compiler here")])
    await scene.answer(run, "approve")
    expect(await question()).toEqual(titled)
    await scene.answer(run, "approve", "ship it")
    expect((await scene.settled(run))?.state.results["accept"]?.summary).toBe("accept CSV: approved: ship it")
  })

  test("a no with nothing to send back ends the run in the words of its title", async () => {
    const alone =
      'name: alone\ninputs: { what: {} }\nsteps:\n  - { id: ok, gate: "accept {{ inputs.what }}", items: ["Right?"] }\n'
    using scene = createFlowScene([alone])
    const run = await scene.run("alone", { what: "CSV" })
    await scene.settled(run)
    // Nobody is there who could answer: it is asked as it is.
    await scene.answer(run, "question", "Which one?")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([{ question: expect.stringContaining("accept CSV") }])
    await scene.answer(run, "reject")
    expect((await scene.settled(run))?.state).toMatchObject({ status: "stopped", reason: "rejected at accept CSV" })
  })

  test("a parallel step that it sends back is done again, with what the person wrote", async () => {
    using scene = createFlowScene([CHECKED.replace("ON_REJECT", "checks")])
    plays(scene, { general: [fine], audit: [fine], scout: [fine], inspector: [fine] })
    const run = await scene.run("checked", { what: "" })
    await scene.settled(run)
    await scene.answer(run, "reject", "Look at rounding")
    expect((await scene.settled(run))?.state.status).toBe("waiting")
    expect(agents(scene).slice(-2).toSorted()).toEqual(["inspector", "scout"])
    expect(prompt(scene, "inspector", 1)).toContain("ada decided: Look at rounding")
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("a sub-flow that it sends back is done again from its first step", async () => {
    using scene = createFlowScene([
      'name: outer\nsteps:\n  - { id: sub, flow: inner }\n  - { id: ok, gate: release, items: ["Right?"], on_reject: sub }\n',
      "name: inner\nsteps:\n  - { id: a, agent: scout, objective: One }\n  - { id: b, agent: general, objective: Two }\n",
    ])
    plays(scene, { general: [fine], scout: [fine] })
    const run = await scene.run("outer")
    await scene.settled(run)
    await scene.answer(run, "reject", "No")
    await scene.settled(run)
    expect(agents(scene)).toEqual(["scout", "general", "scout", "general"])
  })

  test("of a sub-flow that it sends back nothing is done that was left out", async () => {
    using scene = createFlowScene([
      'name: outer\nsteps:\n  - { id: sub, flow: inner }\n  - { id: ok, gate: release, items: ["Right?"], on_reject: sub }\n',
      'name: inner\nsteps:\n  - { id: a, agent: scout, objective: One, when: "1 > 2" }\n  - { id: b, agent: general, objective: Two }\n',
    ])
    plays(scene, { general: [fine], scout: [fine] })
    const run = await scene.run("outer")
    expect((await asked(scene, run)).options["reject"]).toContain("sub.b is done again")
    await scene.answer(run, "reject", "Round to cents")
    await scene.settled(run)
    expect(agents(scene)).toEqual(["general", "general"])
    expect(prompt(scene, "general", 1)).toContain("ada decided: Round to cents")
  })

  test("the work that is sent back has all of its rounds again", async () => {
    using scene = createFlowScene([CHECKED.replace("ON_REJECT", "build")])
    plays(scene, { general: [fine], audit: [again, fine, again, fine], scout: [fine], inspector: [fine] })
    const run = await scene.run("checked", { what: "" })
    await scene.settled(run)
    await scene.answer(run, "reject", "Round to cents")
    expect((await asked(scene, run)).why).toBe("gate")
    expect((await scene.flows.state(run.run_id))?.state.results["build"]).toMatchObject({ rounds: 4 })
  })
})

test("a branch whose condition cannot be told asks a person, and is not left out of the vote", async () => {
  const text =
    "name: vote\nsteps:\n  - { id: a, agent: scout, objective: Look }\n  - id: vote\n    parallel:\n      - { id: b, agent: audit, objective: Judge, when: steps.a.findings.count > 0 }\n      - { id: c, agent: inspector, objective: Judge }\n"
  for (const verdict of ["approve", "question"] as const) {
    using scene = createFlowScene([text])
    plays(scene, { scout: [fine], audit: [fine], inspector: [fine] })
    const run = await scene.run("vote")
    const { why, options } = await asked(scene, run)
    expect(why).toBe("condition")
    expect(options).toEqual({
      approve: "Do the step all the same",
      reject: "Stop the run",
      question: "Leave the step out",
    })
    await scene.answer(run, verdict, "not needed")
    const passed = verdict === "approve" ? 2 : 1
    expect((await scene.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { vote: { passed: true, findings: { aggregation: { total: passed, passed } } } },
    })
  }
})
