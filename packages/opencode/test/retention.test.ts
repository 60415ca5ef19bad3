import { expect, jest, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { AuditLog } from "../src/audit-log"
import { appendLines } from "../src/pass-over/store/audit-file"
import { logFiles } from "../src/pass-over/store/audit-folder"
import { readSummary } from "../src/pass-over/store/audit-summary"
import { keepRetention } from "../src/retention"
import { createHome } from "./cli/support"
import { createEngineWorld } from "./pass-over/support/engine"
import { outcomeOf, started, VERDICT } from "./pass-over/support/drive"

setDefaultTimeout(30_000)

const DAY = 86_400_000
const LOGS = ".opencode/pass-over-logs"
const SETTINGS = { log_all_passes: false, log_directory: LOGS, retention_days: 30 }

const NONE = { passes: 0, runs: 0 }

/** A pass of the home's project as it was so many days ago. */
async function recorded(directory: string, path: string, days: number, session_id = `ses_${days}`) {
  using world = createEngineWorld({ path, seed: days * 1_000 + Number(session_id.replace(/\D/g, "")) * 100 })
  world.clock.shift(Date.now() - days * DAY - world.clock.now())
  world.project.directory = directory
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const runner = await started(world, {}, { session_id })
  await outcomeOf(world, runner)
  await world.engine.store.flushAudit([session_id], (lines) => appendLines(join(directory, LOGS), lines))
}

/** Somebody has been at the file of this session. */
function edited(directory: string, session_id: string) {
  const file = logFiles(join(directory, LOGS)).find((path) => path.includes(session_id))
  if (!file) throw new Error("no log was written")
  writeFileSync(file, readFileSync(file, "utf8").replace('"alice"', '"malice"'))
}

const QUICK = { first_ms: 1, between_ms: 1, again_ms: 100_000 }

async function until(done: () => boolean | Promise<boolean>) {
  for (let tries = 0; tries < 2_000 && !(await done()); tries += 1) await Bun.sleep(10)
}

test("what is older than the retention goes by itself, a minute after opencode has begun", async () => {
  using home = createHome()
  for (const days of [100, 1]) await recorded(home.project, home.database, days)
  const of = { directory: home.project, path: home.database }
  const sessions = async () => [...new Set((await AuditLog.query({}, of)).map((line) => line.session_id))].toSorted()
  const told: string[] = []
  jest.useFakeTimers()
  try {
    keepRetention({
      directory: home.project,
      settings: () => SETTINGS,
      passes: async (before, limit) => {
        told.push(`passes ${limit} ${(Date.now() - before) / DAY > 30}`)
        return NONE
      },
      contents: async () => void told.push("contents"),
      log: (_level, message) => void told.push(message),
    })
    jest.advanceTimersByTime(59_000)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(1_000)
  } finally {
    jest.useRealTimers()
  }
  for (let tries = 0; tries < 100 && told.length < 2; tries += 1) await Bun.sleep(10)
  expect(await sessions()).toEqual(["ses_1"])
  // In this order: a pass goes when its lines are gone, and a content when no pass refers to it.
  expect(told).toEqual(["passes 50 true", "contents"])
})

test("files that somebody has edited stay, and keep no other from going, however many they are; it is said once", async () => {
  using home = createHome()
  const names = Array.from({ length: 7 }, (_, at) => `ses_${at + 1}`)
  for (const name of names) await recorded(home.project, home.database, 100, name)
  for (const name of names.slice(0, 5)) edited(home.project, name)
  const of = { directory: home.project, path: home.database }
  const said: string[] = []
  const sweeps = { done: 0 }
  const keeping = keepRetention(
    {
      directory: home.project,
      settings: () => SETTINGS,
      passes: async () => NONE,
      contents: async () => void (sweeps.done += 1),
      log: (_level, message) => void said.push(message),
    },
    { ...QUICK, again_ms: 1 },
  )
  await until(() => sweeps.done >= 2)
  keeping.close()
  const left = new Set((await AuditLog.query({}, of)).map((line) => line.session_id))
  expect([...left].toSorted()).toEqual(names.slice(0, 5))
  expect(said.filter((message) => message.includes("was changed and is kept"))).toHaveLength(5)
  expect(said).toHaveLength(5)
  // What is left of the chains can be verified without the database.
  const summary = readSummary(join(home.project, LOGS))
  expect(Object.keys(summary.anchors).toSorted()).toEqual(names.slice(5))
  expect(summary.lines).toBe((await AuditLog.query({}, of)).length)
})

test("it goes on until nothing is left, looks again later, and stops when the project is closed", async () => {
  using home = createHome()
  const left = { now: 120, contents: 0 }
  const taken: number[] = []
  const keeping = keepRetention(
    {
      directory: home.project,
      settings: () => SETTINGS,
      passes: async (_before, limit) => {
        const passes = Math.min(limit, left.now)
        left.now -= passes
        taken.push(passes)
        return { passes, runs: 0 }
      },
      contents: async () => {
        left.contents += 1
        if (left.contents === 1) left.now = 10
      },
      log: () => {},
    },
    { ...QUICK, again_ms: 20 },
  )
  await until(() => left.contents === 2)
  expect(taken).toEqual([50, 50, 20, 0, 10, 0])
  keeping.close()
  await Bun.sleep(60)
  expect(left.contents).toBe(2)
})
