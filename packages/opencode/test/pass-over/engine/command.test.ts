import { expect, test } from "bun:test"
import { attend, order } from "../../../src/pass-over/service/command"
import { settle } from "../support/fake-clock"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

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
