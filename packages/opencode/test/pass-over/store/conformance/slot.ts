import { describe, expect, test } from "bun:test"
import { LIMITS, type Limits } from "../../../../src/pass-over/domain/limit"
import type { Pass } from "../../../../src/pass-over/domain/pass"
import { NO_USAGE, type Usage } from "../../../../src/pass-over/domain/run"
import type { Place, SlotRequest } from "../../../../src/pass-over/service/port-slot"
import { accepted } from "../../support/world"
import { createScene, type Scene, type Setup } from "./scene"

const HOUR = 3_600_000

const limits = (more: Partial<Limits>): Limits => ({ ...LIMITS, ...more })
const ONE = limits({ running: 1 })

const running: Place = { state: "running" }
const queued = (place: number): Place => ({ state: "queued", place })

const request = (slot: Partial<SlotRequest>): SlotRequest => ({
  limits: LIMITS,
  reserve: { tokens: 0, cost: 0 },
  waiting: false,
  ...slot,
})

const ask = (scene: Scene, slot: Partial<SlotRequest>, overrides: Partial<Pass> = {}) =>
  scene.store.open(scene.opening(scene.pass(overrides), { slot: request(slot) }))

/** A pass that was let in, and the place that it was given. */
const enter = async (scene: Scene, slot: Partial<SlotRequest>, overrides: Partial<Pass> = {}) =>
  accepted(await ask(scene, slot, overrides))

const turn = (scene: Scene, { id }: Pass, of: Limits, now = scene.clock.now()) =>
  scene.store.takeSlot({ pass_over_id: id, limits: of, now })

const end = (scene: Scene, pass: Pass, usage: Usage = NO_USAGE) =>
  scene.store.settle(scene.settled(pass, { to: "cancelled", usage }))

function placeContract(setup: Setup) {
  describe("a place among those that run", () => {
    test("is there for as many as may run; the others stand in line and are told where", async () => {
      await using scene = await createScene(setup)
      const first = await enter(scene, { limits: ONE })
      const second = await enter(scene, { limits: ONE })
      const third = await enter(scene, { limits: ONE })
      expect([first, second, third].map(({ place }) => place)).toEqual([running, queued(1), queued(2)])
      expect(await turn(scene, second.pass, ONE)).toEqual(queued(1))
      await end(scene, first.pass)
      // Whoever asks first: it is the turn of the one before.
      expect(await turn(scene, third.pass, ONE)).toEqual(queued(2))
      expect(await turn(scene, second.pass, ONE)).toEqual(running)
      expect(await turn(scene, second.pass, ONE)).toEqual(running)
      expect(await turn(scene, third.pass, ONE)).toEqual(queued(1))
    })

    test("is gone for a pass that has ended, in line or not, and for one that never was", async () => {
      await using scene = await createScene(setup)
      const { pass: first } = await enter(scene, { limits: ONE })
      const { pass: second } = await enter(scene, { limits: ONE })
      const third = await enter(scene, { limits: ONE })
      await end(scene, second)
      expect(await turn(scene, third.pass, ONE)).toEqual(queued(1))
      await end(scene, first)
      for (const pass of [first, second, scene.pass()]) expect(await turn(scene, pass, ONE)).toBe("gone")
      expect((await scene.store.line(scene.clock.now())).slots).toHaveLength(1)
    })

    test("goes to the one with the higher priority, and with time to the one that waits longest", async () => {
      await using scene = await createScene(setup)
      const first = await enter(scene, { limits: ONE })
      const low = await enter(scene, { limits: ONE }, { priority: "low" })
      const high = await enter(scene, { limits: ONE }, { priority: "high" })
      expect([low, high].map(({ place }) => place)).toEqual([queued(1), queued(1)])
      await end(scene, first.pass)
      expect(await turn(scene, low.pass, ONE)).toEqual(queued(2))
      expect(await turn(scene, high.pass, ONE)).toEqual(running)
      scene.clock.advance(HOUR)
      const late = await enter(scene, { limits: ONE }, { priority: "high" })
      expect(late.place).toEqual(queued(2))
      expect(await turn(scene, low.pass, ONE)).toEqual(queued(1))
    })

    test.each([
      ["an agent", limits({ running_per_subagent: 1 }), {}, { subagent_id: "scout" }],
      ["a model", limits({ running_per_model: 1 }), { model: "p/m" }, { model: "p/other" }],
    ])("is not to be had for %s that has its share, and others are let by", async (_what, of, same, other) => {
      await using scene = await createScene(setup)
      const first = await enter(scene, { limits: of }, same)
      expect((await enter(scene, { limits: of }, same)).place).toEqual(queued(1))
      expect((await enter(scene, { limits: of }, other)).place).toEqual(running)
      await end(scene, first.pass)
      expect((await enter(scene, { limits: of }, other)).place).not.toEqual(running)
    })

    test("is lent by a pass to its own, for which it waits", async () => {
      await using scene = await createScene(setup)
      const { pass: above } = await enter(scene, { limits: ONE })
      const below = { trace_id: above.id, parent_pass_id: above.id, chain_depth: 2, max_chain_depth: 5 }
      const unwaited = await enter(scene, { limits: ONE }, { ...below, wait: false })
      expect(unwaited.place).toEqual(queued(1))
      await end(scene, unwaited.pass)
      expect((await enter(scene, { limits: ONE }, below)).place).toEqual(running)
      expect((await enter(scene, { limits: ONE })).place).toEqual(queued(1))
    })

    test("is not wanted as long as a person is asked, who may take their time; then it is as for any other", async () => {
      await using scene = await createScene(setup)
      const asked = await enter(scene, { limits: ONE, waiting: true })
      expect(asked.place).toEqual(queued(0))
      const other = await enter(scene, { limits: ONE })
      expect(other.place).toEqual(running)
      expect(await turn(scene, asked.pass, ONE)).toEqual(queued(1))
      await end(scene, other.pass)
      expect(await turn(scene, asked.pass, ONE)).toEqual(running)
    })

    test("goes to as many as may run, of many that ask at once", async () => {
      await using scene = await createScene(setup)
      const of = limits({ running: 3 })
      const entered = await Promise.all(Array.from({ length: 8 }, () => enter(scene, { limits: of })))
      expect(entered.filter(({ place }) => place.state === "running")).toHaveLength(3)
      const places = await Promise.all(entered.map(({ pass }) => turn(scene, pass, of)))
      expect(places.filter((place) => place !== "gone" && place.state === "running")).toHaveLength(3)
    })

    test("is not taken by a pass that could not be written down", async () => {
      await using scene = await createScene(setup)
      const input = scene.opening(scene.pass(), { slot: request({ limits: ONE }) })
      await expect(scene.store.open({ ...input, note: { ...input.note, actor: "" } })).rejects.toThrow()
      expect((await scene.store.line(scene.clock.now())).slots).toEqual([])
      expect(await scene.store.used(input.pass.trace_id)).toEqual({ passes: 0, tokens: 0, cost: 0 })
    })
  })

  describe("line", () => {
    test("shows who runs, who stands in it and who waits for a person, each with what its turn depends on", async () => {
      await using scene = await createScene(setup)
      const { pass: first } = await enter(scene, { limits: ONE }, { model: "p/m" })
      const { pass: second } = await enter(scene, { limits: ONE }, { priority: "high", root_session_id: "ses_root" })
      const { pass: asked } = await enter(scene, { waiting: true }, { wait: false, parent_pass_id: first.id })
      await end(scene, (await enter(scene, {})).pass)
      const { slots, cooling } = await scene.store.line(scene.clock.now())
      const slot = ({
        id,
        parent_pass_id,
        root_session_id,
        wait,
        subagent_id,
        model,
        priority,
        time_created,
      }: Pass) => ({
        pass_over_id: id as string,
        parent_pass_id,
        root_session_id,
        wait,
        subagent: subagent_id,
        model,
        priority,
        time_created,
      })
      expect(slots.toSorted((a, b) => (a.pass_over_id < b.pass_over_id ? -1 : 1))).toEqual([
        { ...slot(first), state: "running" },
        { ...slot(second), state: "queued" },
        { ...slot(asked), state: "waiting" },
      ])
      expect(cooling.size).toBe(0)
    })
  })
}

