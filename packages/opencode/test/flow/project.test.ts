import { expect, test } from "bun:test"
import { projectFlows } from "../../src/flow/project"
import type { Client } from "../../src/session/client"
import { createEngineWorld } from "../pass-over/support/engine"
import { settle } from "../pass-over/support/fake-clock"

test("flows look for what others ask of them when others have written, and not whenever a pass has ended", async () => {
  using world = createEngineWorld()
  const { engine, project } = world
  let looked = 0
  const { flowCommands } = engine.store
  engine.store = {
    ...engine.store,
    flowCommands: (directory) => {
      looked += 1
      return flowCommands(directory)
    },
  }
  engine.projects.set(project.directory, project)
  projectFlows(engine, project, {} as Client, engine.log)
  engine.news.tell("place")
  await world.clock.advance(1_000)
  expect(looked).toBe(0)
  engine.news.tell("elsewhere")
  await world.clock.advance(1_000)
  await settle()
  expect(looked).toBe(1)
})
