import { expect, test } from "bun:test"
import { createFlowScene, leaves } from "../support/flow"
import { parseFlow } from "../../../src/pass-over/handoff/source"
import { inputProblem } from "../../../src/pass-over/service/flow-plan"

function scene(...flows: string[]) {
  const made = createFlowScene(flows)
  for (const agent of ["scout", "audit", "inspector", "general"])
    made.host.script(agent, async (child) => void (await leaves(child)))
  return made
}

const OUTER = `
name: x
inputs: { constructor: {}, toString: { default: "round" }, valueOf: { required: false } }
steps:
  - { id: constructor, agent: scout, objective: "Find {{ inputs.constructor }}", when: 'inputs.toString == "round"' }
  - { id: next, agent: general, objective: Write, takes: [constructor], when: steps.constructor.passed }
  - { id: p, parallel: [{ id: constructor, agent: audit, objective: Look }] }
  - { id: accept, gate: the work, items: [Good?], on_reject: constructor }
`

test("a step and an input may be called as the things that every record has", async () => {
  using made = scene(OUTER)
  const run = await made.run("x", { constructor: "the wheel" })
  await made.settled(run)
  await made.answer(run, "reject", "Once more")
  await made.settled(run)
  await made.answer(run, "approve")
  const done = await made.settled(run)
  expect(done?.state).toMatchObject({ status: "completed", usage: { passes: 6, tokens: 660 } })
  expect(Object.keys(done?.state.results ?? {}).toSorted()).toEqual([
    "accept",
    "constructor",
    "next",
    "p",
    "p.constructor",
  ])
  expect(made.host.prompts.map(({ agent }) => agent)).toEqual([
    "scout",
    "general",
    "audit",
    "scout",
    "general",
    "audit",
  ])
  expect(made.host.prompts[0]?.text).toContain("Find the wheel")
})

test("a flow in a flow too", async () => {
  using made = scene(
    'name: x\nsteps:\n  - { id: constructor, flow: constructor, with: { constructor: "the wheel" } }\n  - { id: last, agent: general, objective: Last, takes: [constructor], when: steps.constructor.passed }\n',
    'name: constructor\ninputs: { constructor: {} }\nsteps:\n  - { id: constructor, agent: scout, objective: "Find {{ inputs.constructor }}" }\n',
  )
  const done = await made.settled(await made.run("x"))
  expect(done?.state.status).toBe("completed")
  expect(made.host.prompts.map(({ agent }) => agent)).toEqual(["scout", "general"])
  expect(made.host.prompts[0]?.text).toContain("Find the wheel")
})

test("an input of such a name that is not given is missed, in a flow and in a flow in it", async () => {
  const read = parseFlow(OUTER)
  if (!read.ok) throw new Error("it is in order")
  expect(inputProblem(read.flow, {})).toBe("The flow x also needs: constructor.")
  expect(inputProblem(read.flow, { constructor: " " })).toBe("The flow x also needs: constructor.")
  expect(inputProblem(read.flow, { constructor: "the wheel" })).toBeUndefined()
  using made = scene(
    "name: x\nsteps:\n  - { id: a, flow: inner }\n",
    "name: inner\ninputs: { constructor: {} }\nsteps:\n  - { id: a, agent: scout, objective: Find }\n",
  )
  await expect(made.run("x")).rejects.toThrow('the flow "inner" also needs: constructor')
})

test("the one name that no reader keeps is refused", () => {
  const faults = (text: string) => {
    const read = parseFlow(text)
    return read.ok ? [] : read.faults.map(({ line, column, message }) => `${line}:${column} ${message}`)
  }
  const step = "steps:\n  - { id: a, agent: scout, objective: One }\n"
  expect(faults(`name: x\ninputs: { __proto__: {} }\n${step}`)).toEqual([
    "2:11 inputs.__proto__: an input cannot be called __proto__",
  ])
  expect(faults('name: x\nsteps:\n  - { id: a, flow: b, with: { __proto__: "y" } }\n')).toEqual([
    "3:31 steps.0.with.__proto__: an input cannot be called __proto__",
  ])
})

const STEPS = (agent: string) => `name: x\nsteps:\n  - { id: a, agent: ${JSON.stringify(agent)}, objective: One }\n`

test("a flow names any agent that there may be", () => {
  for (const agent of ["team/reviewer", "my reviewer", "prüfer", "проверяющий", "审阅", "a".repeat(200)])
    expect(parseFlow(STEPS(agent)).ok).toBe(true)
  for (const agent of ["", " ", "two\nlines", "a\u0007", "a\u2028b", "a".repeat(201), "{{ inputs.who }}"])
    expect(parseFlow(STEPS(agent)).ok).toBe(false)
})

test("what such agents leave has safe file names, each its own", async () => {
  const agents = [
    "../../etc/passwd",
    "проверяющий",
    "исполнитель",
    "my reviewer",
    "my_reviewer",
    "a".repeat(150),
    "audit",
  ]
  const steps = agents.map((agent, at) => `      - { id: b${at}, agent: ${JSON.stringify(agent)}, objective: One }`)
  const critic = `  - { id: w, agent: исполнитель, objective: One, critic: { agent: проверяющий, objective: Review } }\n`
  using made = createFlowScene([`name: x\nsteps:\n  - id: p\n    parallel:\n${steps.join("\n")}\n${critic}`])
  made.host.agents = async () => ["alice", ...agents].map((name) => ({ name, mode: "subagent" as const }))
  for (const agent of agents) made.host.script(agent, async (child) => void (await leaves(child)))
  const run = await made.run("x")
  expect((await made.settled(run))?.state.status).toBe("completed")
  const files = [...made.files.written.keys()].filter((path) => path.includes("/handoffs/"))
  const base = `.opencode/runs/${run.run_id}/x/handoffs/`
  for (const path of files)
    expect(path).toMatch(/^\.opencode\/runs\/run_[0-9a-f]+\/x\/handoffs\/[A-Za-z0-9._@-]{1,250}\.json$/)
  expect(files).toContain(`${base}p.b6-audit.json`)
  expect(files.filter((path) => path.startsWith(`${base}p.b`))).toHaveLength(agents.length)
  expect(files.filter((path) => path.startsWith(`${base}w-`))).toHaveLength(2)
  // Nobody's envelope has become an earlier round of somebody else's.
  expect(files.filter((path) => /\.\d+\.json$/.test(path))).toEqual([])
})