function budgetContract(setup: Setup) {
  describe("the budget of a tree", () => {
    test("counts what a pass was promised, and what it used where that is more; of one that has ended, what it used", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass } = await enter(scene, { reserve: { tokens: 500, cost: 0.5 } })
      await enter(scene, { reserve: { tokens: 7, cost: 7 } })
      const used = () => store.used(pass.trace_id)
      const spend = (tokens: number, cost: number) => store.spend({ pass_over_id: pass.id, tokens, cost, tree: {} })
      expect(await used()).toEqual({ passes: 1, tokens: 500, cost: 0.5 })
      await spend(200, 0.25)
      expect(await used()).toEqual({ passes: 1, tokens: 500, cost: 0.5 })
      await spend(700, 0.25)
      expect(await used()).toEqual({ passes: 1, tokens: 700, cost: 0.5 })
      // Told as a sum, not as what came on top.
      await spend(700, 0.75)
      expect(await used()).toEqual({ passes: 1, tokens: 700, cost: 0.75 })
      await end(scene, pass, { input: 100, output: 20, reasoning: 3, cache_read: 4, cache_write: 5, cost: 0.125 })
      expect(await used()).toEqual({ passes: 1, tokens: 132, cost: 0.125 })
      expect(await store.used(scene.ids.pass())).toEqual({ passes: 0, tokens: 0, cost: 0 })
    })

    test("says when what runs has used it up, all passes of the tree together", async () => {
      await using scene = await createScene(setup)
      const { pass: above } = await enter(scene, {})
      const below = { trace_id: above.id, parent_pass_id: above.id, chain_depth: 2, max_chain_depth: 5 }
      const { pass } = await enter(scene, {}, below)
      const { pass: other } = await enter(scene, {})
      const tree = { tokens: 1_000, cost: 1 }
      const spend = ({ id }: Pass, tokens: number, cost: number) =>
        scene.store.spend({ pass_over_id: id, tokens, cost, tree })
      expect(await spend(other, 999, 0)).toBeUndefined()
      expect(await spend(above, 600, 0.5)).toBeUndefined()
      expect(await spend(pass, 399, 0.25)).toBeUndefined()
      expect(await spend(pass, 400, 0.25)).toEqual({ what: "tokens", limit: 1_000, used: 1_000, left: 0 })
      expect(await spend(pass, 399, 0.75)).toEqual({ what: "cost", limit: 1, used: 1.25, left: 0 })
    })

    test("hears nothing more of a pass that has ended, or of one that never was", async () => {
      await using scene = await createScene(setup)
      const { pass } = await enter(scene, {})
      await end(scene, pass)
      const tree = { tokens: 1 }
      for (const id of [pass.id, scene.ids.pass()])
        expect(await scene.store.spend({ pass_over_id: id, tokens: 9, cost: 9, tree })).toBeUndefined()
      expect(await scene.store.used(pass.trace_id)).toEqual({ passes: 1, tokens: 0, cost: 0 })
    })

    test("keeps a pass out that does not fit into what is left, and says what that is", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const of = limits({ tree: { tokens: 5_000 } })
      const slot = { limits: of, reserve: { tokens: 3_000, cost: 0 } }
      const { pass: above } = await enter(scene, slot)
      const below = { trace_id: above.id, parent_pass_id: above.id, chain_depth: 2, max_chain_depth: 5 }
      const refused = scene.pass(below)
      const before = await scene.traces(refused)
      expect(await store.open(scene.opening(refused, { slot: request(slot) }))).toEqual({
        over: { what: "tokens", limit: 5_000, used: 3_000, left: 2_000 },
      })
      expect(await scene.traces(refused)).toEqual(before)
      expect(await store.used(above.id)).toMatchObject({ passes: 1, tokens: 3_000 })
      // What was promised and not used is free again.
      await end(scene, above, { ...NO_USAGE, input: 1_000 })
      await enter(scene, slot, below)
      const most = { ...slot, limits: limits({ tree: { passes: 2 } }) }
      expect(await ask(scene, most, below)).toEqual({ over: { what: "passes", limit: 2, used: 2, left: 0 } })
      const dear = { limits: limits({ tree: { cost: 1 } }), reserve: { tokens: 0, cost: 2 } }
      expect(await ask(scene, dear, below)).toEqual({ over: { what: "cost", limit: 1, used: 0, left: 1 } })
    })

    test("lets as many in as fit, of many that ask at once", async () => {
      await using scene = await createScene(setup)
      const trace_id = scene.ids.pass()
      const slot = { limits: limits({ tree: { tokens: 1_000 } }), reserve: { tokens: 300, cost: 0 } }
      const opened = await Promise.all(Array.from({ length: 8 }, () => ask(scene, slot, { trace_id })))
      expect(opened.filter((each) => "pass" in each)).toHaveLength(3)
      expect(await scene.store.used(trace_id)).toMatchObject({ passes: 3, tokens: 900 })
    })
  })
}

