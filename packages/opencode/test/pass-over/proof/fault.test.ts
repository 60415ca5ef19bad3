import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { PassOverErrorCode } from "../../../src/pass-over/domain/errors"
import type { Outcome } from "../../../src/pass-over/service/port"
import type { Rest } from "../../../src/pass-over/service/port-host"
import type { Runner } from "../../../src/pass-over/service/runner"
import { openStore } from "../support/database"
import { VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import type { Child } from "../support/scripted-host"
import { drawing, FAULTS, type Draw, type Fault } from "./faults"
import { broken } from "./laws"
import { PATIENCE_MS, report, scale } from "./scale"

setDefaultTimeout(PATIENCE_MS)

/** Where in the life of a pass a fault strikes. */
const POSITIONS = ["the parent's call", "the first answer", "a tool call", "the return", "the finalisation"] as const
type Position = (typeof POSITIONS)[number]

const SEEDS = scale(6, 20)

type Scene = { world: EngineWorld; fault: Fault; position: Position; draw: Draw; strikes: number; working: number }

const toldToStop = async (child: Child): Promise<Rest> => {
  await child.told
  return { failure: { code: PassOverErrorCode.CANCELLED, message: "its session was stopped", final: true } }
}

async function finish(child: Child, scene: Scene): Promise<Rest> {
  await Promise.race([child.wait(scene.draw(0, 2_000)), child.told])
  if (child.stopped) return toldToStop(child)
  await child.return(VERDICT)
  child.step({ input: 10 })
  return toldToStop(child)
}

/** The fault, as often as it strikes, and then what the child was about to do. */
async function strike(child: Child, scene: Scene, then: () => Promise<Rest>): Promise<Rest> {
  if (scene.strikes-- <= 0) return then()
  const came = await scene.fault(child, scene.draw)
  return came === "on" ? then() : came
}

async function work(child: Child, scene: Scene): Promise<Rest> {
  const { position } = scene
  const { kind } = child.prompt
  if (position === "the finalisation") {
    if (kind === "first") return (child.tool("grep", { pattern: "total" }, "src/total.ts:1"), child.step(), {})
    return strike(child, scene, () => finish(child, scene))
  }
  if (position === "the first answer") return strike(child, scene, () => finish(child, scene))
  if (position === "a tool call") {
    child.tool("bash", { command: "make" }, "ok")
    return strike(child, scene, () => finish(child, scene))
  }
  if (position === "the return") {
    await child.return(VERDICT)
    return strike(child, scene, async () => (child.step({ input: 10 }), toldToStop(child)))
  }
  return finish(child, scene)
}

/** A fault of the originator's own provider: its turn ends and takes the call with it, or the call is made again. */
async function strikeParent({ world, fault, draw }: Scene, runner: Runner, ask: Parameters<EngineWorld["ask"]>) {
  const told = Promise.withResolvers<void>()
  const patience = draw(1_000, 20_000)
  const parent: Child = {
    session_id: "ses_root",
    prompt: { session_id: "ses_root", kind: "first", agent: "alice", text: "", model: null },
    get stopped() {
      return world.clock.mono() >= patience
    },
    told: told.promise,
    wait: (ms) => new Promise((resolve) => void world.clock.after(ms, resolve)),
    say: () => {},
    think: () => {},
    tool: () => {},
    return: async () => "",
    step: () => {},
    putOff: () => {},
    ask: () => {},
    answered: () => {},
  }
  // A user whose agent hangs stops it at some time.
  world.clock.after(patience, told.resolve)
  const came = await fault(parent, draw).catch(() => ({}))
  // The call is made again, and is the same pass; where that has ended, it says so.
  if (came === "on") {
    const sent = await world.ask(...ask)
    const same = sent.ok ? sent.runner === runner && !sent.created : sent.refusal.message.includes(runner.pass.id)
    return expect(same).toBe(true)
  }
  runner.input({
    type: "cancel",
    failure: { code: PassOverErrorCode.CANCELLED, message: "alice was stopped" },
  })
}

type Run = { what: string; wrong: string[]; end: string }

/** One pass with one fault, until its outcome and until nothing more happens. */
async function run(name: string, fault: Fault, position: Position, seed: number): Promise<Run> {
  using database = openStore(":memory:")
  using world = createEngineWorld({ store: database.store })
  const draw = drawing(seed * 7_919 + name.length * 31 + POSITIONS.indexOf(position))
  const [timeout_ms, idle_timeout_ms] = [draw(5_000, 240_000), draw(3_000, 60_000)]
  const preferences = { defaults: { idle_timeout_ms }, subagents: { audit: { max_compute_time_ms: 240_000 } } }
  world.preferences.push({ origin: "project", path: "p", preferences })
  const scene: Scene = { world, fault, position, draw, strikes: draw(1, 4), working: 0 }
  world.host.script("audit", async (child) => {
    scene.working += 1
    try {
      return await work(child, scene)
    } finally {
      scene.working -= 1
    }
  })
  const ask: Parameters<EngineWorld["ask"]> = [{ objective: "Review it", timeout_ms }, { call_id: "call_once" }]
  const sent = await world.ask(...ask)
  if (!sent.ok) throw new Error(sent.refusal.message)
  const { runner } = sent
  const struck = position === "the parent's call" ? strikeParent(scene, runner, ask) : undefined
  const found: { outcome?: Outcome; at?: number } = {}
  void runner.outcome.then((outcome) => Object.assign(found, { outcome, at: world.clock.mono() }))
  const limit = timeout_ms + Math.max(250, timeout_ms * 0.05)
  const wrong: string[] = []
  await world.clock.until(() => found.outcome !== undefined, limit).catch((error) => wrong.push(String(error)))
  await world.clock.advance(3_700_000)
  await struck
  const { outcome } = found
  const attempts = await database.store.attempts(runner.pass.id)
  wrong.push(
    ...broken(database.client, runner.pass.id),
    ...typed(outcome),
    ...(scene.working === 0 ? [] : ["its child still works"]),
    ...(world.engine.running.all().length === 0 ? [] : ["it is still held for running"]),
    ...(recorded(attempts.length, world.host.prompts.length, outcome) ? [] : ["an attempt was not recorded"]),
    ...(position === "the return" && outcome?.output.status !== "completed" ? ["its return was lost"] : []),
  )
  return { what: `${name}, ${position}, ${seed}`, wrong, end: `${outcome?.output.status} ${outcome?.error_code}` }
}

/** Every prompt has its attempt. One more has a child that was bound, and stopped before it was told anything. */
const recorded = (attempts: number, prompts: number, outcome: Outcome | undefined) =>
  attempts === prompts || (attempts === prompts + 1 && outcome?.error_code === PassOverErrorCode.CANCELLED)

const CODES: readonly string[] = Object.values(PassOverErrorCode)

function typed(outcome: Outcome | undefined): string[] {
  if (!outcome) return ["no outcome"]
  const { output, error_code } = outcome
  if (error_code === null) return output.summary.decision === VERDICT.decision ? [] : ["a success that nobody returned"]
  return CODES.includes(error_code) ? [] : [`an outcome with ${error_code}`]
}

describe("a provider that fails ends no pass without a typed outcome, in time", () => {
  for (const position of POSITIONS) {
    test(`${Object.keys(FAULTS).length} faults, at ${position}`, async () => {
      const ends: Record<string, number> = {}
      for (const [name, fault] of Object.entries(FAULTS)) {
        for (let seed = 1; seed <= SEEDS; seed += 1) {
          const { what, wrong, end } = await run(name, fault, position, seed)
          expect({ what, wrong }).toEqual({ what, wrong: [] })
          ends[end] = (ends[end] ?? 0) + 1
        }
      }
      report(position, ends)
      expect(ends["completed null"]).toBeGreaterThan(0)
    })
  }
})

test("a child that does not stop when it is told is found by the same test", async () => {
  const deaf: Fault = async () => new Promise(() => {})
  const { wrong } = await run("stall", deaf, "a tool call", 1)
  expect(wrong).toEqual(["its child still works"])
})
