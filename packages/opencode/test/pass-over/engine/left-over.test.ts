import type { ToolContext } from "@opencode-ai/plugin"
import { expect, test } from "bun:test"
import type { ContextMessage } from "../../../src/pass-over/domain/context"
import { sentence } from "../../../src/pass-over/domain/errors"
import type { Input } from "../../../src/pass-over/domain/run"
import type { Caller } from "../../../src/pass-over/service/api-send"
import { flowTool } from "../../../src/tool/flow"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFlowScene, type FlowScene } from "../support/flow"

// A host may be slow to stop a child: what it calls then belongs to no pass any more.
const CANCEL: Input = { type: "cancel", failure: { code: "E016", message: "nobody wants it any more" } }

/** Alice's pass to scout, when it is over. */
async function over(world: EngineWorld, how: { timeout_ms?: number; input?: Input } = {}) {
  world.host.script("scout", async (child) => {
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  world.host.script("audit", async (child) => child.told)
  const runner = await started(world, { subagent: "scout", timeout_ms: how.timeout_ms ?? 10_000 })
  await settle(30)
  if (how.input) runner.input(how.input)
  await outcomeOf(world, runner)
  return (await world.engine.store.find(runner.pass.id))!
}

type Over = Awaited<ReturnType<typeof over>>

const asked = (...times: number[]): Pick<Caller, "history"> => ({
  history: () => times.map((at): ContextMessage => ({ id: `msg_${at}`, role: "user", timestamp: at, parts: [] })),
})

/** What scout is told that passes on from there. */
async function onward(world: EngineWorld, { child_session_id }: Over, more: Pick<Caller, "history">) {
  const sent = await world.ask({ subagent: "audit" }, { agent: "scout", session_id: child_session_id!, ...more })
  return sent.ok ? sent.runner.pass.ancestors : sentence(sent.refusal)
}

test("a child whose time is up passes nothing on, however late its host stops it", async () => {
  using world = createEngineWorld()
  const pass = await over(world, { timeout_ms: 500 })
  expect(pass.status).toBe("timed_out")
  expect(await onward(world, pass, asked(pass.time_created, pass.time_ended!))).toBe(
    "E010 SUBAGENT_TIMEOUT: scout's own time is up, so audit would have none. → Return what you have now with pass_over_return.",
  )
  expect(await world.engine.store.list({ parent_pass_id: pass.id })).toEqual([])
})

for (const [status, how] of [
  ["cancelled", { input: CANCEL }],
  ["returned", {}],
] as const) {
  test(`a child whose pass is ${status} passes nothing on for it`, async () => {
    using world = createEngineWorld()
    const pass = await over(world, how)
    expect(pass.status).toBe(status)
    expect(await onward(world, pass, asked(pass.time_created))).toBe(
      `E040 STALE_REVISION: Pass ${pass.id} of scout has ended already (${status}). → Stop here; nothing more is passed on for it.`,
    )
  })
}

test("whom a user speaks to afterwards passes work on for them, in the same chain", async () => {
  using world = createEngineWorld()
  const pass = await over(world, { timeout_ms: 500 })
  expect(await onward(world, pass, asked(pass.time_created, pass.time_ended! + 1))).toEqual(["alice", "scout"])
})

test("a host that tells no history is taken at its word", async () => {
  using world = createEngineWorld()
  const pass = await over(world, { timeout_ms: 500 })
  expect(await onward(world, pass, {})).toEqual(["alice", "scout"])
})

const LOOK = `
name: look
steps:
  - { id: a, agent: audit, objective: Look at it }
`

/** What scout's call of `flow` answers, in its own session. */
function flow(world: FlowScene, { child_session_id }: Over, args: Record<string, unknown>, at: number[]) {
  const context = {
    sessionID: child_session_id,
    messageID: "msg_1",
    callID: "call_1",
    agent: "scout",
    abort: new AbortController().signal,
    ask: async () => {},
    messages: at.map((created) => ({ info: { id: `msg_${created}`, role: "user", time: { created } }, parts: [] })),
  }
  return flowTool(world.engine, world.project, world.flows).execute(args, context as unknown as ToolContext)
}

const START = { action: "start", name: "look", wait: false }

test("it starts no flow either and goes on with none, but may look at how one goes", async () => {
  using world = createFlowScene([LOOK])
  const pass = await over(world, { timeout_ms: 500 })
  const late = [pass.time_created]
  const no = `Not done. E040 STALE_REVISION: Pass ${pass.id} of scout has ended already (timed_out). → Stop here; nothing more is passed on for it.`
  expect(await flow(world, pass, START, late)).toBe(no)
  expect(await world.engine.store.runs({})).toEqual([])
  const run = await world.run("look")
  expect(await flow(world, pass, { action: "resume", run: run.run_id }, late)).toBe(no)
  expect(await flow(world, pass, { action: "watch", run: run.run_id, wait: false }, late)).toMatchObject({
    title: expect.stringMatching(/^look: /),
  })
})

test("whom a user speaks to afterwards starts flows for them", async () => {
  using world = createFlowScene([LOOK])
  const pass = await over(world, { timeout_ms: 500 })
  expect(await flow(world, pass, START, [pass.time_ended! + 1])).toMatchObject({ title: "look: begun" })
})
