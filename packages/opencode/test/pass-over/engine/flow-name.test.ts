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
