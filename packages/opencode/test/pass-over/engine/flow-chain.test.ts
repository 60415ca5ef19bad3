import { describe, expect, test } from "bun:test"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"

const found = { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] }

/** Whoever works says what only they could know. */
function scene(...flows: string[]) {
  const made = createFlowScene(flows)
  for (const agent of ["scout", "audit", "inspector", "general"])
    made.host.script(agent, async (child) => {
      const research = agent === "scout" ? { findings: found } : {}
      await leaves(child, { context_summary: `What ${agent} knows of src/total.ts`, ...research })
    })
  return made
}

const told = (made: FlowScene, agent: string) =>
  made.host.prompts.filter((prompt) => prompt.agent === agent).at(-1)?.text ?? ""

/** The package that goes along with the question of a gate, and what its answers do. */
async function shown(made: FlowScene) {
  const [gate] = await made.engine.store.gates({ status: ["pending"] })
  if (!gate) throw new Error("no question waits")
  const { package: sent, options } = gate.detail as {
    package: { handoff: { context: { summary: string } } }
    options: Record<string, string>
  }
  return { summary: sent.handoff.context.summary, options }
}

const LEFT_OUT = `
name: x
inputs: { deep: { default: "no" } }
steps:
  - { id: find, agent: scout, objective: Find, phase: research }
  - { id: extra, agent: audit, objective: More, when: inputs.deep == "yes" }
  - { id: write, agent: general, objective: Write, phase: write }
`

describe("what goes along to a step that names none", () => {
  test("is what the nearest step has left that was not left out", async () => {
    using made = scene(LEFT_OUT)
    await made.settled(await made.run("x"))
    expect(told(made, "general")).toContain('"previous_findings": "What scout knows of src/total.ts"')
    expect(told(made, "general")).toContain("agent: scout")
    using deep = scene(LEFT_OUT)
    await deep.settled(await deep.run("x", { deep: "yes" }))
    expect(told(deep, "general")).toContain('"previous_findings": "What audit knows of src/total.ts"')
  })

  test("behind a gate it is the work before it, with what was said there", async () => {
    using made = scene(
      "name: x\nsteps:\n  - { id: find, agent: scout, objective: Find, phase: research }\n  - { id: plan, gate: the plan, items: [Good?] }\n  - { id: more, gate: the rest, items: [Good?] }\n  - { id: write, agent: general, objective: Write, phase: write }\n",
    )
    const run = await made.run("x")
    await made.settled(run)
    expect((await shown(made)).summary).toBe("What scout knows of src/total.ts")
    await made.answer(run, "approve", "but keep the old name")
    await made.settled(run)
    const second = await shown(made)
    expect(second.summary).toContain("What scout knows of src/total.ts")
    expect(second.summary).toContain("the plan: approved: but keep the old name")
    await made.answer(run, "approve")
    await made.settled(run)
    const text = told(made, "general")
    expect(text).toContain("What scout knows of src/total.ts")
    expect(text).toContain("the plan: approved: but keep the old name")
    expect(text).toContain("the rest: approved")
    expect((await made.flows.state(run.run_id))?.state.log.map(({ from, to }) => `${from}>${to}`)).toContain(
      "scout>general",
    )
  })

  test("branches behind a gate are given it too", async () => {
    using made = scene(
      "name: x\nsteps:\n  - { id: find, agent: scout, objective: Find }\n  - { id: plan, gate: the plan, items: [Good?] }\n  - { id: p, parallel: [{ id: a, agent: general, objective: Write }] }\n",
    )
    const run = await made.run("x")
    await made.settled(run)
    await made.answer(run, "approve")
    await made.settled(run)
    expect(told(made, "general")).toContain("What scout knows of src/total.ts")
  })

  test("a sub-flow that is named hands over its work, also where it ends with a gate or with a step left out", async () => {
    using made = scene(
      "name: x\nsteps:\n  - { id: sub, flow: inner }\n  - { id: between, agent: audit, objective: Wait }\n  - { id: write, agent: general, objective: Write, takes: [sub] }\n",
      'name: inner\nsteps:\n  - { id: find, agent: scout, objective: Find }\n  - { id: plan, gate: the plan, items: [Good?] }\n  - { id: never, agent: inspector, objective: Never, when: "1 > 2" }\n',
    )
    const run = await made.run("x")
    await made.settled(run)
    await made.answer(run, "approve")
    await made.settled(run)
    const text = told(made, "general")
    expect(text).toContain("What scout knows of src/total.ts")
    expect(text).toContain("the plan: approved")
    expect(text).not.toContain("What audit knows")
  })
})

