import { expect, test } from "bun:test"
import { join } from "node:path"
import { attendGates, tendGates } from "../../../src/pass-over/service/act"
import { lastApplied, review, undoOne } from "../../../src/pass-over/service/change/act"
import { allowChange } from "../../../src/pass-over/service/change/approve"
import { answerText } from "../../../src/pass-over/service/deliver"
import { answerGate } from "../../../src/pass-over/service/gate"
import type { Ask } from "../../../src/pass-over/service/api-send"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { settle } from "../support/fake-clock"
import { back, changed, createNestedWorld, FILES, LINES, prefer, put, read, type NestedWorld } from "../support/nested"

const HOUR = 60 * 60 * 1_000
const NEW = `${LINES}added\n`
const PROVEN = { decision: "approved", auto_apply_allowed: true, evidence: [{ type: "file", path: "a.txt" }] }
const yes = { verdict: "approve", note: null, by: "ada", surface: "the terminal" } as const
const no = { ...yes, verdict: "reject", note: "not today" } as const

/** A pass whose changes may apply themselves, under the default that a person is asked first. */
async function scene(world: NestedWorld, ask: Partial<Ask> = {}, settings: object = {}, report: object = PROVEN) {
  prefer(world, { pairs: { "alice->audit": { auto_apply: true, ...settings } } })
  world.engine.projects.set(world.directory, world.project)
  const runner = await world.run(
    "audit",
    async (audit) => {
      audit.tool("read", { filePath: join(audit.tree, "a.txt") }, LINES)
      put(audit.tree, "a.txt", NEW)
      await back(audit, { ...report })
    },
    ask,
  )
  const outcome = await runner.outcome
  await settle(20)
  return { pass: runner.pass, outcome, prompt: world.host.prompts[0]?.text ?? "" }
}

async function pending(world: NestedWorld) {
  const [gate] = await world.engine.store.gates({ status: ["pending"] })
  if (!gate) throw new Error("nobody was asked")
  return gate
}

const applied = async (world: NestedWorld, pass: Pass) => (await world.engine.store.outcome(pass.id))?.output.metadata

test("auto_apply under the default asks a person: the originator goes on and is told that, and on a yes it is applied", async () => {
  using world = createNestedWorld(FILES)
  const { pass, outcome, prompt } = await scene(world)
  expect(prompt).toContain("auto_apply_allowed: true")
  expect(answerText(world.engine, outcome)).toContain("A person is asked whether these changes are applied")
  expect(read(world.directory, "a.txt")).toBe(LINES)
  const gate = await pending(world)
  expect(gate).toMatchObject({
    kind: "approval",
    asked_by: "alice",
    policy: "require_user_approval: the system default",
  })
  await world.clock.advance(1_000)
  expect(world.host.notified).toMatchObject([{ text: expect.stringContaining("pass-over inbox") }])
  await answerGate(world.engine, gate.gate_id, yes)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(NEW)
  expect(await applied(world, pass)).toMatchObject({ applied: true, applied_by: "ada" })
  expect(world.host.delivered).toMatchObject([
    {
      session_id: "ses_root",
      start: false,
      text: expect.stringMatching(/was approved by ada in the terminal\.\nApplied: 1 file operation/),
    },
  ])
  await attendGates(world.engine)
  expect(world.host.delivered).toHaveLength(1)
})

test("a no writes nothing and is told with its words", async () => {
  using world = createNestedWorld(FILES)
  const { pass } = await scene(world)
  await answerGate(world.engine, (await pending(world)).gate_id, no)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(LINES)
  expect(await applied(world, pass)).toMatchObject({ applied: false })
  expect(world.host.delivered.map(({ text }) => text)).toEqual([
    `What audit proposed in pass ${pass.id} was rejected by ada in the terminal: not today.\nNothing was written.`,
  ])
})

test("nobody answers: nothing is written, and the originator is told", async () => {
  using world = createNestedWorld(FILES)
  await scene(world, {}, { gate_ttl_ms: HOUR })
  await world.clock.advance(HOUR + 1)
  await tendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(LINES)
  expect(world.host.delivered).toMatchObject([{ text: expect.stringContaining("by default, because nobody answered") }])
})

test("the yes is for what was shown: a file that has changed since, or a part that was declined since, is not written", async () => {
  using world = createNestedWorld(FILES)
  await scene(world)
  put(world.directory, "a.txt", "mine\n")
  await answerGate(world.engine, (await pending(world)).gate_id, yes)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe("mine\n")
  expect(world.host.delivered).toMatchObject([{ text: expect.stringContaining("has changed since") }])

  using other = createNestedWorld(FILES)
  const { pass } = await scene(other)
  const change = (await changed(other, pass))!
  const verdicts = [{ path: "a.txt", hunk: null, accepted: false, reason: "wrong" }]
  await review(other.deps, { pass, change, verdicts, actor: "alice" })
  await answerGate(other.engine, (await pending(other)).gate_id, yes)
  await attendGates(other.engine)
  expect(read(other.directory, "a.txt")).toBe(LINES)
  expect(other.host.delivered).toMatchObject([{ text: expect.stringContaining("is not what was approved") }])
})

test("an originator that asks for it meanwhile waits for the same question, and it is written once", async () => {
  using world = createNestedWorld(FILES)
  const { pass } = await scene(world)
  const gate = await pending(world)
  const asking = world.apply(
    pass,
    "alice",
    allowChange(world.engine, { pass, change: (await changed(world, pass))!, asked_by: "alice" }),
  )
  while (!world.engine.gates.ids().includes(gate.gate_id)) await Bun.sleep(5)
  expect(await world.engine.store.gates({})).toHaveLength(1)
  await answerGate(world.engine, gate.gate_id, yes)
  expect((await asking).ok).toBe(true)
  await attendGates(world.engine)
  expect(await world.engine.store.applications({ pass_over_id: pass.id })).toHaveLength(1)
  expect(world.host.delivered).toEqual([])
})

