import { expect, test } from "bun:test"
import { returnFromPassOver } from "../../../src/pass-over/service/api-return"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const code = (returned: Awaited<ReturnType<typeof returnFromPassOver>>) =>
  returned.ok ? returned.text : returned.refusal.code

test("a return from a session in which no pass runs has no place to go to: E020", async () => {
  using world = createEngineWorld()
  const returned = await returnFromPassOver(world.engine, { session_id: "ses_lost", agent: "audit", report: VERDICT })
  expect(returned).toMatchObject({
    ok: false,
    refusal: {
      code: "E020",
      message: "No pass runs in this session.",
      suggestion: expect.stringMatching(/^Answer the user instead\..+Run pass-over audit restore/),
    },
  })
})

test("only the agent that was given a pass returns it, once, and nothing after it has ended", async () => {
  using world = createEngineWorld()
  const told: string[] = []
  world.host.script("audit", async ({ session_id, step, told: stopped }) => {
    const tries = ["scout", "audit", "audit"]
    for (const agent of tries)
      told.push(code(await returnFromPassOver(world.engine, { session_id, agent, report: VERDICT })))
    step()
    await stopped
  })
  const runner = await started(world)
  await outcomeOf(world, runner)
  const [child] = world.host.children
  const late = { session_id: child!.session_id, agent: "audit", report: VERDICT }
  told.push(code(await returnFromPassOver(world.engine, late)))
  expect(told).toEqual(["E013", "Received. alice has it now; your work on this pass is done.", "E040", "E040"])
})
