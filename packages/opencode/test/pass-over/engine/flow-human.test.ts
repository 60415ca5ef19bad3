import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"
import type { Child } from "../support/scripted-host"

const TWO = `
name: two
steps:
  - id: find
    agent: scout
    phase: research
    objective: Find it
  - id: make
    agent: general
    objective: Make it
    detours: [measure]
detours:
  - id: measure
    agent: inspector
    objective: Measure it
`

const findings = { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] }
const fine = (child: Child) => leaves(child, { decision: "PROCEED", findings })

/** Each time the agent is asked it does the next of these, and the last one for ever. */
function plays(scene: FlowScene, agent: string, ...turns: ((child: Child) => Promise<unknown>)[]) {
  let turn = 0
  scene.host.script(agent, async (child) => {
    await turns[Math.min(turn++, turns.length - 1)]?.(child)
  })
}

const asked = (scene: FlowScene, agent: string) => scene.host.prompts.filter((prompt) => prompt.agent === agent)

describe("a person is reached, and the run goes on from the answer", () => {
  test("STOP halts the run; going on all the same is a person's to say", async () => {
    using scene = createFlowScene([TWO])
    const conflict = { type: "naming", description: "total() is there already", severity: "critical" }
    plays(scene, "scout", (child) =>
      leaves(child, {
        decision: "STOP",
        findings: { ...findings, conflicts: [conflict] },
        routing: { recommendation: "CONTINUE", reason: "total() is there already" },
      }),
    )
    plays(scene, "general", fine)
    const run = await scene.run("two")
    expect((await scene.settled(run))?.state.status).toBe("waiting")
    expect(await scene.questions(run)).toMatchObject([{ why: "stop", question: "two, find: total() is there already" }])
    expect(asked(scene, "general")).toHaveLength(0)
    await scene.answer(run, "approve", "replace it")
    expect((await scene.settled(run))?.state).toMatchObject({
      status: "completed",
      results: { find: { passed: true } },
    })
  })

  test("an agent is told when to say which, and PROCEED over work that is not complete goes back once", async () => {
    using scene = createFlowScene([TWO])
    const half = { status: "partial", decision: "PROCEED", findings, issues: ["half of it is not looked at"] }
    plays(scene, "scout", (child) => leaves(child, half), fine)
    plays(scene, "general", fine)
    const run = await scene.run("two")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    const [first, second] = asked(scene, "scout")
    expect(first?.text).toContain('"STOP" if it is there already, would break something, opens a security hole')
    expect(first?.text).toContain('"CLARIFY" if the requirements are ambiguous, several ways are valid')
    expect(second?.text).toContain("PROCEED is not open: its own status is partial, and it names issues")
    // Who works in no phase decides nothing of the kind.
    expect(asked(scene, "general")[0]?.text).not.toContain("CLARIFY")
  })

  test("CLARIFY asks, and the answer goes back to the agent, which works with it", async () => {
    using scene = createFlowScene([TWO])
    const open_questions = [{ question: "Which currency?", priority: "high" }]
    plays(scene, "scout", (child) => leaves(child, { decision: "CLARIFY", findings, open_questions }), fine)
    plays(scene, "general", fine)
    const run = await scene.run("two")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([{ why: "clarify", question: "two, find: Which currency?" }])
    await scene.answer(run, "approve", "Swiss francs")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "scout")).toHaveLength(2)
    expect(asked(scene, "scout")[1]?.text).toContain("ada decided: Swiss francs")
  })

  test("BLOCKED asks, and a no ends the run with its reason", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine)
    plays(scene, "general", (child) =>
      leaves(child, {}, { decision: "blocked", decision_reason: "The database is not there." }),
    )
    const run = await scene.run("two")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([{ why: "blocked" }])
    await scene.answer(run, "reject", "not today")
    const done = await scene.settled(run)
    expect(done?.state).toMatchObject({ status: "stopped", reason: "The database is not there. — not today" })
    // What has ended can be done again from a step.
    plays(scene, "general", fine)
    expect(await scene.flows.order(run.run_id, { type: "retry", step: "make", actor: "ada" }, "ada")).toMatchObject({
      ok: true,
    })
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "scout")).toHaveLength(1)
  })

  test("ESCALATE asks, and what a person says goes into the next try", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine)
    plays(
      scene,
      "general",
      (child) => leaves(child, { routing: { recommendation: "ESCALATE", reason: "Two ways, both costly" } }),
      fine,
    )
    const run = await scene.run("two")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([
      { why: "escalate", question: "two, make: Two ways, both costly" },
    ])
    await scene.answer(run, "question", "Take the slow one")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "general")[1]?.text).toContain("ada decided: Take the slow one")
  })

  test("a step that fails asks; doing it again is one of the answers", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine)
    plays(
      scene,
      "general",
      (child) => child.return({ status: "failed", decision_reason: "no compiler here" }).then(() => child.step()),
      fine,
    )
    const run = await scene.run("two")
    await scene.settled(run)
    expect(await scene.questions(run)).toMatchObject([{ why: "failed" }])
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })
})

