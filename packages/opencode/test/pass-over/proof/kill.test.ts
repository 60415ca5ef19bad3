import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { alive, place, processStart } from "../../../src/identity"
import { recover, resume, type Alive } from "../../../src/pass-over/service/recover"
import { openStore, type TestDatabase } from "../support/database"
import { started } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { createDisk, createDiskHost, type Disk } from "./disk-host"
import { broken, unended } from "./laws"
import { PATIENCE_MS, report, scale } from "./scale"

setDefaultTimeout(PATIENCE_MS)

const SCENARIOS = ["wait", "later", "finalise", "retry", "stop", "nested"] as const
type Scenario = (typeof SCENARIOS)[number]

const MOMENTS = scale(30, 300)
const SECOND = scale(4, 100)
const PROCESS = join(import.meta.dir, "fixture/pass.ts")

const root = mkdtempSync(join(tmpdir(), "pass-over-kill-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A pass of a process that lives on: nobody may touch it. */
async function bystander(path: string): Promise<string> {
  using database = openStore(path)
  using world = createEngineWorld({ store: database.store, owner: "7", seed: 7_000_000 })
  await database.store.enter(
    {
      owner_id: world.engine.owner_id,
      pid: process.pid,
      process_start: processStart() ?? "",
      host: hostname(),
      place: place(),
    },
    Date.now(),
  )
  world.host.script("audit", async (child) => child.told)
  const runner = await started(world, {}, { session_id: "ses_elsewhere" })
  await world.clock.advance(0)
  database.client.run("PRAGMA wal_checkpoint(TRUNCATE)")
  return runner.pass.id
}

const template = { path: join(root, "template.db"), made: undefined as Promise<string> | undefined }

/** A fresh database in which somebody else's pass runs already. */
async function fresh(name: string): Promise<string> {
  template.made ??= bystander(template.path)
  await template.made
  const path = join(root, `${name}.db`)
  copyFileSync(template.path, path)
  return path
}

/** Comes back with how many moments it had, or with nothing where it was killed. */
async function live(path: string, scenario: string, moment = 0): Promise<number | undefined> {
  const child = Bun.spawn([process.execPath, PROCESS, path, scenario, String(moment)], {
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (child.signalCode === "SIGKILL") return undefined
  if (code !== 0) throw new Error(`${scenario} ${moment}: ${error.slice(-2_000)}`)
  return Number(out.trim())
}

/** The next opencode on that database: it recovers, opens the project, and is asked to do it once more. */
async function restart(database: TestDatabase, disk: Disk, judge: Alive) {
  using world = createEngineWorld({ store: database.store, owner: "9", seed: 9_000_000 })
  const host = createDiskHost(disk, { after: world.clock.after, now: world.clock.now, serial: 9_000_000 })
  const project = { ...world.project, host }
  const count = await recover(world.engine, judge)
  await resume(world.engine, project, judge)
  const again = await recover(world.engine, judge)
  await resume(world.engine, project, judge)
  return { count, again }
}

type Known = { id: string; session_id: string; child_session_id: string | null; wait: number; from: string }

const passesOf = ({ client }: TestDatabase): Known[] =>
  client
    .query<Known, []>(
      "select id, session_id, child_session_id, wait, originating_agent_id as 'from' from pass_over_requests",
    )
    .all()

/** What is wrong with one pass after the restart. */
async function wrongWith(database: TestDatabase, disk: Disk, pass: Known, scenario: Scenario): Promise<string[]> {
  const outcome = await database.store.outcome(pass.id as never)
  if (!outcome) return [`${pass.id} has no outcome`]
  const lines = disk.lines()
  const of = (kind: "delivered" | "answered" | "told") =>
    lines.filter((line) => line.kind === kind && "pass_over_id" in line && line.pass_over_id === pass.id)
  const told = lines.find((line) => line.kind === "told" && line.pass_over_id === pass.id)
  const staged = lines.some((line) => line.kind === "staged" && line.session_id === pass.child_session_id)
  const stored = lines.filter((line) => line.kind === "message" && line.session_id === pass.child_session_id).length
  const kept = outcome.output.artifacts.filter((artifact) => artifact.type === "tool_result").length
  const received = of("delivered").length + of("answered").length
  const nothing = scenario === "stop" && stored === 0
  return [
    ...broken(database.client, pass.id, pass.from),
    ...(staged && outcome.output.status !== "completed" ? ["a return that was received is lost"] : []),
    ...(told?.kind === "told" && (told.status !== outcome.output.status || told.error_code !== outcome.error_code)
      ? [`told ${told.status}, kept ${outcome.output.status}`]
      : []),
    ...(kept === stored ? [] : [`${kept} of ${stored} tool results were kept`]),
    ...(received === 1 || (nothing && received === 0) ? [] : [`received ${received} times`]),
  ]
}

type Judged = { wrong: string[]; recovered: number }

/** Everything that is wrong with what a killed process left, after another one has come. */
async function judged(path: string, scenario: Scenario, judge: Alive = alive): Promise<Judged> {
  const theirs = await template.made
  const disk = createDisk(`${path}.host`)
  using database = openStore(path)
  const { count, again } = await restart(database, disk, judge)
  const ours = passesOf(database).filter(({ id }) => id !== theirs)
  const wrong = await Promise.all(ours.map((pass) => wrongWith(database, disk, pass, scenario)))
  const open = unended(database.client)
  const lives = open.some((line) => line === `${theirs} waiting_for_return`)
  return {
    recovered: count,
    wrong: [
      ...wrong.flat(),
      ...(lives ? [] : ["a process that lives has lost its pass"]),
      ...open.filter((line) => !line.startsWith(theirs ?? "-")),
      ...(again === 0 ? [] : ["recovered twice"]),
    ],
  }
}

/** So many moments, spread evenly over all the moments of all scenarios. */
async function moments(count: number): Promise<{ scenario: Scenario; moment: number }[]> {
  const lengths = await Promise.all(
    SCENARIOS.map(async (scenario) => ({
      scenario,
      length: (await live(await fresh(`whole-${scenario}`), scenario)) ?? 0,
    })),
  )
  const all = lengths.flatMap(({ scenario, length }) =>
    Array.from({ length }, (_, index) => ({ scenario, moment: index + 1 })),
  )
  report("moments", {
    all: all.length,
    ...Object.fromEntries(lengths.map(({ scenario, length }) => [scenario, length])),
  })
  const step = Math.max(1, all.length / count)
  return Array.from({ length: Math.min(count, all.length) }, (_, index) => all[Math.floor(index * step)]).filter(
    (each) => each !== undefined,
  )
}

/** Two at a time: more only stand in each other's way. */
async function each<T>(list: readonly T[], work: (item: T, index: number) => Promise<void>) {
  const entries = list.entries()
  const worker = async () => {
    for (const [index, item] of entries) await work(item, index)
  }
  await Promise.all([worker(), worker()])
}

test("a pass that nobody kills is judged right by the same measure", async () => {
  for (const scenario of SCENARIOS) {
    const path = await fresh(`unhurt-${scenario}`)
    expect(await live(path, scenario)).toBeGreaterThan(20)
    expect({ scenario, ...(await judged(path, scenario)) }).toEqual({ scenario, wrong: [], recovered: 0 })
  }
})

test(`killed at ${MOMENTS} moments, every pass has one outcome, delivered once, with all that was stored`, async () => {
  const found = { killed: 0, recovered: 0, wrong: [] as unknown[] }
  await each(await moments(MOMENTS), async ({ scenario, moment }, index) => {
    const path = await fresh(String(index))
    if ((await live(path, scenario, moment)) === undefined) found.killed += 1
    const { wrong, recovered } = await judged(path, scenario)
    found.recovered += recovered
    if (wrong.length > 0) found.wrong.push({ scenario, moment, wrong })
    for (const suffix of ["", "-wal", "-shm", ".host"]) rmSync(`${path}${suffix}`, { force: true })
  })
  report("killed", found)
  expect(found.wrong).toEqual([])
  // A process that came past its moment proves nothing, nor does one that left nothing to recover.
  expect(found.killed).toBeGreaterThan(MOMENTS * 0.95)
  expect(found.recovered).toBeGreaterThan(MOMENTS * 0.4)
})

test(`whoever comes to recover may be killed too, at ${SECOND} moments`, async () => {
  const wrong: unknown[] = []
  const seen = { killed: 0 }
  await each(
    Array.from({ length: SECOND }, (_, index) => index),
    async (index) => {
      const path = await fresh(`second-${index}`)
      const scenario = SCENARIOS[index % SCENARIOS.length] ?? "wait"
      await live(path, scenario, 24)
      const moment = 1 + Math.floor((index * 36) / SECOND)
      if ((await live(path, "recover", moment)) === undefined) seen.killed += 1
      const found = await judged(path, scenario)
      if (found.wrong.length > 0) wrong.push({ scenario, moment, ...found })
    },
  )
  report("killed while recovering", seen)
  expect(wrong).toEqual([])
  expect(seen.killed).toBeGreaterThan(SECOND / 2)
})

test("without the look at the lease and the process, the same measure finds what is lost", async () => {
  const path = await fresh("careless")
  expect(await live(path, "finalise", 38)).toBeUndefined()
  copyFileSync(path, `${path}.2.db`)
  copyFileSync(`${path}-wal`, `${path}.2.db-wal`)
  copyFileSync(`${path}.host`, `${path}.2.db.host`)
  // A build that takes everybody else for dead, and one that takes everybody for alive.
  expect((await judged(path, "finalise", () => "dead")).wrong).toContain("a process that lives has lost its pass")
  expect((await judged(`${path}.2.db`, "finalise", () => "alive")).wrong.join("\n")).toMatch(
    /has no outcome|waiting_for_return/,
  )
})
