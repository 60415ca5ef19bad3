import { describe, expect, test } from "bun:test"
import type { StartOrder } from "../../../../src/pass-over/domain/start"
import { createScene, type Scene, type Setup } from "./scene"

const ASK = {
  subagent: "audit",
  objective: "Review the totals",
  reason: "because",
  from: "alice",
  files: ["src/total.ts"],
} as const

export const orderOf = (scene: Pick<Scene, "ids" | "clock">, more: Partial<StartOrder> = {}): StartOrder => ({
  start_id: scene.ids.make("sta"),
  directory: "/project",
  session_id: null,
  named: false,
  ask: { ...ASK, files: [...ASK.files], given: { files: [{ path: "a.ts", content: "1" }] } },
  actor: "ada",
  state: "pending",
  owner_id: null,
  pass_over_id: null,
  refusal: null,
  time_created: scene.clock.now(),
  time_expires: scene.clock.now() + 600_000,
  ...more,
})

const asked = async (scene: Scene, more: Partial<StartOrder> = {}) => {
  const order = orderOf(scene, more)
  await scene.store.askStart(order)
  return order
}

/** An order that somebody has in hand. */
const claimed = async (scene: Scene) => {
  const { start_id } = await asked(scene)
  const owner_id = scene.ids.make("own")
  await scene.store.claimStart({ start_id, from: null, owner_id })
  return { start_id, owner_id }
}

const refusal = { code: "E016", message: "not needed any more", suggestion: "Ask again." }

function askContract(setup: Setup) {
  describe("an order to start a pass", () => {
    test("is read back as it was given, with all that was given along", async () => {
      await using scene = await createScene(setup)
      const order = await asked(scene, { session_id: "ses_named", named: true })
      expect(await scene.store.start(order.start_id)).toEqual(order)
      expect(await scene.store.start(scene.ids.make("sta"))).toBeUndefined()
    })

    test("is given once: another of its name changes nothing", async () => {
      await using scene = await createScene(setup)
      const order = await asked(scene)
      await expect(scene.store.askStart({ ...order, actor: "bob" })).rejects.toThrow()
      expect(await scene.store.start(order.start_id)).toEqual(order)
    })

    test("is open until it was dealt with, the oldest first, in its project or in all of them", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const orders = [orderOf(scene), orderOf(scene, { directory: "/elsewhere" }), orderOf(scene), orderOf(scene)]
      for (const order of orders.toReversed()) await store.askStart(order)
      const [first, elsewhere, second, third] = orders.map(({ start_id }) => start_id)
      const owner_id = scene.ids.make("own")
      const ids = async (filter: { directory?: string }) =>
        (await store.openStarts(filter)).map(({ start_id }) => start_id)
      expect(await ids({ directory: "/project" })).toEqual([first!, second!, third!])
      expect(await store.openStarts({ directory: "/elsewhere" })).toEqual([orders[1]!])
      expect(await ids({})).toEqual([first!, elsewhere!, second!, third!])
      await store.claimStart({ start_id: first!, from: null, owner_id })
      await store.endStart({ start_id: second!, owner_id: null, refusal })
      expect(await ids({})).toEqual([first!, elsewhere!, third!])
      await store.endStart({ start_id: first!, owner_id, pass_over_id: scene.ids.pass() })
      expect(await ids({ directory: "/project" })).toEqual([third!])
      expect(await ids({ directory: "/nowhere" })).toEqual([])
    })
  })
}

