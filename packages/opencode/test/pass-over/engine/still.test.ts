import { expect, test } from "bun:test"
import { answerGate } from "../../../src/pass-over/service/gate"
import type { Runner } from "../../../src/pass-over/service/runner"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFlowScene } from "../support/flow"

// Nobody's time runs while a person thinks about what they wait for.
const MINUTE = 60_000
const YES = { verdict: "approve", note: null, by: "ada", surface: "the terminal" } as const

type Nested = { runner?: Runner }

/** Alice passes to scout, who passes to audit: `wait` says whether scout waits for that. */
function world(preferences: PassOverPreferences, wait = true) {
  const made = createEngineWorld()
  made.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  const nested: Nested = {}
  made.host.script("scout", async (child) => {
    nested.runner = await started(made, { wait }, { agent: "scout", session_id: child.session_id })
    await Promise.race([nested.runner.outcome, child.told])
    if (child.stopped) return
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  made.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  return { ...made, nested }
}

async function asked(made: EngineWorld) {
  await settle(30)
  const [gate] = await made.engine.store.gates({ status: ["pending"] })
  if (!gate) throw new Error("nobody was asked")
  return gate
}

const confirmed = { pairs: { "scout->audit": { require_confirmation: true } } }

test("while a person is asked about a nested pass, no limit of its caller runs; then they all go on", async () => {
  using made = world(confirmed)
  const runner = await started(made, { subagent: "scout", timeout_ms: 5 * MINUTE })
  const gate = await asked(made)
  await made.clock.advance(30 * MINUTE)
  expect(made.engine.running.get(runner.pass.id)?.remaining_ms).toBe(5 * MINUTE)
  expect(await answerGate(made.engine, gate.gate_id, YES)).toMatchObject({ ok: true })
  expect((await outcomeOf(made, runner)).output.status).toBe("completed")
  expect((await made.nested.runner?.outcome)?.output.status).toBe("completed")
  expect(runner.run.waits).toBe(0)
})

test("a caller that does not wait for its pass has its time run on while a person is asked about that one", async () => {
  using made = world(confirmed, false)
  const runner = await started(made, { subagent: "scout", timeout_ms: 5 * MINUTE })
  await asked(made)
  await made.clock.advance(MINUTE)
  expect(runner.remaining_ms).toBe(4 * MINUTE)
})

test("a step of a flow that a child waits for is waited for like a pass", async () => {
  using scene = createFlowScene(["name: one\nsteps:\n  - id: look\n    agent: audit\n    objective: Look\n"])
  scene.preferences.push({ origin: "project", path: "p", preferences: confirmed })
  const working = Promise.withResolvers<string>()
  scene.host.script("scout", async (child) => {
    working.resolve(child.session_id)
    await child.told
  })
  const { pass } = await started(scene, { subagent: "scout", timeout_ms: 5 * MINUTE })
  const session_id = await working.promise
  const by = { name: "one", inputs: {}, session_id, originator: "scout", by: "model", model: null } as const
  expect(await scene.flows.start(by)).toMatchObject({ ok: true })
  expect(await asked(scene)).toMatchObject({ kind: "confirmation", asked_by: "scout" })
  await scene.clock.advance(30 * MINUTE)
  expect(scene.engine.running.get(pass.id)?.remaining_ms).toBe(5 * MINUTE)
})

test("who waits for a nested pass that stands in line is not idle, and its own time goes on", async () => {
  using made = world({ limits: { running_per_subagent: 1 } })
  const release = Promise.withResolvers<void>()
  let first = true
  made.host.script("audit", async (child) => {
    if (first) {
      first = false
      const beat = async () => {
        for (let at = 0; at < 10; at += 1) {
          await child.wait(MINUTE)
          child.say("still at it")
        }
      }
      await Promise.race([beat(), release.promise])
    }
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  await started(made)
  const runner = await started(made, { subagent: "scout", timeout_ms: 30 * MINUTE })
  await settle(30)
  expect(made.nested.runner?.waiting).toBe("queued, place 1")
  await made.clock.advance(9 * MINUTE)
  expect(runner.run).toMatchObject({ phase: "working", attempt: 1 })
  expect(runner.remaining_ms).toBe(21 * MINUTE)
  expect((await outcomeOf(made, runner)).output.status).toBe("completed")
})
