import { expect, test } from "bun:test"
import type { ContextMessage } from "../../../src/pass-over/domain/context"
import { sentence } from "../../../src/pass-over/domain/errors"
import type { Input } from "../../../src/pass-over/domain/run"
import type { Caller } from "../../../src/pass-over/service/api-send"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

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
