import { expect, test } from "bun:test"
import { PassOverErrorCode, refuse } from "../../../src/pass-over/domain/errors"
import { StartAsk } from "../../../src/pass-over/domain/start"
import type { Alive } from "../../../src/pass-over/service/recover"
import {
  attendStarts,
  orderStart,
  refuseStart,
  START_TTL_MS,
  startSettled,
  withdrawStart,
  type Starting,
} from "../../../src/pass-over/service/start"
import { outcomeOf, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"

const here: Alive = () => "alive"

function open(options: EngineWorldOptions = {}): EngineWorld {
  const world = createEngineWorld(options)
  world.engine.projects.set("/project", world.project)
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  return world
}

const wanted = (more: Partial<Starting> = {}, ask: Record<string, unknown> = {}): Starting => ({
  directory: "/project",
  actor: "ada",
  ask: StartAsk.parse({ subagent: "audit", objective: "Review the totals", ...ask }),
  ...more,
})

test("an order becomes a pass in a session of its own, to which nothing is brought", async () => {
  using world = open()
  const { engine, host } = world
  const { start_id } = await orderStart(engine, wanted({}, { from: "build", files: ["src/a.ts"] }))
  await attendStarts(engine, here)
  const order = await startSettled(engine, start_id, 0)
  expect(order).toMatchObject({ state: "started", named: false, owner_id: engine.owner_id })
  const runner = engine.running.get(order.pass_over_id!)!
  expect(runner.pass).toMatchObject({
    originating_agent_id: "build",
    subagent_id: "audit",
    session_id: host.made[0]!.session_id,
    return_required: false,
    wait: false,
  })
  expect(host.made).toMatchObject([{ title: "audit: Review the totals" }])
  expect((await outcomeOf(world, runner)).output.summary.decision).toBe("approved")
  expect(host.delivered).toEqual([])
})

test("a result is brought where a session was named, and an unknown session is refused", async () => {
  using world = open()
  const { engine, host } = world
  const { start_id } = await orderStart(engine, wanted({ session_id: "ses_named" }))
  await attendStarts(engine, here)
  const order = await startSettled(engine, start_id, 0)
  expect(host.made).toEqual([])
  await outcomeOf(world, engine.running.get(order.pass_over_id!)!)
  await world.clock.until(() => host.delivered.length > 0)
  expect(host.delivered).toMatchObject([{ session_id: "ses_named" }])

  host.root = () => Promise.reject(new Error("no such session"))
  const lost = await orderStart(engine, wanted({ session_id: "ses_lost" }))
  await attendStarts(engine, here)
  expect(await startSettled(engine, lost.start_id, 0)).toMatchObject({
    state: "refused",
    pass_over_id: null,
    refusal: { code: "E042", message: "opencode knows no session ses_lost in /project." },
  })
})

test("a person's override has no limits, and what policy refuses is told with its sentence", async () => {
  using world = open()
  const { engine } = world
  const more = await orderStart(
    engine,
    wanted({}, { override: { max_compute_time_ms: 9_000_000 }, timeout_ms: 8_000_000 }),
  )
  await attendStarts(engine, here)
  const order = await startSettled(engine, more.start_id, 0)
  expect(engine.running.get(order.pass_over_id!)?.pass.timeout_ms).toBe(8_000_000)

  const strange = await orderStart(engine, wanted({}, { subagent: "adit" }))
  await attendStarts(engine, here)
  expect(await startSettled(engine, strange.start_id, 0)).toMatchObject({ state: "refused", refusal: { code: "E001" } })
})

test("only one of several processes takes an order on", async () => {
  using world = open()
  using other = open({ owner: "2", seed: 5_000, store: world.engine.store })
  await orderStart(world.engine, wanted())
  await Promise.all([attendStarts(world.engine, here), attendStarts(other.engine, here)])
  expect(world.host.made.length + other.host.made.length).toBe(1)
  expect(await world.engine.store.list({})).toHaveLength(1)
})

test("other projects' orders are left alone", async () => {
  using world = open()
  const { start_id } = await orderStart(world.engine, wanted({ directory: "/elsewhere" }))
  await attendStarts(world.engine, here)
  expect((await startSettled(world.engine, start_id, 0)).state).toBe("pending")
})

test("an order whose owner died before the pass began is taken up again, in the session that was made for it", async () => {
  using world = open()
  const { engine, host } = world
  const dead = `own_${"d".repeat(32)}` as const
  const { start_id } = await orderStart(engine, wanted())
  expect(await engine.store.claimStart({ start_id, from: null, owner_id: dead })).toBe(true)
  expect(await engine.store.placeStart({ start_id, owner_id: dead, session_id: "ses_before" })).toBe(true)
  await engine.store.enter({ owner_id: dead, pid: 1, process_start: "1", host: "h", place: "p" }, engine.clock.now())
  await attendStarts(engine, here)
  expect((await startSettled(engine, start_id, 0)).state).toBe("claimed")
  await attendStarts(engine, () => "dead")
  const order = await startSettled(engine, start_id, 0)
  expect(engine.running.get(order.pass_over_id!)?.pass.session_id).toBe("ses_before")
  expect(host.made).toEqual([])
  // Whoever was taken for dead comes too late.
  expect(await engine.store.claimStart({ start_id, from: dead, owner_id: dead })).toBe(false)
  const late = { start_id, owner_id: dead, refusal: { code: "E011", message: "", suggestion: "" } }
  expect(await engine.store.endStart(late)).toBe(false)
})

test("an order whose owner died after the pass began gets that pass, and no second one", async () => {
  using world = open()
  const { engine } = world
  using other = open({ owner: "2", seed: 5_000, store: engine.store })
  const { start_id } = await orderStart(engine, wanted())
  const dead = other.engine.owner_id
  await engine.store.claimStart({ start_id, from: null, owner_id: dead })
  await engine.store.placeStart({ start_id, owner_id: dead, session_id: "ses_before" })
  const caller = { session_id: "ses_before", call_id: `start:${start_id}` }
  const sent = await other.ask({ objective: "Review the totals" }, caller)
  if (!sent.ok) throw new Error("refused")
  await attendStarts(engine, () => "dead")
  expect(await startSettled(engine, start_id, 0)).toMatchObject({ state: "started", pass_over_id: sent.runner.pass.id })
  expect(await engine.store.list({})).toHaveLength(1)
})

test("an order that is taken up again too late is not begun any more", async () => {
  using world = open()
  const { engine } = world
  const dead = `own_${"d".repeat(32)}` as const
  const { start_id } = await orderStart(engine, wanted())
  await engine.store.claimStart({ start_id, from: null, owner_id: dead })
  await engine.store.placeStart({ start_id, owner_id: dead, session_id: "ses_before" })
  await world.clock.advance(START_TTL_MS + 1)
  await attendStarts(engine, () => "dead")
  expect(await startSettled(engine, start_id, 0)).toMatchObject({ state: "refused", refusal: { code: "E022" } })
})

test("nobody is surprised by an order that was forgotten, and one that nobody has in hand can be taken back", async () => {
  using world = open()
  const { engine } = world
  const old = await orderStart(engine, wanted())
  await world.clock.advance(START_TTL_MS + 1)
  await attendStarts(engine, here)
  expect(await startSettled(engine, old.start_id, 0)).toMatchObject({ state: "refused", refusal: { code: "E022" } })

  const back = await orderStart(engine, wanted())
  expect(await withdrawStart(engine, back.start_id, "not needed any more")).toBe(true)
  await attendStarts(engine, here)
  expect(await startSettled(engine, back.start_id, 0)).toMatchObject({ state: "refused", refusal: { code: "E016" } })
  const no = refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, "There is no opencode.")
  expect(await refuseStart(engine, back.start_id, no)).toBe(false)
  expect(await engine.store.list({})).toEqual([])
})

test("whatever goes wrong, the order says so", async () => {
  using world = open()
  const { engine, host } = world
  host.session = () => Promise.reject(new Error("opencode could not make a session: no"))
  const { start_id } = await orderStart(engine, wanted())
  await attendStarts(engine, here)
  expect(await startSettled(engine, start_id, 0)).toMatchObject({
    state: "refused",
    refusal: { code: "E011", message: "Error: opencode could not make a session: no" },
  })
})