function claimContract(setup: Setup) {
  describe("an order that somebody has in hand", () => {
    test("is nobody else's, until that one is gone and another takes it from them", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const order = await asked(scene)
      const [first, second, third] = [scene.ids.make("own"), scene.ids.make("own"), scene.ids.make("own")]
      const { start_id } = order
      const take = (from: typeof first | null, owner_id: typeof first) => store.claimStart({ start_id, from, owner_id })
      expect(await take(second, first)).toBe(false)
      expect(await take(null, first)).toBe(true)
      expect(await store.start(start_id)).toEqual({ ...order, state: "claimed", owner_id: first })
      expect([await take(null, second), await take(third, second)]).toEqual([false, false])
      expect(await take(first, second)).toBe(true)
      expect(await take(first, third)).toBe(false)
      expect(await store.start(start_id)).toEqual({ ...order, state: "claimed", owner_id: second })
      expect(await store.claimStart({ start_id: scene.ids.make("sta"), from: null, owner_id: first })).toBe(false)
    })

    test("gets its session from them, and from nobody else", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { start_id, owner_id } = await claimed(scene)
      const unclaimed = await asked(scene)
      const other = scene.ids.make("own")
      expect(await store.placeStart({ start_id, owner_id: other, session_id: "ses_other" })).toBe(false)
      expect(await store.start(start_id)).toMatchObject({ session_id: null })
      expect(await store.placeStart({ start_id, owner_id, session_id: "ses_made" })).toBe(true)
      expect(await store.start(start_id)).toMatchObject({ session_id: "ses_made", state: "claimed", owner_id })
      // Whoever takes it over goes on in that session.
      await store.claimStart({ start_id, from: owner_id, owner_id: other })
      expect(await store.start(start_id)).toMatchObject({ session_id: "ses_made", owner_id: other })
      expect(await store.placeStart({ start_id, owner_id, session_id: "ses_late" })).toBe(false)
      const placed = { start_id: unclaimed.start_id, owner_id, session_id: "ses_made" }
      expect(await store.placeStart(placed)).toBe(false)
      expect(await store.start(unclaimed.start_id)).toEqual(unclaimed)
    })
  })
}

export function startContract(setup: Setup) {
  askContract(setup)
  claimContract(setup)

  describe("the end of an order", () => {
    test("is its pass; what was given along lies with that from now on, the rest of the order stays", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { start_id, owner_id } = await claimed(scene)
      const before = (await store.start(start_id))!
      const pass_over_id = scene.ids.pass()
      expect(await store.endStart({ start_id, owner_id, pass_over_id })).toBe(true)
      const { given: _given, ...ask } = before.ask
      expect(await store.start(start_id)).toEqual({ ...before, state: "started", pass_over_id, ask })
    })

    test("is why there is none", async () => {
      await using scene = await createScene(setup)
      const { start_id, owner_id } = await claimed(scene)
      expect(await scene.store.endStart({ start_id, owner_id, refusal })).toBe(true)
      expect(await scene.store.start(start_id)).toMatchObject({ state: "refused", refusal, pass_over_id: null })
    })

    test("is said once, and nothing comes after it", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { start_id, owner_id } = await claimed(scene)
      await store.endStart({ start_id, owner_id, refusal })
      const before = await store.start(start_id)
      const pass_over_id = scene.ids.pass()
      for (const by of [owner_id, null])
        expect(await store.endStart({ start_id, owner_id: by, pass_over_id })).toBe(false)
      for (const from of [owner_id, null])
        expect(await store.claimStart({ start_id, from, owner_id: scene.ids.make("own") })).toBe(false)
      expect(await store.placeStart({ start_id, owner_id, session_id: "ses_late" })).toBe(false)
      expect(await store.start(start_id)).toEqual(before)
    })

    test("is said by whoever has it in hand, and by anybody as long as nobody has", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { start_id, owner_id } = await claimed(scene)
      for (const by of [scene.ids.make("own"), null])
        expect(await store.endStart({ start_id, owner_id: by, refusal })).toBe(false)
      const next = scene.ids.make("own")
      await store.claimStart({ start_id, from: owner_id, owner_id: next })
      expect(await store.endStart({ start_id, owner_id, refusal })).toBe(false)
      expect(await store.start(start_id)).toMatchObject({ state: "claimed", owner_id: next, refusal: null })
      const { start_id: free } = await asked(scene)
      expect(await store.endStart({ start_id: free, owner_id, refusal })).toBe(false)
      expect(await store.endStart({ start_id: free, owner_id: null, refusal })).toBe(true)
      expect(await store.endStart({ start_id: scene.ids.make("sta"), owner_id: null, refusal })).toBe(false)
    })
  })
}
