import { expect, jest, test } from "bun:test"
import { AuditLog } from "../src/audit-log"
import { keepRetention } from "../src/retention"
import { createHome } from "./cli/support"
import { createEngineWorld } from "./pass-over/support/engine"
import { outcomeOf, started, VERDICT } from "./pass-over/support/drive"

const DAY = 86_400_000
const SETTINGS = { log_all_passes: false, log_directory: ".opencode/pass-over-logs", retention_days: 30 }

/** A pass of the home's project as it was so many days ago. */
async function recorded(directory: string, path: string, days: number) {
  using world = createEngineWorld({ path, seed: days })
  world.clock.shift(Date.now() - days * DAY - world.clock.now())
  world.project.directory = directory
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const runner = await started(world, {}, { session_id: `ses_${days}` })
  await outcomeOf(world, runner)
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
      passes: async (before, limit) => void told.push(`passes ${limit} ${(Date.now() - before) / DAY > 30}`),
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
  expect(told).toEqual(["passes 100 true", "contents"])
})
