import { expect, setDefaultTimeout, test } from "bun:test"
import { recover, resume } from "../../../src/pass-over/service/recover"
import { openStore } from "../support/database"
import { createEngineWorld } from "../support/engine"
import { interrupted } from "./interrupted"
import { broken, unended } from "./laws"

setDefaultTimeout(60_000)

const dead = () => "dead" as const

test("1,000 interrupted passes all get their outcome, and their transcripts are read four at a time", async () => {
  using database = openStore(":memory:")
  const ids = await interrupted(database.store, 1_000)
  using world = createEngineWorld({ store: database.store, owner: "2", seed: 1_000 })
  const reading = { now: 0, most: 0, all: 0 }
  world.host.messages = async () => {
    reading.all += 1
    reading.most = Math.max(reading.most, ++reading.now)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    reading.now -= 1
    return []
  }
  // The outcomes come first and need no host; opencode's own work has its turns in between.
  const turns = { taken: 0, over: false }
  const beat = () => void (turns.over || ((turns.taken += 1), setImmediate(beat)))
  setImmediate(beat)
  expect(await recover(world.engine, dead)).toBe(1_000)
  turns.over = true
  expect(turns.taken).toBeGreaterThanOrEqual(1_000 / 50)
  expect(reading.all).toBe(0)
  expect(unended(database.client)).toEqual([])

  await resume(world.engine, world.project, dead)
  expect(reading).toMatchObject({ now: 0, most: 4, all: 1_000 })
  expect(await database.store.unread("/project", 10)).toEqual([])
  for (const id of ids) expect(broken(database.client, id)).toEqual([])
  expect(world.host.delivered).toHaveLength(1_000)
  expect(new Set(world.host.delivered.map(({ of }) => of)).size).toBe(1_000)
  expect(world.host.delivered.every(({ start }) => !start)).toBe(true)
})
