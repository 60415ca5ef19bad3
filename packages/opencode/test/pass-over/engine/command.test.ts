import { expect, test } from "bun:test"
import { awake } from "../../../src/pass-over/service/awake"
import { attend, order } from "../../../src/pass-over/service/command"
import { settle } from "../support/fake-clock"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"

test("a word to a running child reaches it and is recorded", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  await settle(20)
  const done = await order(world.engine, {
    pass_over_id: pass.id,
    kind: "message",
    text: "Look at b.ts too.",
    actor: "user",
  })
  expect(done).toMatchObject({ ok: true })
  expect(world.host.said).toMatchObject([
    { session_id: world.host.children[0]!.session_id, text: "user says: Look at b.ts too." },
  ])
  const events = await world.engine.store.events(0, 100)
  expect(events.at(-1)).toMatchObject({ type: "pass.message", data: { actor: "user", text: "Look at b.ts too." } })
})

test("a command for a pass of another process waits for its owner, who carries it out once", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  const runner = await started(world)
  await settle(20)
  using other = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  const asked = { pass_over_id: runner.pass.id, kind: "cancel" as const, text: "not needed any more", actor: "user" }
  expect(await order(other.engine, asked)).toMatchObject({
    ok: true,
    text: "Handed to the opencode that runs this pass.",
  })
  await attend(other.engine)
  expect(runner.run.phase).toBe("working")
  await attend(world.engine)
  const { error_code, output } = await outcomeOf(world, runner)
  expect(error_code).toBe("E016")
  expect(output.completion_reason).toContain("not needed any more")
  expect(await world.engine.store.commands(world.engine.owner_id)).toEqual([])
})

test("a command for a pass that has ended, or that nobody knows, says so", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const runner = await started(world)
  await outcomeOf(world, runner)
  const late = await order(world.engine, { pass_over_id: runner.pass.id, kind: "cancel", text: "", actor: "user" })
  expect(late).toMatchObject({ ok: false, refusal: { code: "E040" } })
  const foreign = await order(world.engine, {
    pass_over_id: world.engine.ids.pass(),
    kind: "cancel",
    text: "",
    actor: "user",
  })
  expect(foreign).toMatchObject({ ok: false, refusal: { code: "E042" } })
})

/** A child that has returned and is about to end, or one whose outcome is being put together. */
async function closing(world: EngineWorld, phase: "staged" | "ended") {
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    if (phase === "ended") child.step()
    await child.told
  })
  const runner = await started(world)
  world.host.messages = () => new Promise(() => {})
  await settle(20)
  expect(runner.run.phase).toBe(phase)
  return runner
}

for (const phase of ["staged", "ended"] as const) {
  test(`nothing is said to a child whose run is ${phase}: it would begin anew, and nobody would watch it`, async () => {
    using world = createEngineWorld()
    const { pass } = await closing(world, phase)
    const asked = { pass_over_id: pass.id, kind: "message", text: "Look at b.ts too.", actor: "user" } as const
    const done = await order(world.engine, asked)
    expect(done).toMatchObject({
      ok: false,
      refusal: { message: `audit has ${phase === "staged" ? "returned" : "ended"} already and hears nothing more.` },
    })
    expect(world.host.said).toEqual([])
    expect(await awake(world.engine, world.host.children[0]!.session_id)).toBe(false)
  })
}

test("who cancels what has returned is told that it counts, and who cancels what has ended that it has", async () => {
  for (const [phase, told] of [
    ["staged", { ok: true, text: "It had returned already, and that counts." }],
    ["ended", { ok: false, refusal: { code: "E040", message: "audit has ended already and hears nothing more." } }],
  ] as const) {
    using world = createEngineWorld()
    const runner = await closing(world, phase)
    const asked = { pass_over_id: runner.pass.id, kind: "cancel", text: "", actor: "user" } as const
    expect(await order(world.engine, asked)).toMatchObject(told)
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null })
  }
})
