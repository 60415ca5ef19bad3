import { expect, test } from "bun:test"
import type { Gate } from "../../../src/pass-over/domain/gate"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { lastApplied, undoOne } from "../../../src/pass-over/service/change/act"
import { allowChange } from "../../../src/pass-over/service/change/approve"
import { answerGate } from "../../../src/pass-over/service/gate"
import { started } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { back, changed, createNestedWorld, FILES, prefer, put, read, type NestedWorld } from "../support/nested"

const yes = { verdict: "approve", note: null, by: "ada", surface: "the terminal" } as const
const no = { verdict: "reject", note: "not this", by: "ada", surface: "the terminal" } as const
const unsure = { verdict: "question", note: "why?", by: "ada", surface: "the terminal" } as const

/** A pass with a proposal that a person has to approve. */
async function scene() {
  const world = createNestedWorld(FILES)
  prefer(world, { defaults: { require_user_approval: true, gate_ttl_ms: 60_000 } })
  const { pass } = await world.run("scout", async (scout) => {
    put(scout.tree, "made.txt", "made\n")
    await back(scout)
  })
  return { world, pass }
}

const all = (world: NestedWorld, pass: Pass) => world.engine.store.gates({ pass_over_id: pass.id })
const made = (world: NestedWorld) => read(world.directory, "made.txt")

/** Has alice apply the change, and tells what she is told; `answer` is what is done about the question, if one is put. */
async function apply(world: NestedWorld, pass: Pass, answer: (gate: Gate) => Promise<unknown>) {
  const before = (await all(world, pass)).length
  const permit = allowChange(world.engine, { pass, change: (await changed(world, pass))!, asked_by: "alice" })
  const over = { done: false }
  const applied = world.apply(pass, "alice", permit).finally(() => (over.done = true))
  for (;;) {
    const gate = (await all(world, pass)).find(({ status }) => status === "pending")
    if (gate) {
      await answer(gate)
      break
    }
    if (over.done) break
    await Bun.sleep(2)
  }
  const { ok } = await applied
  return { ok, asked: (await all(world, pass)).length - before }
}

const says = (world: NestedWorld, answer: typeof yes | typeof no | typeof unsure) => (gate: Gate) =>
  answerGate(world.engine, gate.gate_id, answer)

test("a yes is good for one application: after an undo a person is asked again", async () => {
  const { world, pass } = await scene()
  using _ = world
  expect(await apply(world, pass, says(world, yes))).toEqual({ ok: true, asked: 1 })
  const application = await lastApplied(world.deps, { pass_over_id: pass.id })
  expect(await undoOne(world.deps, { application, actor: "ada" })).toMatchObject({ ok: true })
  expect(made(world)).toBeUndefined()
  expect(await apply(world, pass, says(world, no))).toEqual({ ok: false, asked: 1 })
  expect(made(world)).toBeUndefined()
})

test("a person's no to exactly this content stands, and they are told how to write it all the same", async () => {
  const { world, pass } = await scene()
  using _ = world
  expect(await apply(world, pass, says(world, no))).toEqual({ ok: false, asked: 1 })
  expect(await apply(world, pass, says(world, yes))).toEqual({ ok: false, asked: 0 })
  const permit = allowChange(world.engine, { pass, change: (await changed(world, pass))!, asked_by: "alice" })
  const refused = await world.apply(pass, "alice", permit)
  expect(refused).toMatchObject({ refusal: { code: "E017", message: expect.stringContaining("ada in the terminal") } })
  expect(refused.ok ? "" : refused.refusal.suggestion).toContain("writes it themselves")
  expect(made(world)).toBeUndefined()
})

test("what nobody answered, or was answered with a question, may be asked again", async () => {
  const { world, pass } = await scene()
  using _ = world
  expect(await apply(world, pass, () => world.clock.advance(61_000))).toEqual({ ok: false, asked: 1 })
  expect(await apply(world, pass, says(world, unsure))).toEqual({ ok: false, asked: 1 })
  expect(await apply(world, pass, says(world, yes))).toEqual({ ok: true, asked: 1 })
  expect(made(world)).toBe("made\n")
})

test("two that apply the same at once do not share one yes", async () => {
  const { world, pass } = await scene()
  using _ = world
  const permit = allowChange(world.engine, { pass, change: (await changed(world, pass))!, asked_by: "alice" })
  const ops = [{ op: "write" as const, path: "made.txt" }] as never
  const both = [permit(ops, { directory: world.directory }), permit(ops, { directory: world.directory })]
  for (const answer of [yes, no]) {
    const pending = async () => (await all(world, pass)).find(({ status }) => status === "pending")
    while (!(await pending())) await Bun.sleep(2)
    await settle()
    await answerGate(world.engine, (await pending())!.gate_id, answer)
  }
  const refusals = await Promise.all(both)
  expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(1)
  expect(refusals.filter((refusal) => refusal?.code === "E017")).toHaveLength(1)
})

test("while a person is asked whether a child may write, the child's own limits stand still", async () => {
  using world = createEngineWorld()
  const working = Promise.withResolvers<string>()
  world.host.script("scout", async (child) => {
    working.resolve(child.session_id)
    await child.told
  })
  const { pass } = await started(world, { subagent: "scout", timeout_ms: 60_000 })
  const session_id = await working.promise
  const change = { change_id: "chg_1" } as never
  const permit = allowChange(world.engine, { pass, change, asked_by: "scout", session_id })
  const asked = permit([{ op: "write", path: "a.txt" }] as never, { directory: "/project" })
  await settle(20)
  await world.clock.advance(30 * 60_000)
  expect(world.engine.running.get(pass.id)?.remaining_ms).toBe(60_000)
  const [gate] = await world.engine.store.gates({ status: ["pending"] })
  await answerGate(world.engine, gate!.gate_id, yes)
  expect(await asked).toBeUndefined()
})
