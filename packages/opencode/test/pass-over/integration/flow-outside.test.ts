import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test"
import { call, createModel, createSandbox, type Model, type Sandbox } from "@pass-over/rehearsal"
import { passOver } from "../support/launcher"
import { until } from "../support/until"
import { plugin, storeOf } from "../support/opencode"

setDefaultTimeout(120_000)

const FLOW = `name: two
steps:
  - { id: find, agent: scout, objective: Find it }
  - { id: ok, gate: release, items: ["Is it right?"] }
  - { id: end, agent: inspector, objective: End it }
`

const held = {} as { model: Model; box: Sandbox }

beforeEach(async () => {
  held.model = await createModel()
  held.box = await createSandbox({
    model: held.model,
    plugins: [await plugin()],
    files: { "src/total.ts": "export const total = 1\n", ".opencode/flows/two.yaml": FLOW },
  })
})
afterEach(async () => {
  held.model.verify()
  expect(await held.box.dispose()).toEqual([])
  held.model.stop()
})

const done = call("pass_over_return", {
  decision: "approved",
  decision_reason: "The total in src/total.ts adds every column and holds.",
})

test("a flow that is started from a shell gets an opencode, which goes while a person is waited for; the answer gets another", async () => {
  const { model, box } = held
  model.play({ agents: { scout: done, inspector: done } })
  const ran = await passOver(box, "flow", "run", "two", "--json")
  expect([ran.err, ran.code]).toEqual(["", 0])
  const { run_id, carried } = ran.json() as { run_id: string; carried: boolean }
  expect(carried).toBe(true)
  using store = Object.assign(storeOf(box), { [Symbol.dispose]: () => store.close() })
  const stands = (status: string) =>
    until(`a run that is ${status}`, async () => ((await store.run(run_id))?.status === status ? true : undefined))
  await stands("waiting")
  expect(await box.leftovers(20_000)).toEqual([])
  const [gate] = await store.gates({ run_id, status: ["pending"] })
  const answered = await passOver(box, "approve", gate!.gate_id)
  expect([answered.err, answered.code]).toEqual(["", 0])
  await stands("completed")
  const passes = await store.list({})
  expect(passes.map(({ subagent_id, status }) => `${subagent_id} ${status}`)).toEqual([
    "scout processed",
    "inspector processed",
  ])
  expect(new Set(passes.map(({ owner_id }) => owner_id)).size).toBe(2)
  expect(await box.leftovers(20_000)).toEqual([])
  // What it came to stands in the session that was made for it, and no model was started by that.
  expect(await store.flowDeliveries({})).toEqual([])
  expect(model.requests()).toHaveLength(2)
})
