import { expect, test } from "bun:test"
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keepAuditFiles } from "../src/audit-files"
import type { Written } from "../src/pass-over/domain/config"
import { PassOverError } from "../src/pass-over/domain/errors"
import { VERDICT, outcomeOf, started } from "./pass-over/support/drive"
import { createEngineWorld } from "./pass-over/support/engine"
import { createFolder } from "./pass-over/support/folder"
import { settle } from "./pass-over/support/fake-clock"

const lines = (folder: string) => {
  const logs = join(folder, ".opencode/pass-over-logs")
  if (!existsSync(logs)) return []
  const months = readdirSync(logs).filter((name) => /^\d{4}-\d\d$/.test(name))
  return months.flatMap((month) =>
    readdirSync(join(logs, month)).flatMap((name) =>
      readFileSync(join(logs, month, name), "utf8")
        .trim()
        .split("\n"),
    ),
  )
}

async function scene() {
  const folder = createFolder()
  const world = createEngineWorld()
  const directory = folder.at("")
  const warned: string[] = []
  const told: string[] = []
  const options = {
    engine: world.engine,
    directory,
    files: { read: (): Written[] => [] },
    log: (_level: string, message: string) => void warned.push(message),
    tell: (line: string) => void told.push(line),
  }
  world.project.directory = directory
  const keeping = keepAuditFiles(options)
  world.project.logged = keeping.logged
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    return {}
  })
  await outcomeOf(world, await started(world))
  return {
    world,
    directory,
    keeping,
    options,
    warned,
    told,
    [Symbol.dispose]: () => (world[Symbol.dispose](), folder[Symbol.dispose]()),
  }
}

test("lines come into their file together, a moment after the last", async () => {
  using it = await scene()
  expect(lines(it.directory)).toEqual([])
  await it.world.clock.advance(500)
  const written = lines(it.directory)
  expect(written.length).toBeGreaterThan(2)
  expect(written).toHaveLength((await it.world.engine.store.audit({ session_id: "ses_root", limit: 100 })).length)
})

test("a session that never falls quiet is written all the same", async () => {
  using it = await scene()
  for (let tries = 0; tries < 22; tries += 1) {
    it.keeping.logged("ses_root")
    await it.world.clock.advance(100)
  }
  expect(lines(it.directory).length).toBeGreaterThan(2)
})

test("what is left is written at the end", async () => {
  using it = await scene()
  await it.keeping.close()
  expect(lines(it.directory).length).toBeGreaterThan(2)
})

test("what an opencode that was killed had not written comes with the next one", async () => {
  using it = await scene()
  await keepAuditFiles(it.options).catchUp()
  await settle()
  expect(lines(it.directory).length).toBeGreaterThan(2)
  expect(it.warned).toEqual([])
})

const inTheWay = (directory: string) => join(directory, ".opencode")

test("a folder that cannot be written is told once, and its files catch up when it can be", async () => {
  using it = await scene()
  const { clock, engine } = it.world
  // Nobody, not even root, makes a folder in a file.
  writeFileSync(inTheWay(it.directory), "")
  await clock.advance(500)
  await outcomeOf(it.world, await started(it.world))
  await clock.advance(60_000)
  expect(it.warned.length).toBeGreaterThan(1)
  expect(it.told).toEqual([
    expect.stringMatching(
      /^Pass Over cannot write the log files of this project in \/.*\.opencode\/pass-over-logs: something else is in its place \((ENOTDIR|EEXIST)\)\. Nothing is lost: the database has every line, and the files catch up as soon as they can be written\. If they are not wanted, set audit\.log_all_passes to false in pass-over\.json\.$/,
    ),
  ])

  rmSync(inTheWay(it.directory))
  await clock.advance(60_000)
  expect(lines(it.directory)).toHaveLength((await engine.store.audit({ session_id: "ses_root", limit: 100 })).length)
  expect(it.told).toHaveLength(1)
  expect(clock.pending).toBe(0)
})

test("what a project that is closed could not write is not tried for ever", async () => {
  using it = await scene()
  writeFileSync(inTheWay(it.directory), "")
  await it.keeping.close()
  await it.world.clock.advance(600_000)
  expect(it.warned).toHaveLength(1)
})

test("lines wait for a configuration that can be read", async () => {
  using it = await scene()
  const { clock } = it.world
  const { read } = it.options.files
  it.options.files.read = () => {
    throw new Error("a comma is missing here")
  }
  await clock.advance(500)
  expect(lines(it.directory)).toEqual([])
  it.options.files.read = read
  await clock.advance(60_000)
  expect(lines(it.directory).length).toBeGreaterThan(2)
  // Of a file that is not in order, whoever reads it tells.
  expect(it.told).toEqual([])
})

test("a database that cannot be written tells of itself", async () => {
  using it = await scene()
  const { clock, engine } = it.world
  const { flushAudit } = engine.store
  const context = { database: "pass-over.db" }
  engine.store.flushAudit = async () => Promise.reject(new PassOverError("E014", "the disk is full", { context }))
  await clock.advance(500)
  expect([it.warned, it.told]).toEqual([["the audit log could not be written"], []])
  engine.store.flushAudit = flushAudit
  await clock.advance(60_000)
  expect(lines(it.directory).length).toBeGreaterThan(2)
})
