import { expect, test } from "bun:test"
import { returnFromPassOver } from "../../../src/pass-over/service/api-return"
import type { Runner } from "../../../src/pass-over/service/runner"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

const code = (returned: Awaited<ReturnType<typeof returnFromPassOver>>) =>
  returned.ok ? returned.text : returned.refusal.code

test("a return from a session in which no pass runs has no place to go to: E020", async () => {
  using world = createEngineWorld()
  const returned = await returnFromPassOver(world.engine, { session_id: "ses_lost", agent: "audit", report: VERDICT })
  expect(returned).toMatchObject({
    ok: false,
    refusal: {
      code: "E020",
      message: "No pass runs in this session.",
      suggestion: expect.stringMatching(/^Answer the user instead\..+Run pass-over audit restore/),
    },
  })
})

test("only the agent that was given a pass returns it, once, and nothing after it has ended", async () => {
  using world = createEngineWorld()
  const told: string[] = []
  world.host.script("audit", async ({ session_id, step, told: stopped }) => {
    const tries = ["scout", "audit", "audit"]
    for (const agent of tries)
      told.push(code(await returnFromPassOver(world.engine, { session_id, agent, report: VERDICT })))
    step()
    await stopped
  })
  const runner = await started(world)
  await outcomeOf(world, runner)
  const [child] = world.host.children
  const late = { session_id: child!.session_id, agent: "audit", report: VERDICT }
  told.push(code(await returnFromPassOver(world.engine, late)))
  expect(told).toEqual(["E013", "Received. alice has it now; your work on this pass is done.", "E040", "E040"])
})

const CANCEL = { type: "cancel", failure: { code: "E016", message: "not wanted" } } as const

/** A pass whose child waits until a test returns for it. */
async function waiting(world: EngineWorld, preferences: object = {}) {
  world.preferences.push({ origin: "project", path: "p", preferences: { defaults: preferences } })
  world.host.script("audit", (child) => child.told)
  const runner = await started(world, { timeout_ms: 60_000 })
  await settle(20)
  const of = { session_id: world.host.children[0]!.session_id, agent: "audit", report: VERDICT }
  return { runner, returns: () => returnFromPassOver(world.engine, of) }
}

test("a return that is still looked through when its pass ends is told so, and is not taken", async () => {
  using world = createEngineWorld()
  const { runner, returns } = await waiting(world)
  // Its outcome takes its time: nobody else can see yet that it has ended.
  world.host.messages = () => new Promise(() => {})
  const returned = returns()
  runner.input(CANCEL)
  expect(await returned).toMatchObject({
    ok: false,
    refusal: {
      code: "E040",
      message: `Pass ${runner.pass.id} has ended already; nothing more is taken for it.`,
    },
  })
  expect(await outcomeOf(world, runner)).toMatchObject({ error_code: "E016" })
  expect(await world.engine.store.staged(runner.pass.id)).toBeUndefined()
})

const ENDS: [string, (world: EngineWorld, runner: Runner) => unknown][] = [
  ["is cancelled", (_, runner) => runner.input(CANCEL)],
  ["runs out of time", (world) => world.clock.advance(60_000)],
]

for (const [what, end] of ENDS) {
  test(`a return counts whose pass ${what} while it is written down, and its outcome is not before it`, async () => {
    using world = createEngineWorld()
    const { runner, returns } = await waiting(world, { idle_timeout_ms: 600_000 })
    const { stage } = world.engine.store
    const slow = Promise.withResolvers<void>()
    world.engine.store.stage = async (input) => slow.promise.then(() => stage(input))
    const returned = returns()
    await settle()
    await end(world, runner)
    await world.clock.advance(1_000)
    expect(await world.engine.store.outcome(runner.pass.id)).toBeUndefined()
    slow.resolve()
    expect(await returned).toMatchObject({ ok: true })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null, output: { status: "completed" } })
    expect(await world.engine.store.staged(runner.pass.id)).toMatchObject(VERDICT)
  })
}