describe("agents among themselves", () => {
  test("a detour is made and its result goes to the step that asked for it", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine)
    plays(
      scene,
      "general",
      (child) =>
        leaves(child, {
          routing: { recommendation: "DETOUR", next_step_suggestion: "measure", reason: "needs numbers" },
        }),
      fine,
    )
    plays(scene, "inspector", (child) => leaves(child, { context_summary: "Measured src/total.ts: 4 ms a call." }))
    const run = await scene.run("two")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "inspector")[0]?.text).toContain("Measure it")
    expect(asked(scene, "general")[1]?.text).toContain("Measured src/total.ts: 4 ms a call.")
  })

  test("a detour that there is not becomes a question", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine)
    plays(scene, "general", (child) =>
      leaves(child, {
        routing: { recommendation: "DETOUR", next_step_suggestion: "deploy", reason: "must be seen live" },
      }),
    )
    const run = await scene.run("two")
    await scene.settled(run)
    expect((await scene.questions(run))[0]?.question).toContain("a detour to deploy was asked for")
  })

  test("a receiver that does not understand asks the sender, and goes on with the answer", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", fine, (child) =>
      leaves(child, { context_summary: "The column is the third of the table in src/total.ts." }),
    )
    const ack = {
      received: true,
      understood: "partial",
      blockers: ["Which column is meant?"],
      action: "request_clarification",
    }
    plays(
      scene,
      "general",
      (child) =>
        child
          .return({
            status: "partial",
            decision_reason: "unclear",
            artifacts: [
              { type: "message", role: "internal", content: JSON.stringify({ handoff: { acknowledgment: ack } }) },
            ],
          })
          .then(() => child.step()),
      fine,
    )
    const run = await scene.run("two")
    const done = await scene.settled(run)
    expect(done?.state.status).toBe("completed")
    const [, second] = asked(scene, "scout")
    expect(second?.text).toContain("Which column is meant?")
    expect(asked(scene, "general")[1]?.text).toContain("The column is the third of the table in src/total.ts.")
    expect(done?.state.log.map(({ from, to, status }) => `${from}>${to} ${status}`)).toEqual([
      "orchestrator>scout completed",
      "scout>general clarification",
      "general>scout completed",
      "scout>general completed",
      "general>orchestrator completed",
    ])
  })

  test("a handoff that says nothing is sent back once, with the reason, and then a person is asked", async () => {
    using scene = createFlowScene([TWO])
    plays(scene, "scout", (child) => leaves(child, { decision: "PROCEED", findings, context_summary: "It's done" }))
    const run = await scene.run("two")
    await scene.settled(run)
    const [, repair] = asked(scene, "scout")
    expect(repair?.text).toContain("it says nothing; name files, patterns and decisions")
    expect(asked(scene, "scout")).toHaveLength(2)
    expect(await scene.questions(run)).toMatchObject([{ why: "handoff" }])
  })

  test("an artifact that is not there is sent back, and the corrected handoff is taken", async () => {
    using scene = createFlowScene([TWO])
    scene.files.missing.add("docs/none.md")
    plays(
      scene,
      "scout",
      (child) => leaves(child, { decision: "PROCEED", findings, artifacts: [{ path: "docs/none.md" }] }),
      fine,
    )
    plays(scene, "general", fine)
    const run = await scene.run("two")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "scout")[1]?.text).toContain("Artifact docs/none.md not found")
  })
})

const GATED = `
name: gated
archive: true
steps:
  - id: make
    agent: general
    objective: Make it
  - id: check
    gate: release
    items: ["Is the total right?"]
  - id: ship
    agent: inspector
    objective: Ship it
`

describe("a gate", () => {
  test("approve goes on", async () => {
    using scene = createFlowScene([GATED])
    plays(scene, "general", fine)
    plays(scene, "inspector", fine)
    const run = await scene.run("gated")
    expect((await scene.settled(run))?.state.status).toBe("waiting")
    const [gate] = await scene.engine.store.gates({ run_id: run.run_id })
    expect(gate?.detail["package"]).toMatchObject({
      handoff: {
        to: { agent: "human", reason: "BLOCKING gate reached" },
        gate: { type: "blocking", name: "release", step: "check" },
        validation_request: {
          items: ["Is the total right?"],
          options: {
            approve: "Continue with next step",
            reject: "Adjustments required: make is done again with what you write, and what comes after it",
            question:
              "Clarification needed: general is asked what you write, and you are asked here again with the answer",
          },
        },
      },
    })
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("reject sends the work back, and the gate is asked again about what comes of it", async () => {
    using scene = createFlowScene([GATED])
    plays(scene, "general", fine)
    plays(scene, "inspector", fine)
    const run = await scene.run("gated")
    await scene.settled(run)
    await scene.answer(run, "reject", "Round to cents")
    await scene.settled(run)
    expect(asked(scene, "general")[1]?.text).toContain("ada decided: Round to cents")
    expect(await scene.questions(run)).toHaveLength(1)
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(asked(scene, "general")).toHaveLength(2)
  })

  test("a question is answered by the agent, and the gate is asked again", async () => {
    using scene = createFlowScene([GATED])
    plays(scene, "general", fine, (child) =>
      leaves(child, { context_summary: "The total of src/total.ts excludes tax." }),
    )
    plays(scene, "inspector", fine)
    const run = await scene.run("gated")
    await scene.settled(run)
    await scene.answer(run, "question", "With tax or without?")
    await scene.settled(run)
    expect(asked(scene, "general")[1]?.text).toContain("With tax or without?")
    expect(await scene.questions(run)).toHaveLength(1)
    await scene.answer(run, "approve")
    expect((await scene.settled(run))?.state.status).toBe("completed")
  })

  test("the same question is never in the inbox twice", async () => {
    using scene = createFlowScene([GATED])
    plays(scene, "general", fine)
    const run = await scene.run("gated")
    await scene.settled(run)
    using other = createFlowScene([GATED], { store: scene.engine.store, owner: "2", seed: 5_000 })
    expect(await other.flows.recover(() => "dead")).toBe(1)
    await other.settled(run)
    expect(await scene.questions(run)).toHaveLength(1)
  })
})
