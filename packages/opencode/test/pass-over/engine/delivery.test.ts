import type { ToolContext } from "@opencode-ai/plugin"
import { expect, test } from "bun:test"
import { settle } from "../support/fake-clock"
import { answered, missed } from "../../../src/pass-over/service/deliver"
import { resume } from "../../../src/pass-over/service/recover"
import { passOverTool } from "../../../src/tool/pass-over"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const audited = (world: ReturnType<typeof createEngineWorld>) =>
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })

test("the result of a pass that nobody waits for comes as a message, once, and lets the originator go on", async () => {
  using world = createEngineWorld()
  audited(world)
  const runner = await started(world, { wait: false })
  await outcomeOf(world, runner)
  await settle(40)
  expect(world.host.delivered).toHaveLength(1)
  expect(world.host.delivered[0]).toMatchObject({ session_id: "ses_root", start: true })
  expect(world.host.delivered[0]?.text).toContain("audit: approved")
  expect(await world.engine.store.find(runner.pass.id)).toMatchObject({ status: "processed" })
  await resume(world.engine, world.project, () => "alive")
  expect(world.host.delivered).toHaveLength(1)
})

test("a result that nobody requires is recorded and enters no session", async () => {
  using world = createEngineWorld()
  audited(world)
  const runner = await started(world, { return_required: false })
  await outcomeOf(world, runner)
  await settle(40)
  expect(world.host.delivered).toEqual([])
  expect(await world.engine.store.outcome(runner.pass.id)).toMatchObject({ output: { status: "completed" } })
})

test("a clean result that nobody requires is told to the user, who else would not hear of it, unless they want it quieter", async () => {
  for (const [notify_on_return, told] of [
    [undefined, 1],
    ["only_issues", 0],
  ] as const) {
    using world = createEngineWorld()
    if (notify_on_return)
      world.preferences.push({ origin: "project", path: "p", preferences: { defaults: { notify_on_return } } })
    audited(world)
    await outcomeOf(world, await started(world, { return_required: false }))
    await outcomeOf(world, await started(world))
    await world.clock.advance(1_000)
    expect(world.host.notified).toHaveLength(told)
  }
})

test("what the originator is told of a pass that it does not wait for is what will happen", async () => {
  using world = createEngineWorld()
  audited(world)
  const tool = passOverTool(world.engine, world.project)
  const told = async (more: object) => {
    const context = {
      sessionID: "ses_root",
      messageID: "msg_1",
      callID: `call_${JSON.stringify(more)}`,
      agent: "alice",
    }
    const asked = { ...context, abort: new AbortController().signal, ask: async () => {} } as unknown as ToolContext
    const args = { subagent: "audit", objective: `Look ${JSON.stringify(more)}`, reason: "test", ...more }
    const answer = await tool.execute(args, asked)
    return typeof answer === "string" ? answer : answer.output
  }
  expect(await told({ wait: false })).toContain("the result comes as a message")
  const unasked = await told({ return_required: false })
  expect(unasked).toContain("no message comes")
  expect(unasked).not.toContain("the result comes")
})

test("a result whose session was deleted stays readable and is not tried again", async () => {
  using world = createEngineWorld()
  audited(world)
  world.host.gone.add("ses_root")
  const runner = await started(world, { wait: false })
  await outcomeOf(world, runner)
  await settle(40)
  expect(await world.engine.store.undelivered("/project")).toEqual([])
  expect(await world.engine.store.outcome(runner.pass.id)).toBeDefined()
})

