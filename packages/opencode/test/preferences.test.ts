import { afterEach, expect, test } from "bun:test"
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { PassOverConfig } from "opencode-pass-over/config"
import { savePreference } from "../src/pass-over/service/preference"
import { createHome, type Home } from "./cli/support"
import { createEngineWorld } from "./pass-over/support/engine"
import { openStore } from "./pass-over/support/database"
import { createWorld } from "./pass-over/support/world"

const here = process.cwd()
afterEach(() => process.chdir(here))

const settings = (timeout_ms: number) => JSON.stringify({ pairs: { "alice->audit": { timeout_ms } } })
const timeout = (override?: { timeout_ms: number }) =>
  PassOverConfig.resolvePreference("alice", "audit", override).timeout_ms

async function stored(home: Home, directory: string, timeout_ms: number) {
  using world = createEngineWorld({ path: home.database })
  const edit = { key: { level: "pair", from: "alice", to: "audit" }, set: { timeout_ms } } as const
  expect(await savePreference(world.engine, { directory, edit, actor: "ada" })).toMatchObject({ ok: true })
}

test("what holds for a pair is what everything says that stands in this project, the strongest first (guide 3.1)", async () => {
  using home = createHome()
  process.chdir(home.project)
  // Our own agents bring more time along than everybody has, and nothing is made by looking.
  expect(timeout()).toBe(600_000)
  expect(PassOverConfig.resolvePreference("alice", "scout").timeout_ms).toBe(300_000)
  expect(existsSync(home.database)).toBe(false)

  await Bun.write(home.folder.at("config", "opencode", "pass-over.json"), settings(1_000))
  expect(timeout()).toBe(1_000)
  await Bun.write(home.folder.at("project", ".opencode", "pass-over.json"), settings(2_000))
  expect(timeout()).toBe(2_000)
  await stored(home, home.project, 3_000)
  expect(timeout()).toBe(3_000)
  process.env.PASS_OVER_CONFIG_CONTENT = settings(4_000)
  expect(timeout()).toBe(4_000)
  expect(timeout({ timeout_ms: 5_000 })).toBe(5_000)
  // Whoever hands over sources has named them all.
  const sources = PassOverConfig.written().slice(-1)
  expect(PassOverConfig.resolvePreference("alice", "audit", undefined, sources).timeout_ms).toBe(1_000)
})

test("the project is the one around the working directory, whichever way leads there", async () => {
  using home = createHome()
  mkdirSync(home.folder.at("project", "src"))
  symlinkSync(home.project, home.folder.at("link"))
  await Bun.write(home.folder.at("project", ".opencode", "pass-over.json"), settings(2_000))
  for (const folder of ["project/src", "link", "link/src"]) {
    process.chdir(home.folder.at(folder))
    expect(timeout()).toBe(2_000)
  }
  // opencode was opened below the top: there it keeps what the panel has set.
  process.chdir(home.folder.at("project", "src"))
  await stored(home, process.cwd(), 3_000)
  expect(timeout()).toBe(2_000)
  using database = openStore(home.database)
  const world = createWorld()
  await database.store.open(world.opening(world.pass({ directory: process.cwd() })))
  expect(timeout()).toBe(3_000)
})

test("a broken file, and a database that is none, are told and not passed over", async () => {
  using home = createHome()
  process.chdir(home.project)
  await Bun.write(home.database, "")
  expect(timeout()).toBe(600_000)
  await Bun.write(home.database, "no database".repeat(100))
  expect(() => timeout()).toThrow(home.database)
  await Bun.file(home.database).delete()
  await Bun.write(home.folder.at("project", ".opencode", "pass-over.json"), '{ "defaults": { "timeout_ms": "30s" } }')
  expect(() => timeout()).toThrow(/pass-over\.json:1:\d+ .*timeout_ms/)
})
