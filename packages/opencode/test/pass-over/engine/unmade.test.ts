import { expect, test } from "bun:test"
import type { ContextMessage } from "../../../src/pass-over/domain/context"
import { recover, resume } from "../../../src/pass-over/service/recover"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

const returning = (world: EngineWorld) =>
  world.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    await child.return({ ...VERDICT, findings: ["one"] })
    child.step()
    await child.told
  })

/** What no parser of ours has let through, and no computation of ours can take in. */
const BAD = [{ id: "msg_1", role: "assistant", timestamp: 1, parts: null }] as unknown as ContextMessage[]

const said = ({ logged }: EngineWorld) => logged.filter(({ message }) => message === "an outcome could not be made")

/** It has ended, in the database too, and the next one gets its place. */
async function over(world: EngineWorld, id: string, stored: unknown) {
  expect(await world.engine.store.outcome(id as never)).toMatchObject(stored as object)
  await settle(20)
  expect(world.engine.running.get(id as never)).toBeUndefined()
  expect((await world.engine.store.list({})).every(({ status }) => status !== "waiting_for_return")).toBe(true)
}

test("a return counts without a witness where what its child did cannot be taken in", async () => {
  using world = createEngineWorld()
  returning(world)
  world.host.messages = async (session_id) => (session_id === "ses_root" ? [] : BAD)
  const runner = await started(world)
  const outcome = await outcomeOf(world, runner)
  expect(outcome).toMatchObject({
    error_code: null,
    transcript: "read",
    output: {
      status: "completed",
      summary: { decision: "approved", issues_found: 1, verdict: { status: "UNVERIFIED" } },
    },
  })
  expect(said(world)).toHaveLength(1)
  await over(world, runner.pass.id, { error_code: null, output: { status: "completed" } })
})

/** A return that nothing can be made of. */
const UNREADABLE = {
  status: "completed" as const,
  findings: [],
  get artifacts(): never {
    throw new Error("nobody can read this")
  },
  auto_apply_allowed: true,
}

test("a pass whose result cannot be put together ends as a failure that says so", async () => {
  using world = createEngineWorld()
  returning(world)
  const runner = await started(world)
  runner.returned(UNREADABLE)
  const outcome = await outcomeOf(world, runner)
  expect(outcome).toMatchObject({
    error_code: "E021",
    output: { status: "failed", artifacts: [], auto_apply_allowed: false, summary: { verdict: { status: "BLOCKED" } } },
  })
  expect(outcome.output.completion_reason).toContain("could not be put together (nobody can read this)")
  await over(world, runner.pass.id, { error_code: "E021" })
})

test("a result that could not be put together is held for a person as any other, where its pass wants that", async () => {
  using world = createEngineWorld()
  const preferences = { pairs: { "alice->audit": { auto_return: false } } }
  world.preferences.push({ origin: "project", path: "p", preferences })
  returning(world)
  const runner = await started(world)
  runner.returned(UNREADABLE)
  expect(await outcomeOf(world, runner)).toMatchObject({ error_code: "E021", held: true })
  await over(world, runner.pass.id, { error_code: "E021", held: true })
  expect(await world.engine.store.gates({ pass_over_id: runner.pass.id, kind: "delivery" })).toHaveLength(1)
})

test("a pass whose outcome cannot be made ready for the record ends as a failure, and one that was cancelled as cancelled", async () => {
  for (const code of ["E021", "E016"] as const) {
    using world = createEngineWorld()
    returning(world)
    if (code === "E016") world.host.script("audit", async ({ told }) => told)
    const runner = await started(world)
    if (code === "E016") {
      world.host.messages = async () => BAD
      await settle(20)
      runner.input({ type: "cancel", failure: { code, message: "no longer wanted" } })
    }
    const { make } = world.engine.ids
    Object.assign(world.engine.ids, {
      make: (prefix: "art") => {
        if (prefix === "art") throw new Error("no more ids")
        return make(prefix)
      },
    })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: code })
    await over(world, runner.pass.id, { error_code: code })
  }
})

test("whatever else goes wrong while a pass is settled, its outcome comes", async () => {
  using world = createEngineWorld()
  returning(world)
  const runner = await started(world)
  world.host.messages = () => {
    throw new Error("not even a promise")
  }
  expect(await outcomeOf(world, runner)).toMatchObject({ error_code: "E021" })
  await over(world, runner.pass.id, { error_code: "E021" })
})

test("what cannot be taken in at a later start is written down without it, and the next one is brought in", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    await child.told
  })
  const runners = [await started(first), await started(first)]
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  const bad = runners[0]?.pass.child_session_id
  second.host.messages = async (session_id) => (session_id === bad ? BAD : first.host.messages(session_id))
  expect(await recover(second.engine, () => "dead")).toBe(2)
  await resume(second.engine, second.project, () => "dead")
  const outcomes = await Promise.all(runners.map(({ pass }) => second.engine.store.outcome(pass.id)))
  expect(outcomes.map((outcome) => [outcome?.transcript, outcome?.output.artifacts.length])).toEqual([
    ["read", 0],
    ["read", 1],
  ])
  expect(second.host.delivered).toHaveLength(2)
})
