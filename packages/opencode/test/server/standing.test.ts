import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Schema from "../../src/server/schema"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { createEngineWorld } from "../pass-over/support/engine"
import { settle } from "../pass-over/support/fake-clock"
import { createTestServer } from "./support/server"

test("who waits in line is shown with its place and why, and each tree with what it has used of what it may", async () => {
  using server = createTestServer()
  using world = createEngineWorld({ path: server.path })
  const directory = join(server.folder, "project")
  const preferences = { limits: { running: 1, tree: { passes: 7, tokens: 50_000 } } }
  mkdirSync(join(directory, ".opencode"), { recursive: true })
  writeFileSync(join(directory, ".opencode/pass-over.json"), JSON.stringify(preferences))
  world.project.directory = directory
  world.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  world.host.script("audit", async (child) => {
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step({ input: 900, output: 100 })
  })
  const first = await started(world, { subagent: "audit" })
  const second = await started(world, { subagent: "audit" })
  await settle(20)
  const shown = async () => {
    const { items } = Schema.PassPage.parse(await server.get("?limit=10"))
    return new Map(items.map(({ id, queue, tree }) => [id, { queue, tree }]))
  }
  const waiting = await shown()
  expect(waiting.get(first.pass.id)).toEqual({
    queue: null,
    tree: { passes: 1, tokens: 0, cost: 0, limits: { passes: 7, tokens: 50_000 } },
  })
  expect(waiting.get(second.pass.id)?.queue).toEqual({ place: 1, what: "running", limit: 1 })
  await outcomeOf(world, first)
  await settle(20)
  const later = await shown()
  expect(later.get(first.pass.id)).toEqual({ queue: null, tree: null })
  expect(later.get(second.pass.id)?.queue).toBeNull()
})