export function slotContract(setup: Setup) {
  placeContract(setup)
  budgetContract(setup)

  describe("cool", () => {
    test("lets half as many of a provider run as do, at least one, and nobody else's fewer", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      for (const model of ["p/m", "p/m", "p/n", "p/n", "q/m", "q/m"]) await enter(scene, {}, { model })
      const until = clock.now() + HOUR
      const cool = () => store.cool({ provider: "p", until, now: clock.now() })
      expect(await cool()).toBe(2)
      expect([...(await store.line(clock.now())).cooling]).toEqual([["p", 2]])
      const places = await Promise.all(["p/x", "q/x", null].map((model) => enter(scene, {}, { model })))
      expect(places.map(({ place }) => place)).toEqual([queued(1), running, running])
      expect([await cool(), await cool()]).toEqual([1, 1])
      expect((await store.line(clock.now())).cooling.get("p")).toBe(1)
      expect(await turn(scene, places[0]!.pass, LIMITS)).toEqual(queued(1))
    })

    test("is over some time after it may be, and not all at once", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      for (const _one of [1, 2, 3, 4]) await enter(scene, {}, { model: "p/m" })
      const until = clock.now() + HOUR
      await store.cool({ provider: "p", until, now: clock.now() })
      const { pass } = await enter(scene, {}, { model: "p/m" })
      expect(await turn(scene, pass, LIMITS, until - 1)).toEqual(queued(1))
      const allowed = async (now: number) => (await store.line(now)).cooling.get("p") ?? Infinity
      expect(await allowed(until - 1)).toBe(2)
      expect(await allowed(until)).toBeGreaterThanOrEqual(2)
      expect(await allowed(until)).toBeLessThan(5)
      expect(await allowed(until + HOUR)).toBeGreaterThan(5)
      expect(await turn(scene, pass, LIMITS, until + HOUR)).toEqual(running)
    })
  })
}
