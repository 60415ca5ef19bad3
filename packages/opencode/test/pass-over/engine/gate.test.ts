import { expect, test } from "bun:test"
import { attendGates } from "../../../src/pass-over/service/act"
import { adopt } from "../../../src/pass-over/service/adopt"
import { answerGate, openGate } from "../../../src/pass-over/service/gate"
import { recover } from "../../../src/pass-over/service/recover"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"
import { settle } from "../support/fake-clock"

const HOUR = 60 * 60 * 1_000

function world(preferences: PassOverPreferences, options: EngineWorldOptions = {}): EngineWorld {
  const made = createEngineWorld(options)
  made.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  made.engine.projects.set(made.project.directory, made.project)
  made.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  return made
}

const confirmed = { pairs: { "alice->audit": { require_confirmation: true } } }

async function pending(of: EngineWorld) {
  await settle(20)
  const [gate] = await of.engine.store.gates({ status: ["pending"] })
  if (!gate) throw new Error("nobody was asked")
  return gate
}

const yes = { verdict: "approve", note: null, by: "ada", surface: "the terminal" } as const
const no = { verdict: "reject", note: "not today", by: "ada", surface: "the terminal" } as const

test("a pass that wants a confirmation starts when a person says yes, and its time does not run before", async () => {
  using made = world(confirmed)
  const runner = await started(made, { timeout_ms: 10_000 })
  const gate = await pending(made)
  expect(gate).toMatchObject({
    kind: "confirmation",
    asked_by: "alice",
    policy: expect.stringContaining("alice->audit"),
  })
  await made.clock.advance(HOUR / 2)
  expect(made.host.children).toHaveLength(0)
  expect(runner.remaining_ms).toBe(10_000)
  expect(await answerGate(made.engine, gate.gate_id, yes)).toMatchObject({ ok: true })
  const { output } = await outcomeOf(made, runner)
  expect(output.status).toBe("completed")
  const lines = await made.engine.store.audit({ pass_over_id: runner.pass.id })
  expect(lines.map((line) => line.action).toReversed()).toEqual([
    "requested",
    "asked",
    "answered",
    "dispatched",
    "returned",
  ])
})

test("a no ends the pass as declined, with the person's words, and no child was made", async () => {
  using made = world(confirmed)
  const runner = await started(made)
  await answerGate(made.engine, (await pending(made)).gate_id, no)
  const { output, error_code } = await outcomeOf(made, runner)
  expect(error_code).toBe("E017")
  expect(output).toMatchObject({
    status: "aborted",
    completion_reason: expect.stringContaining("rejected by ada in the terminal: not today"),
  })
  expect(made.host.children).toHaveLength(0)
})

test("the second answer is told who was first", async () => {
  using made = world(confirmed)
  await started(made)
  const gate = await pending(made)
  await answerGate(made.engine, gate.gate_id, yes)
  const second = await answerGate(made.engine, gate.gate_id, { ...no, by: "bob" })
  expect(second).toMatchObject({
    ok: false,
    refusal: { code: "E040", message: "This was approved by ada in the terminal." },
  })
})

for (const [gate_default, error_code] of [
  ["reject", "E017"],
  ["approve", null],
] as const) {
  test(`nobody answers: the default ${gate_default} holds after the time to live, and the outcome says so`, async () => {
    using made = world({ pairs: { "alice->audit": { require_confirmation: true, gate_ttl_ms: 5_000, gate_default } } })
    const runner = await started(made)
    await pending(made)
    const outcome = await outcomeOf(made, runner)
    expect(outcome.error_code).toBe(error_code)
    if (error_code) expect(outcome.output.completion_reason).toContain("by default, because nobody answered in time")
    const [gate] = await made.engine.store.gates({})
    expect(gate).toMatchObject({ answered_by: null, time_answered: expect.any(Number) })
  })
}

test("where nobody sits the default holds after a minute, unless somebody has said how long it may take", async () => {
  using made = world(confirmed, { headless: true })
  await started(made)
  const gate = await pending(made)
  expect(gate.time_expires - gate.time_created).toBe(60_000)
  using patient = world(
    { pairs: { "alice->audit": { require_confirmation: true, gate_ttl_ms: HOUR } } },
    { headless: true },
  )
  await started(patient)
  const other = await pending(patient)
  expect(other.time_expires - other.time_created).toBe(HOUR)
})

test("a pass that is cancelled while it waits takes its question back", async () => {
  using made = world(confirmed)
  const runner = await started(made)
  const gate = await pending(made)
  runner.input({ type: "cancel", failure: { code: "E016", message: "cancelled by ada" } })
  await outcomeOf(made, runner)
  await settle(20)
  expect(await made.engine.store.gate(gate.gate_id)).toMatchObject({ status: "withdrawn" })
  expect(await answerGate(made.engine, gate.gate_id, yes)).toMatchObject({ ok: false, refusal: { code: "E040" } })
})