describe("a gate that names no step to do again", () => {
  const GATE = `${LEFT_OUT.replace("  - { id: write, agent: general, objective: Write, phase: write }\n", "")}  - { id: accept, gate: the work, items: [Good?] }\n`

  test("sends back the nearest one that was not left out, and puts its question to it", async () => {
    using made = scene(GATE)
    const run = await made.run("x")
    await made.settled(run)
    const { summary, options } = await shown(made)
    expect(summary).toBe("What scout knows of src/total.ts")
    expect(options["reject"]).toStartWith("Adjustments required: find is done again")
    expect(options["question"]).toStartWith("Clarification needed: scout is asked")
    await made.answer(run, "question", "Which file?")
    await made.settled(run)
    expect(told(made, "scout")).toContain("Which file?")
    await made.answer(run, "reject", "Once more")
    const done = await made.settled(run)
    expect(told(made, "scout")).toContain("ada decided: Once more")
    expect(done?.state.results["extra"]?.skipped).toBe(true)
    expect(made.host.prompts.map(({ agent }) => agent)).toEqual(["scout", "scout", "scout"])
  })
})

describe("what goes along to whoever corrects a handoff", () => {
  const LOOP = `
name: x
steps:
  - { id: find, agent: scout, objective: Find, phase: research }
  - { id: build, agent: general, objective: Build, critic: { agent: audit, objective: Review } }
`
  const heard = (made: FlowScene, agent: string) =>
    made.host.prompts.filter((prompt) => prompt.agent === agent).map(({ text }) => text)
  /** What stands under a title, between its marks. */
  const under = (text: string | undefined, title: string) =>
    text?.split(`## ${title}\n`)[1]?.split("pass-over-handoff>>")[0] ?? ""

  test("is the work under review and its own review, and not the worker's words as its own", async () => {
    using made = scene(LOOP)
    let reviews = 0
    made.host.script("audit", async (child) => {
      reviews += 1
      if (reviews > 1) return void (await leaves(child))
      const routing = { recommendation: "LOOP", can_further_iteration_help: true, reason: "It can be mended" }
      const finding = { severity: "error", category: "bug", message: "it loses cents", path: "src/total.ts", line: 1 }
      await leaves(
        child,
        { context_summary: "It's done", routing },
        { decision: "needs_modification", findings: [finding] },
      )
    })
    await made.settled(await made.run("x"))
    const [, corrects] = heard(made, "audit")
    expect(under(corrects, "Handoff package")).toContain("What general knows of src/total.ts")
    const own = under(corrects, "What you left before")
    expect(own).toContain("it loses cents")
    expect(own).toContain("recommendation: LOOP")
    expect(own).not.toContain("What general knows")
  })

  test("is all that it had left, its findings and its questions among it", async () => {
    using made = scene(LOOP)
    let turn = 0
    made.host.script("scout", async (child) => {
      turn += 1
      if (turn > 1) return void (await leaves(child, { findings: found, decision: "PROCEED" }))
      await leaves(child, {
        context_summary: "It's done",
        decision: "PROCEED",
        findings: { ...found, recommendations: ["Reuse sum() of src/sum.ts"] },
        open_questions: [{ question: "Are cents rounded up?", priority: "low" }],
      })
    })
    await made.settled(await made.run("x"))
    const own = under(heard(made, "scout")[1], "What you left before")
    expect(own).toContain("Reuse sum() of src/sum.ts")
    expect(own).toContain("Are cents rounded up?")
  })

  test("and to a worker whose critic asks about the work: what it had made of it", async () => {
    using made = scene(LOOP)
    let reviews = 0
    const blockers = ["Which rows are meant?"]
    const acknowledgment = { received: true, understood: "partial", blockers, action: "request_clarification" }
    made.host.script("audit", async (child) => {
      reviews += 1
      await (reviews > 1 ? leaves(child) : leaves(child, { acknowledgment }, { status: "partial" }))
    })
    await made.settled(await made.run("x"))
    const [, asked] = heard(made, "general")
    expect(asked).toContain("Which rows are meant?")
    expect(under(asked, "Handoff package")).toContain("What general knows of src/total.ts")
  })
})
