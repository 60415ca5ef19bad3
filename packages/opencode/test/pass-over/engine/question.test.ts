import { expect, test } from "bun:test"
import { PassOverErrorCode } from "../../../src/pass-over/domain/errors"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const cancelled = { type: "cancel", failure: { code: PassOverErrorCode.CANCELLED, message: "ada says so" } } as const

for (const answer of ["comes afterwards", "never comes"]) {
  test(`a question that outlives its pass keeps no limit above it, whether its answer ${answer} or not`, async () => {
    using world = createEngineWorld()
    world.host.script("audit", async (child) => {
      child.ask("per_1")
      child.ask("per_2")
      child.ask("per_2")
      await child.told
    })
    world.host.script("scout", async (child) => {
      const caller = { agent: "scout", session_id: child.session_id, call_id: "call_nested" }
      const below = await started(world, {}, caller)
      // A day passes before a person looks, and none of it counts.
      await child.wait(86_000_000)
      below.input(cancelled)
      expect((await below.outcome).error_code).toBe(PassOverErrorCode.CANCELLED)
      // As on the real host, what nobody answered is rejected once its child was stopped.
      const [nested] = world.host.children.filter(({ pass }) => pass.subagent_id === "audit")
      for (const request_id of answer === "never comes" ? [] : ["per_1", "per_2"]) {
        const session_id = nested?.session_id ?? ""
        world.engine.hear({ type: "waiting", session_id, request_id, open: false, what: "reject" })
      }
      await child.told
    })
    const above = await started(world, { subagent: "scout", timeout_ms: 60_000 })
    const outcome = await outcomeOf(world, above)
    expect(outcome.error_code).toBe(PassOverErrorCode.SUBAGENT_TIMEOUT)
    expect(outcome.output.metadata.subagent_compute_ms).toBeLessThan(120_000)
  })
}

test("the limits above go on only with the last answer, and an answer is heard once", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.ask("per_1")
    child.ask("per_2")
    await child.wait(3_600_000)
    child.answered("per_1")
    child.answered("per_1")
    await child.wait(3_600_000)
    child.answered("per_2")
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  world.host.script("scout", async (child) => {
    const caller = { agent: "scout", session_id: child.session_id, call_id: "call_nested" }
    await (
      await started(world, {}, caller)
    ).outcome
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world, { subagent: "scout", timeout_ms: 60_000 }))
  expect(output).toMatchObject({ status: "completed", metadata: { wall_time_ms: 7_200_000 } })
})
