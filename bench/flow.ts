/**
 * What a step of a flow costs by itself: the engine on a database file with a scripted child that returns at once, a
 * pass alone against a pass as a step of a flow, next to a bare SQLite commit with the same durability.
 *
 *   bun bench/flow.ts [steps]
 */
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { advance } from "../packages/opencode/src/pass-over/handoff/machine"
import { newRun, type Leave, type RunState } from "../packages/opencode/src/pass-over/handoff/state"
import { createEngineWorld } from "../packages/opencode/test/pass-over/support/engine"
import { createFlowScene, leaves, planned } from "../packages/opencode/test/pass-over/support/flow"
import { quantile } from "./statistics"

const [steps = 300] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-flow-"))

const show = (name: string, times: readonly number[]) =>
  console.log(
    `${name}: p50 ${quantile(times, 0.5).toFixed(3)} ms, p95 ${quantile(times, 0.95).toFixed(3)} ms, n=${times.length}`,
  )

const text = (count: number) =>
  `name: long\nsteps:\n${Array.from({ length: count }, (_, index) => `  - { id: s${index}, agent: scout, objective: Step ${index} }`).join("\n")}\n`

/** The journal entry of one step, committed alone. */
function commits() {
  const db = new Database(join(folder, "bare.db"), { create: true })
  db.run("PRAGMA journal_mode = WAL")
  db.run("PRAGMA synchronous = FULL")
  db.run("create table t (id integer primary key, body text)")
  const insert = db.prepare("insert into t (body) values (?)")
  const body = "x".repeat(2_000)
  const times = Array.from({ length: steps }, () => {
    const began = performance.now()
    db.transaction(() => insert.run(body)).immediate()
    return performance.now() - began
  })
  db.close()
  return times
}

const left = (node: string): Leave => ({
  pass_over_id: null,
  agent: "scout",
  status: "completed",
  envelope: {
    meta: { step_id: node, flow_key: "long", agent_key: "scout", timestamp: "2026-01-01T00:00:00.000Z" },
    status: "VERIFIED",
    summary: {
      what_i_did: "x",
      what_i_found: "",
      key_decisions: [],
      evidence: { artifacts_produced: [], commands_run: [], measurements: {} },
    },
    concerns: [],
    assumptions: [],
    routing: { recommendation: "CONTINUE", reason: "x" },
  },
  context: { summary: "Looked at src/total.ts" },
  problems: [],
  tokens: 1,
  cost: 0,
})

/** The machine alone: from what came back to what is next. */
function machine() {
  const plan = planned(text(1_000))
  let state: RunState = advance(plan, newRun({}), { type: "start" }, 0).state
  return Array.from({ length: 1_000 }, (_, index) => {
    const began = performance.now()
    state = advance(plan, state, { type: "left", key: `s${index}#1`, leave: left(`s${index}`) }, 0).state
    return performance.now() - began
  })
}

const real = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** The same pass, by itself. */
async function alone() {
  using world = createEngineWorld({ path: join(folder, "alone.db") })
  Object.assign(world.engine, { clock: real })
  world.host.script("scout", async (child) => void (await leaves(child)))
  const times: number[] = []
  for (let index = 0; index < steps; index += 1) {
    const began = performance.now()
    const sent = await world.ask({
      subagent: "scout",
      objective: `Step ${index}`,
      return_required: false,
      override: { pass_context: false },
    })
    if (!sent.ok) throw new Error(sent.refusal.message)
    await sent.runner.outcome
    times.push(performance.now() - began)
  }
  return times
}

/** As a step of a flow. */
async function asStep() {
  using scene = createFlowScene([text(steps)], { path: join(folder, "flow.db") })
  Object.assign(scene.engine, { clock: real })
  scene.host.script("scout", async (child) => void (await leaves(child)))
  const times: number[] = []
  const run = await scene.run("long")
  let began = performance.now()
  const off = scene.flows.carried(run.run_id)?.watch(() => {
    const now = performance.now()
    times.push(now - began)
    began = now
  })
  await scene.flows.carried(run.run_id)?.over
  off?.()
  return times
}

const bare = commits()
const pass = await alone()
const step = await asStep()
show("a bare SQLite commit of 2 KB, FULL", bare)
show("the machine, one step of 1,000", machine())
show("a pass by itself", pass)
show("a pass as a step of a flow", step)
const own = quantile(step, 0.5) - quantile(pass, 0.5)
console.log(
  `the flow's own part of a step: ${own.toFixed(3)} ms, ${(own / quantile(bare, 0.5)).toFixed(1)} bare commits (it makes two)`,
)
rmSync(folder, { recursive: true, force: true })