test("a result that could not be brought waits, and comes at the next start without starting a model", async () => {
  using world = createEngineWorld()
  audited(world)
  const deliver = world.host.deliver
  world.host.deliver = async () => {
    throw new Error("the host is going down")
  }
  const runner = await started(world, { wait: false })
  await outcomeOf(world, runner)
  await settle(40)
  world.host.deliver = deliver
  // The one who was bringing it is gone without a word.
  await resume(world.engine, world.project, () => "dead")
  expect(world.host.delivered).toEqual([])
  using later = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  await resume(later.engine, later.project, () => "dead")
  expect(later.host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
  expect(await later.engine.store.find(runner.pass.id)).toMatchObject({ status: "processed" })
})

test("a message that arrived before the crash is not sent again", async () => {
  using world = createEngineWorld()
  audited(world)
  const deliver = world.host.deliver
  world.host.deliver = async (message) => {
    await deliver(message)
    throw new Error("killed after sending")
  }
  await outcomeOf(world, await started(world, { wait: false }))
  await settle(40)
  expect(world.host.delivered).toHaveLength(1)
  using later = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  later.host.delivered.push(...world.host.delivered)
  await resume(later.engine, later.project, () => "dead")
  expect(later.host.delivered).toHaveLength(1)
  expect(await later.engine.store.undelivered("/project")).toEqual([])
})

test("of two processes that bring the same result one is told that it is not its", async () => {
  using world = createEngineWorld()
  audited(world)
  world.host.deliver = async () => {
    throw new Error("the host is going down")
  }
  await outcomeOf(world, await started(world, { wait: false }))
  await settle(40)
  using one = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  using two = createEngineWorld({ owner: "3", seed: 2_000, store: world.engine.store })
  await Promise.all([one, two].map((each) => resume(each.engine, each.project, () => "dead")))
  expect(one.host.delivered.length + two.host.delivered.length).toBe(1)
})

test("the result of a tool call that is gone comes as a message where it is worth reading", async () => {
  using world = createEngineWorld()
  audited(world)
  const good = await started(world)
  await missed(world.engine, world.project, good.pass, await outcomeOf(world, good))
  expect(world.host.delivered).toMatchObject([{ start: false }])
  world.host.script("audit", async (child) => child.told)
  const stopped = await started(world)
  await settle(20)
  stopped.input({ type: "cancel", failure: { code: "E016", message: "stopped" } })
  await missed(world.engine, world.project, stopped.pass, await outcomeOf(world, stopped))
  expect(world.host.delivered).toHaveLength(1)
  expect(await world.engine.store.undelivered("/project")).toEqual([])
})

test("a provider that gives the calls of each answer the same ids makes a pass with each, and each is delivered by itself", async () => {
  using world = createEngineWorld()
  audited(world)
  const first = await started(world, {}, { call_id: "call_1", message_id: "msg_1" })
  const second = await started(world, {}, { call_id: "call_1", message_id: "msg_2" })
  expect(second.pass.id).not.toBe(first.pass.id)
  await outcomeOf(world, first)
  await outcomeOf(world, second)
  await answered(world.engine, world.project, { session_id: "ses_root", call_id: "call_1", message_id: "msg_2" })
  expect(await world.engine.store.find(second.pass.id)).toMatchObject({ status: "processed" })
  expect(await world.engine.store.find(first.pass.id)).toMatchObject({ status: "returned" })
})

test("an outcome says when it reached its originator, and not when it was settled", async () => {
  using world = createEngineWorld()
  audited(world)
  const runner = await started(world)
  const { output } = await outcomeOf(world, runner)
  const { id } = runner.pass
  expect(output.metadata.returned_at).toBeUndefined()
  expect((await world.engine.store.outcome(id))?.output.metadata.returned_at).toBeUndefined()
  await world.clock.advance(5_000)
  await answered(world.engine, world.project, {
    session_id: "ses_root",
    call_id: runner.pass.call_id!,
    message_id: "msg_root",
  })
  const metadata = (await world.engine.store.outcome(id))?.output.metadata
  expect(metadata?.returned_at).toBe(output.metadata.completed_at! + 5_000)
  const told = (await world.engine.store.audit({ pass_over_id: id })).map((line) => [
    line.action,
    line.returned,
    line.returned_at,
  ])
  expect(told.slice(0, 2)).toEqual([
    ["processed", true, metadata?.returned_at ?? null],
    ["returned", false, null],
  ])

  const silent = await started(world, { return_required: false })
  await outcomeOf(world, silent)
  await settle(40)
  expect((await world.engine.store.outcome(silent.pass.id))?.output.metadata.returned_at).toBeUndefined()
})

test("while the user has taken back a part of the session a result waits, and then wakes no model", async () => {
  using world = createEngineWorld()
  audited(world)
  world.host.takenBack.add("ses_root")
  const runner = await started(world, { wait: false })
  await outcomeOf(world, runner)
  await settle(40)
  await world.clock.advance(60_000)
  expect(world.host.delivered).toEqual([])
  expect(await world.engine.store.undelivered("/project")).toHaveLength(1)
  world.host.takenBack.clear()
  await world.clock.advance(60_000)
  expect(world.host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
})