test("an originator that comes second to an answer which is carried out already does not write it again", async () => {
  using world = createNestedWorld(FILES)
  const { pass } = await scene(world)
  const { gate_id } = await pending(world)
  const change = (await changed(world, pass))!
  const asking = world.apply(pass, "alice", allowChange(world.engine, { pass, change, asked_by: "alice" }))
  while (!world.engine.gates.ids().includes(gate_id)) await Bun.sleep(5)
  // Another opencode with this project open has heard the answer first.
  await world.engine.store.actOn(gate_id, world.clock.now())
  await answerGate(world.engine, gate_id, yes)
  expect(await asking).toMatchObject({ ok: false, refusal: { code: "E040" } })
  expect(read(world.directory, "a.txt")).toBe(LINES)
})

test.each([
  ["a yes", "applied another way", yes, false],
  ["a yes", "applied another way and taken back", yes, true],
  ["a no", "applied another way and taken back", no, true],
  ["the end of its time", "applied another way", undefined, false],
] as const)(
  "%s to what was %s meanwhile writes nothing and is told to nobody",
  async (_answer, _since, said, takenBack) => {
    using world = createNestedWorld(FILES)
    const { pass } = await scene(world, {}, { gate_ttl_ms: HOUR })
    const { gate_id } = await pending(world)
    expect(await world.apply(pass, "ada")).toMatchObject({ ok: true })
    const application = await lastApplied(world.deps, { pass_over_id: pass.id })
    if (takenBack) expect(await undoOne(world.deps, { application, actor: "ada" })).toMatchObject({ ok: true })
    if (said) await answerGate(world.engine, gate_id, said)
    if (!said) await world.clock.advance(HOUR + 1)
    await tendGates(world.engine)
    expect(await world.engine.store.gate(gate_id)).not.toMatchObject({ status: "pending" })
    expect(read(world.directory, "a.txt")).toBe(takenBack ? LINES : NEW)
    expect(world.host.delivered).toEqual([])
  },
)

test("an attempt of somebody else that wrote nothing leaves the question what it was: a yes is carried out", async () => {
  using world = createNestedWorld(FILES)
  const { pass } = await scene(world)
  const { store } = world.engine
  const { intend } = store
  store.intend = async (...application) => {
    const may = await intend(...application)
    put(world.directory, "a.txt", "mine\n")
    return may
  }
  expect(await world.apply(pass, "ada")).toMatchObject({ ok: false })
  expect(await store.applications({ pass_over_id: pass.id })).toMatchObject([{ status: "not_applied" }])
  store.intend = intend
  put(world.directory, "a.txt", LINES)
  await answerGate(world.engine, (await pending(world)).gate_id, yes)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(NEW)
  expect(world.host.delivered).toMatchObject([{ text: expect.stringContaining("Applied: 1 file operation") }])
})

test("what was approved and could not be written for whatever reason is told with that reason", async () => {
  using world = createNestedWorld(FILES)
  await scene(world)
  await answerGate(world.engine, (await pending(world)).gate_id, yes)
  Object.assign(world.engine.store, { verdicts: async () => Promise.reject(new Error("the disk is full")) })
  await attendGates(world.engine)
  expect(world.host.delivered).toMatchObject([
    { start: false, text: expect.stringMatching(/was approved by ada.*\nIt could not be written: the disk is full$/) },
  ])
})

test("where nobody sits an originator that asks for it meanwhile is told so at once, and the question stays open", async () => {
  using world = createNestedWorld(FILES)
  const { pass } = await scene(world)
  const { gate_id } = await pending(world)
  Object.assign(world.engine, { headless: true })
  const change = (await changed(world, pass))!
  const asking = world.apply(pass, "alice", allowChange(world.engine, { pass, change, asked_by: "alice" }))
  expect(await Promise.race([asking, Bun.sleep(2_000)])).toMatchObject({
    ok: false,
    refusal: { code: "E017", message: expect.stringContaining("A person is asked about this already") },
  })
  expect(read(world.directory, "a.txt")).toBe(LINES)
  await answerGate(world.engine, gate_id, yes)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(NEW)
})

test("who hears nothing of a result hears nothing of its changes either", async () => {
  using world = createNestedWorld(FILES)
  await scene(world, { return_required: false })
  await answerGate(world.engine, (await pending(world)).gate_id, yes)
  await attendGates(world.engine)
  expect(read(world.directory, "a.txt")).toBe(NEW)
  expect(world.host.delivered).toEqual([])
})

test("a result that comes as a message says that its changes wait for a person", async () => {
  using world = createNestedWorld(FILES)
  await scene(world, { wait: false })
  for (let turn = 0; turn < 50 && world.host.delivered.length === 0; turn += 1) await settle(5)
  expect(world.host.delivered).toMatchObject([{ text: expect.stringContaining("A person is asked whether") }])
})

test("nobody is asked about what its agent does not let go, and a child is told of it only where it counts", async () => {
  using world = createNestedWorld(FILES)
  const { outcome } = await scene(world, {}, {}, { ...PROVEN, auto_apply_allowed: false })
  expect(outcome.asked).toBeUndefined()
  expect(await world.engine.store.gates({})).toEqual([])

  using other = createNestedWorld(FILES)
  expect((await scene(other, {}, { auto_apply: false })).prompt).not.toContain("auto_apply_allowed")
  expect(await other.engine.store.gates({})).toEqual([])
})