test("a pass that is cancelled while its question is being put takes it back", async () => {
  using made = world(confirmed)
  const { ask } = made.engine.store
  const [putting, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  made.engine.store.ask = async (input) => {
    putting.resolve()
    await over.promise
    return ask(input)
  }
  const runner = await started(made)
  await putting.promise
  runner.input({ type: "cancel", failure: { code: "E016", message: "cancelled by ada" } })
  await outcomeOf(made, runner)
  over.resolve()
  await settle(20)
  expect(await made.engine.store.gates({})).toMatchObject([{ status: "withdrawn" }])
})

test("the question outlives the process that put it: the answer starts the pass in the next one", async () => {
  using first = world(confirmed)
  const runner = await started(first)
  const gate = await pending(first)
  using second = world(confirmed, { owner: "2", seed: 1_000, store: first.engine.store })
  expect(await recover(second.engine, () => "dead")).toBe(0)
  expect(await adopt(second.engine, second.project)).toBe(1)
  await answerGate(second.engine, gate.gate_id, yes)
  const taken = second.engine.running.get(runner.pass.id)
  if (!taken) throw new Error("the pass was not taken up")
  expect((await outcomeOf(second, taken)).output.status).toBe("completed")
  await settle(20)
  // Its tool call went with its process, so the result comes as a message.
  expect(second.host.delivered).toHaveLength(1)
})

test("an answer that is given in another process is heard here", async () => {
  using here = world(confirmed)
  using there = world(confirmed, { owner: "2", seed: 1_000, store: here.engine.store })
  const runner = await started(here)
  const gate = await pending(here)
  await answerGate(there.engine, gate.gate_id, yes)
  await settle(20)
  expect(here.host.children).toHaveLength(0)
  await attendGates(here.engine)
  expect((await outcomeOf(here, runner)).output.status).toBe("completed")
})

test("a person who starts a pass is not asked whether it may start", async () => {
  using made = world(confirmed)
  const runner = await started(made, {}, { by: "person" })
  expect((await outcomeOf(made, runner)).output.status).toBe("completed")
  expect(await made.engine.store.gates({})).toEqual([])
})

test("the host's own dialog is one way to answer, and is taken off the screen when another was faster", async () => {
  using made = world(confirmed)
  const shown = Promise.withResolvers<AbortSignal>()
  const runner = await started(
    made,
    {},
    {
      surface: (_gate, signal) => {
        shown.resolve(signal)
        return new Promise(() => {})
      },
    },
  )
  const signal = await shown.promise
  expect(signal.aborted).toBe(false)
  await answerGate(made.engine, (await pending(made)).gate_id, yes)
  expect((await outcomeOf(made, runner)).output.status).toBe("completed")
  expect(signal.aborted).toBe(true)

  using other = world(confirmed)
  const asked = await started(other, {}, { surface: async () => ({ ...no, surface: "opencode" }) })
  expect((await outcomeOf(other, asked)).error_code).toBe("E017")
})

const REJECTED = { decision: "rejected", decision_reason: "It is wrong.", findings: ["The sign is wrong."] }

const held = (report: object, preference: object) => {
  const made = world({ pairs: { "alice->audit": preference } })
  made.host.script("audit", async (child) => {
    await child.return(report)
    child.step()
    await child.told
  })
  return made
}

test("auto_return false holds a result with a blocker until a person lets it go; then it comes as a message", async () => {
  using made = held(REJECTED, { auto_return: false })
  const runner = await started(made)
  const outcome = await outcomeOf(made, runner)
  expect(outcome.held).toBe(true)
  const gate = await pending(made)
  expect(gate).toMatchObject({ kind: "delivery", pass_over_id: runner.pass.id })
  expect(made.host.delivered).toEqual([])
  await answerGate(made.engine, gate.gate_id, yes)
  await attendGates(made.engine)
  await settle(20)
  expect(made.host.delivered).toMatchObject([{ session_id: "ses_root" }])
  expect((await made.engine.store.find(runner.pass.id))?.status).toBe("processed")
  await attendGates(made.engine)
  expect(made.host.delivered).toHaveLength(1)
})

test("a held result is let go however many other questions were answered before", async () => {
  using made = held(REJECTED, { auto_return: false })
  for (let at = 0; at < 201; at += 1) {
    const { gate } = await openGate(made.engine, {
      key: `host:${at}`,
      kind: "question",
      pass: undefined,
      session_id: "ses_root",
      directory: made.project.directory,
      asked_by: "audit",
      question: "May audit use bash: ls?",
      policy: "opencode's own permission rules",
      default_action: "reject",
      ttl_ms: HOUR,
    })
    await answerGate(made.engine, gate.gate_id, yes)
  }
  await outcomeOf(made, await started(made))
  await answerGate(made.engine, (await pending(made)).gate_id, yes)
  await attendGates(made.engine)
  await settle(20)
  expect(made.host.delivered).toHaveLength(1)
})

test("auto_review lets a clean result by, unless it is switched off", async () => {
  using clean = held(VERDICT, { auto_return: false })
  expect((await outcomeOf(clean, await started(clean))).held).toBeUndefined()
  using strict = held(VERDICT, { auto_return: false, auto_review: false })
  expect((await outcomeOf(strict, await started(strict))).held).toBe(true)
  using open = held(REJECTED, { auto_return: true })
  expect((await outcomeOf(open, await started(open))).held).toBeUndefined()
})

test("a held result that a person refuses is cancelled, one that nobody confirms has timed out; neither is delivered", async () => {
  using refused = held(REJECTED, { auto_return: false })
  const runner = await started(refused)
  await outcomeOf(refused, runner)
  await answerGate(refused.engine, (await pending(refused)).gate_id, no)
  await attendGates(refused.engine)
  expect((await refused.engine.store.find(runner.pass.id))?.status).toBe("cancelled")

  using forgotten = held(REJECTED, { auto_return: false, gate_ttl_ms: 1_000 })
  const other = await started(forgotten)
  await outcomeOf(forgotten, other)
  await pending(forgotten)
  await forgotten.clock.advance(2_000)
  const { tendGates } = await import("../../../src/pass-over/service/act")
  await tendGates(forgotten.engine)
  expect((await forgotten.engine.store.find(other.pass.id))?.status).toBe("timed_out")
  expect([...refused.host.delivered, ...forgotten.host.delivered]).toEqual([])
})
