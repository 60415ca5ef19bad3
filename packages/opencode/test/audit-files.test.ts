import { expect, test } from "bun:test"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { keepAuditFiles } from "../src/audit-files"
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
  const options = {
    engine: world.engine,
    directory,
    files: { read: () => [] },
    log: (_level: string, message: string) => void warned.push(message),
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
