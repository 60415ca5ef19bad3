import { expect, test } from "bun:test"
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { appendLines } from "../../src/pass-over/store/audit-file"
import { openStore } from "../pass-over/support/database"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { createEngineWorld } from "../pass-over/support/engine"
import { createHome, type Home } from "./support"

const logs = (home: Home) => join(home.project, ".opencode", "pass-over-logs")

/** A project with one pass, written into the database and the log files. */
async function recorded(home: Home, objective = "Check the totals") {
  using world = createEngineWorld({ path: home.database })
  world.project.directory = home.project
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const runner = await started(world, { objective })
  await outcomeOf(world, runner)
  await world.engine.store.flushAudit(runner.pass.session_id, (lines) => appendLines(logs(home), lines))
  return runner.pass
}

const logFile = (home: Home) => {
  const [file] = readdirSync(logs(home), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  )
  if (!file) throw new Error("no log was written")
  return join(logs(home), file)
}

test("the record is searched, narrowed and paged", async () => {
  using home = createHome()
  expect((await home.run("audit", "query")).out).toContain("Nothing like this")
  expect(existsSync(home.database)).toBe(false)
  const pass = await recorded(home)
  const { out } = await home.run("audit", "query")
  expect(out.split("\n")[1]).toMatch(
    new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\S+ +${pass.id.slice(-8)} +alice → audit +returned +\\S+ +approved`),
  )
  const actions = async (...argv: string[]) => {
    const page = (await home.run("audit", "query", "--json", ...argv)).json() as {
      lines: { action: string }[]
      cursor: string | null
    }
    return { ...page, actions: page.lines.map((line) => line.action) }
  }
  expect((await actions()).actions).toEqual(["returned", "dispatched", "requested"])
  expect((await actions("--action", "requested,returned")).actions).toEqual(["returned", "requested"])
  expect((await actions("--to", "scout")).actions).toEqual([])
  expect((await actions("--since", "2099-01-01")).actions).toEqual([])
  const first = await actions("--limit", "2")
  expect(first.actions).toEqual(["returned", "dispatched"])
  expect((await actions("--limit", "2", "--cursor", first.cursor ?? "")).actions).toEqual(["requested"])
})

test.each([
  [["--action", "slept"], "--action"],
  [["--since", "tomorrow"], "--since"],
  [["--error", "11"], "--error"],
])("a filter that is none is said to be so: %j", async (argv, name) => {
  using home = createHome()
  const ran = await home.run("audit", "query", ...argv)
  expect(ran.code).toBe(EXIT.usage)
  expect(ran.err).toContain(`${name}: `)
})

test("a log that is in order is said to be so; one that was changed ends with 1 and its line", async () => {
  using home = createHome()
  await recorded(home)
  expect(await home.run("audit", "verify")).toMatchObject({
    code: 0,
    out: expect.stringContaining("In order: 3 lines"),
  })
  const file = logFile(home)
  writeFileSync(file, readFileSync(file, "utf8").replace('"alice"', '"malice"'))
  const ran = await home.run("audit", "verify")
  expect(ran.code).toBe(EXIT.failed)
  expect(ran.out).toMatch(/edited \S+\.jsonl:1/)
  expect((await home.run("audit", "verify", "--json")).json()).toMatchObject({
    ok: false,
    faults: [{ kind: "edited" }],
  })
})

test("the record is written out, and never over a file that is there", async () => {
  using home = createHome()
  const pass = await recorded(home)
  const lines = (await home.run("audit", "export")).out.trim().split("\n")
  expect(lines.map((line) => (JSON.parse(line) as { pass_over_id: string }).pass_over_id)).toEqual([
    pass.id,
    pass.id,
    pass.id,
  ])
  const csv = await home.run("audit", "export", "--format", "csv", "--output", "out.csv")
  expect(csv).toMatchObject({ code: 0, out: expect.stringContaining("3 lines written") })
  expect(readFileSync(join(home.project, "out.csv"), "utf8").trim().split("\r\n")).toHaveLength(4)
  const again = await home.run("audit", "export", "--format", "csv", "--output", "out.csv")
  expect(again).toMatchObject({ code: EXIT.failed, err: expect.stringContaining("it is there already") })
  expect(await home.run("audit", "export", "--format", "xml")).toMatchObject({ code: EXIT.usage })
})

test("what is old is pruned, and what is young stays", async () => {
  using home = createHome()
  const pass = await recorded(home)
  const young = await home.on({ width: 0, now: pass.time_created + 1_000 }, "audit", "prune", "--json")
  expect(young.json()).toMatchObject({ days: 30, lines: 0 })
  const old = await home.on({ width: 0, now: pass.time_created + 100 * 86_400_000 }, "audit", "prune", "--json")
  expect(old.json()).toMatchObject({ days: 30, lines: 3, files: 1, contents: 0 })
  expect(((await home.run("audit", "query", "--json")).json() as { lines: unknown[] }).lines).toEqual([])
})

test("pruning takes contents along that nothing refers to, once they are a day old", async () => {
  using home = createHome()
  const { time_created: at } = await recorded(home)
  using database = openStore(home.database)
  await database.store.putPieces([{ hash: "h1", position: 0, content: new TextEncoder().encode("left over") }])
  await database.store.closeBlobs([{ hash: "h1", bytes: 9, pieces: 1 }], at)
  const prune = async (now: number) => (await home.on({ width: 0, now }, "audit", "prune", "--json")).json()
  expect(await prune(at + 60_000)).toMatchObject({ contents: 0 })
  expect(await prune(at + 2 * 86_400_000)).toMatchObject({ lines: 0, contents: 1 })
  expect(await database.store.blob("h1")).toBeUndefined()
})

test("a database that is lost is rebuilt from the log", async () => {
  using home = createHome()
  const pass = await recorded(home)
  for (const end of ["", "-wal", "-shm"]) rmSync(`${home.database}${end}`, { force: true })
  const restored = await home.run("audit", "restore")
  expect(restored).toMatchObject({
    code: 0,
    out: expect.stringContaining("Restored from 3 lines: passes 1, outcomes 1."),
  })
  const show = await home.run("show", pass.id)
  expect(show.out).toContain("Check the totals")
  expect(show.out).toContain("audit: approved")
})
