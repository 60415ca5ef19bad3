import { expect, test } from "bun:test"
import { outcomeOf, started } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

test("a pass that is cancelled while its child is being bound is written down all the same", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  const { bind } = world.engine.store
  const door = Promise.withResolvers<void>()
  world.engine.store.bind = async (input) => {
    const bound = await bind(input)
    // The row is there, and its owner does not know it yet.
    await door.promise
    return bound
  }
  const runner = await started(world)
  await settle(20)
  runner.input({ type: "cancel", failure: { code: "E016", message: "cancelled by ada" } })
  await settle(20)
  const outcome = await outcomeOf(world, runner)
  door.resolve()
  await settle(20)
  expect(outcome.error_code).toBe("E016")
  expect((await world.engine.store.outcome(runner.pass.id))?.error_code).toBe("E016")
  expect((await world.engine.store.find(runner.pass.id))?.status).toBe("cancelled")
})

test("a child that could not be bound is stopped, and is asked for nothing", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  world.engine.store.bind = async () => Promise.reject(new Error("somebody else writes"))
  const runner = await started(world)
  const outcome = await outcomeOf(world, runner)
  expect(outcome.output.status).not.toBe("completed")
  expect(world.host.children.length).toBeGreaterThan(0)
  expect(world.host.children.filter(({ stopped }) => stopped === 0)).toEqual([])
  expect(world.host.prompts).toEqual([])
})
