import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { LEFT, somethingLeft } from "../src/left"
import { answerGate } from "../src/pass-over/service/gate"
import { openStore } from "./pass-over/support/database"
import { outcomeOf, started, VERDICT } from "./pass-over/support/drive"
import { createEngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"
import { createFolder } from "./pass-over/support/folder"

const OWNER = { owner_id: `own_${"1".repeat(32)}`, pid: 1, process_start: "1", host: "here", place: "here" } as const

test("nothing is left where there is no database, or one that nobody uses", () => {
  using folder = createFolder()
  expect(somethingLeft(folder.at("none.db"))).toBe(false)
  openStore(folder.at("some.db"))[Symbol.dispose]()
  expect(somethingLeft(folder.at("some.db"))).toBe(false)
})

test("every question that is asked of the database can be asked", () => {
  using folder = createFolder()
  openStore(folder.at("some.db"))[Symbol.dispose]()
  using database = new Database(folder.at("some.db"))
  for (const sql of LEFT) expect(database.query(sql).all()).toEqual([])
})

test("a process that is there, or was killed, is seen until it has left", async () => {
  using folder = createFolder()
  using database = openStore(folder.at("some.db"))
  await database.store.enter(OWNER, 1)
  expect(somethingLeft(folder.at("some.db"))).toBe(true)
  await database.store.leave(OWNER.owner_id)
  expect(somethingLeft(folder.at("some.db"))).toBe(false)
})

test("a result that was not brought is seen", async () => {
  using folder = createFolder()
  using world = createEngineWorld({ path: folder.at("some.db") })
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    return {}
  })
  world.host.deliver = async () => Promise.reject(new Error("not now"))
  await outcomeOf(world, await started(world, { wait: false }))
  expect(somethingLeft(folder.at("some.db"))).toBe(true)
})

test("a pass that was let go of with its project is seen, whatever was said to its question", async () => {
  using folder = createFolder()
  using world = createEngineWorld({ path: folder.at("some.db") })
  const preferences = { defaults: { require_confirmation: true } }
  world.preferences.push({ origin: "project", path: "p", preferences })
  const closing = new AbortController()
  world.project.closing = closing.signal
  const { engine } = world
  const runner = await started(world)
  await settle(20)
  closing.abort()
  await runner.outcome
  const [gate] = await engine.store.gates({ status: ["pending"] })
  await answerGate(engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  expect(await engine.store.owners()).toMatchObject([{ lost: true }])
  expect(somethingLeft(folder.at("some.db"))).toBe(true)
})

test("who cannot tell says yes: a file that is no database, or one of another version", () => {
  using folder = createFolder()
  writeFileSync(folder.at("broken.db"), "this is no database, but it is long enough to be looked at as if it were one")
  expect(somethingLeft(folder.at("broken.db"))).toBe(true)
  using other = new Database(folder.at("other.db"))
  other.run("create table pass_over_owners (other text)")
  expect(somethingLeft(folder.at("other.db"))).toBe(true)
})
