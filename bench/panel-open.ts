/**
 * Whether opencode is slowed by an open panel: the same passes on the real opencode, in turn with nobody looking and
 * with the panel open in a browser that follows them. A browser takes processor time from everything that shares a
 * processor with it. So opencode has one of its own, where the system can do that, and everything else has the others;
 * without it, and with `shared`, what opencode itself does more is in its own processor time.
 *
 *   bun bench/panel-open.ts [shared]
 */
import { existsSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { call, say } from "../packages/rehearsal/src"
import { launch, open } from "../packages/app/test/browser/support/browser"
import { serve } from "../packages/app/test/browser/support/serve"
import { createWorld, endWorld, type World } from "../packages/opencode/test/pass-over/support/opencode"
import { quantile } from "./statistics"

const ROUNDS = 10
const PASSES = 5

const TICKS_PER_MS = 0.1

/** What a process has used of the processors so far, in milliseconds; nothing where the system does not tell. */
function used(pid: number): number | undefined {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return undefined
  const [, fields = ""] = readFileSync(path, "utf8").split(") ")
  const [user = "0", system = "0"] = fields.split(" ").slice(11, 13)
  return (Number(user) + Number(system)) / TICKS_PER_MS
}

/** Binds a process, all its threads and what it will start to a processor. */
function bind(pid: number, processors: string): boolean {
  if (Bun.which("taskset") === null) return false
  return Bun.spawnSync(["taskset", "-acp", processors, String(pid)], { stdout: "ignore" }).exitCode === 0
}

/** The browser, the panel's server and the model are started by this process, and stay where it is. */
function apart(world: World): boolean {
  const last = availableParallelism() - 1
  if (process.argv.includes("shared") || last < 1) return false
  return bind(process.pid, `1-${last}`) && bind(world.server.pid, "0")
}

type Taken = { times: number[]; cpu: number }

/** One prompt after the other, each with a pass and a tool; how long each took. */
async function work({ model, server }: World, taken: Taken) {
  const before = used(server.pid)
  for (let pass = 0; pass < PASSES; pass += 1) {
    model.play({
      agents: {
        alice: [
          call("pass_over", { subagent: "scout", objective: `Look ${crypto.randomUUID()}`, reason: "bench" }),
          say("Done"),
        ],
        scout: [
          call("read", { filePath: "src/total.ts" }),
          call("pass_over_return", { decision: "approved", decision_reason: "Seen." }),
        ],
      },
    })
    const began = performance.now()
    await server.prompt({ agent: "alice", text: "Go." })
    taken.times.push(performance.now() - began)
  }
  if (before !== undefined) taken.cpu += (used(server.pid) ?? before) - before
}

/** The times of prompts with nobody looking (`alone`) and with the panel open (`watched`). */
export async function panelOpen() {
  const world = await createWorld()
  const own = apart(world)
  const panel = await serve(world)
  const browser = await launch()
  const [alone, watched]: [Taken, Taken] = [
    { times: [], cpu: 0 },
    { times: [], cpu: 0 },
  ]
  await work(world, { times: [], cpu: 0 })
  for (let round = 0; round < ROUNDS; round += 1) {
    await work(world, alone)
    const { page, context } = await open(browser)
    await page.goto(await panel.link())
    await page.getByText("Live", { exact: true }).waitFor()
    await work(world, watched)
    await context.close()
  }
  await browser.close()
  await panel.stop()
  await endWorld(world)
  const [before, after] = [quantile(alone.times, 0.5), quantile(watched.times, 0.5)]
  console.log(
    `opencode${own ? " on a processor of its own" : ""}, a prompt with a pass: p50 ${before.toFixed(1)} ms with nobody looking, ${after.toFixed(1)} ms with the panel open, ratio ${(after / before).toFixed(3)}`,
  )
  if (alone.cpu > 0)
    console.log(`opencode's own processor time for them: ratio ${(watched.cpu / alone.cpu).toFixed(3)}`)
}

if (import.meta.main) {
  await panelOpen()
  process.exit(0)
}
