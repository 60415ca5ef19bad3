import { expect, test } from "bun:test"
import { outcomeOf, started } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

const CANCEL = { type: "cancel", failure: { code: "E016", message: "enough" } } as const

test("a stop that overtakes the prompt it is meant for is said again, until the child has come to rest", async () => {
  using world = createEngineWorld()
  const seen = { working: 0 }
  const { prompt } = world.host
  // The prompt is still on its way when the stop arrives.
  world.host.prompt = async (input) => {
    await new Promise<void>((resolve) => void world.clock.after(100, resolve))
    return prompt(input)
  }
  world.host.script("audit", async (child) => {
    seen.working += 1
    await child.told
    seen.working -= 1
  })
  const runner = await started(world)
  await settle()
  runner.input(CANCEL)
  expect((await outcomeOf(world, runner)).error_code).toBe("E016")
  await world.clock.advance(150)
  expect(seen.working).toBe(1)
  await world.clock.advance(300)
  expect(seen.working).toBe(0)
})

test("a host that fails to stop a child is asked again, and not for ever", async () => {
  using world = createEngineWorld()
  const seen = { asked: 0 }
  world.host.stop = async () => {
    seen.asked += 1
    throw new Error("not now")
  }
  world.host.script("audit", async () => new Promise(() => {}))
  const runner = await started(world)
  await settle()
  runner.input(CANCEL)
  await outcomeOf(world, runner)
  await world.clock.advance(3_600_000)
  expect(seen.asked).toBe(6)
})

test("a child that was told to stop and begins a new attempt is not stopped in it", async () => {
  using world = createEngineWorld()
  const limits = { timeout_ms: 100_000, idle_timeout_ms: 5_000 }
  world.preferences.push({ origin: "project", path: "p", preferences: { defaults: limits } })
  world.host.script("audit", async (child) => {
    // It does not look, and comes to rest much later.
    if (child.prompt.kind === "first") return child.wait(60_000)
    await child.wait(3_000)
    await child.return({ decision: "approved", decision_reason: "It is right." })
    child.step()
    await child.told
  })
  const runner = await started(world)
  expect((await outcomeOf(world, runner)).output.status).toBe("completed")
})
