import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { appendLines } from "../../src/pass-over/store/audit-file"
import type { Pass } from "../../src/pass-over/domain/pass"
import { connect, openStore } from "../pass-over/support/database"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { createEngineWorld } from "../pass-over/support/engine"
import { createHome, type Home } from "./support"

const logs = (home: Home) => join(home.project, ".opencode", "pass-over-logs")

/** A project with one pass, written into the database and the log files. */
async function recorded(home: Home, objective = "Check the totals", directory = home.project) {
  using world = createEngineWorld({ path: home.database })
  world.project.directory = directory
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const runner = await started(world, { objective })
  await outcomeOf(world, runner)
  await world.engine.store.flushAudit([runner.pass.session_id], (lines) =>
    appendLines(join(directory, ".opencode", "pass-over-logs"), lines),
  )
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
  expect(ran.err).toContain(name)
  expect(ran.err).not.toContain("Invalid")
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
  // Its result has not reached anybody yet, so the pass itself stays.
  expect(old.json()).toMatchObject({ days: 30, lines: 3, files: 1, passes: 0, contents: 0 })
  expect((await home.run("show", pass.id)).out).toContain("Check the totals")
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

/** How many rows each table has that is not empty. */
function rows(home: Home): Record<string, number> {
  using database = connect(home.database)
  const tables = database.client
    .query<{ name: string }, []>(
      "select name from sqlite_master where type = 'table' and name not like '%migration%' and name not like 'sqlite%'",
    )
    .all()
  const counts = tables.map(({ name }) => {
    const row = database.client.query<{ n: number }, []>(`select count(*) as n from ${name}`).get()
    return [name, row?.n ?? 0] as const
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

async function deliver(home: Home, { id, time_created: at }: Pass) {
  using database = openStore(home.database)
  await database.store.delivered([{ pass_over_id: id, message_id: "msg_1", at }])
  await database.store.saveChange({
    change_id: `chg_${"1".repeat(32)}`,
    pass_over_id: id,
    origin: "proposed",
    directory: home.project,
    files: [
      {
        path: "a.ts",
        old_path: null,
        old: null,
        new: { hash: "h1", mode: "100644", bytes: 3 },
        binary: false,
        reason: "new",
        confidence: "high",
        refused: null,
      },
    ],
    notes: [],
    from_change_id: null,
    time_created: at,
  })
  await database.store.putPieces([{ hash: "h1", position: 0, content: new TextEncoder().encode("new") }])
  await database.store.closeBlobs([{ hash: "h1", bytes: 3, pieces: 1 }], at)
}

test("a pass that is over for long goes with all that hangs on it, and what would go can be seen before", async () => {
  using home = createHome()
  const pass = await recorded(home)
  await deliver(home, pass)
  const now = pass.time_created + 100 * 86_400_000
  const prune = (...more: string[]) => home.on({ width: 0, now }, "audit", "prune", ...more)
  const before = rows(home)

  const dry = (await prune("--dry-run", "--json")).json()
  expect(dry).toMatchObject({ days: 30, dry_run: true, lines: 3, files: 1, passes: 1, runs: 0, contents: 1 })
  expect((await prune("--dry-run")).out).toContain("Would remove 1 pass with all that hung on it.")
  expect(rows(home)).toEqual(before)
  expect(await home.run("audit", "verify")).toMatchObject({ code: 0 })

  const done = (await prune("--json")).json() as Record<string, unknown>
  const { dry_run: _dry, ...foreseen } = dry as Record<string, unknown>
  expect(done).toEqual(foreseen)
  // Of all that there was only the place where the chain of its session goes on.
  expect(Object.keys(rows(home)).toSorted()).toEqual(["pass_over_audit_anchors", "pass_over_audit_files"])
  expect((await home.run("show", pass.id)).err).toStartWith("No pass is known")
  expect(await home.run("audit", "verify")).toMatchObject({ code: 0 })
  expect((await prune("--json")).json()).toMatchObject({ lines: 0, passes: 0, contents: 0 })
})

test("the chain of a session still holds when its old passes are gone and it goes on", async () => {
  using home = createHome()
  const pass = await recorded(home)
  await deliver(home, pass)
  await home.on({ width: 0, now: pass.time_created + 100 * 86_400_000 }, "audit", "prune")
  await recorded(home, "Check them again")
  expect(await home.run("audit", "verify")).toMatchObject({ code: 0 })
  const { lines } = (await home.run("audit", "query", "--json")).json() as { lines: { seq: number }[] }
  expect(lines.map(({ seq }) => seq)).toEqual([6, 5, 4])
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

test("from a folder inside the project the project's audit is meant", async () => {
  using home = createHome()
  const inside = home.folder.at("project", "src", "deep")
  mkdirSync(inside, { recursive: true })
  const here = (...argv: string[]) => home.run("audit", ...argv, "--directory", inside)
  expect((await here("verify")).out).toBe(
    `Nothing of ${home.project} is in the audit yet, so there was nothing to look at.\n`,
  )
  const { id } = await recorded(home)
  expect((await here("verify")).out).toContain("In order: 3 lines")
  expect((await here("query")).out).toContain(id.slice(-8))
  expect((await here("export")).out.trim().split("\n")).toHaveLength(3)
  expect((await here("prune", "--days", "0", "--dry-run")).out).toBe(
    (await home.run("audit", "prune", "--days", "0", "--dry-run")).out,
  )
  writeFileSync(logFile(home), "")
  expect((await here("verify")).code).toBe(EXIT.failed)
})

test("where opencode was opened inside of it, that folder's audit is meant from there on down", async () => {
  using home = createHome()
  const opened = home.folder.at("project", "app")
  mkdirSync(join(opened, "src"), { recursive: true })
  const { id } = await recorded(home, "Check the app", opened)
  expect((await home.run("audit", "query", "--directory", join(opened, "src"))).out).toContain(id.slice(-8))
  expect((await home.run("audit", "verify", "--directory", join(opened, "src"))).out).toContain("In order: 3 lines")
  rmSync(join(opened, ".opencode"), { recursive: true })
  expect((await home.run("audit", "verify", "--directory", opened)).code).toBe(EXIT.failed)
})
