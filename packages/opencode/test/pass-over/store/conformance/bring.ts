import { describe, expect, test } from "bun:test"
import type { Pass } from "../../../../src/pass-over/domain/pass"
import type { Delivery, Settled } from "../../../../src/pass-over/service/port"
import { createScene, moved, type Scene, type Setup } from "./scene"

const settled = async (scene: Scene, delivery: Settled["delivery"], overrides: Partial<Pass> = {}) => {
  const pass = await scene.running(overrides)
  return moved(await scene.store.settle(scene.settled(pass, { delivery })))
}

/** A result that waits to be brought as a message, and its delivery as it stands. */
const waiting = async (scene: Scene) => {
  const pass = await settled(scene, { mode: "message", status: "pending" })
  return { pass, from: (await scene.store.delivery(pass.id))! }
}

function undeliveredContract(setup: Setup) {
  describe("undelivered", () => {
    test("are the results of a project that have not reached anybody, the oldest first, each with its pass", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const made: Pass[] = []
      for (const delivery of [
        { mode: "message", status: "pending" },
        { mode: "tool", status: "pending" },
        { mode: "tool", status: "held" },
      ] as const) {
        made.unshift(await settled(scene, delivery, { session_id: `ses_${made.length}` }))
        // Ids that sort the other way round must not decide about the order.
        scene.clock.set(scene.clock.now() - 1_000)
      }
      await settled(scene, { mode: "none", status: "delivered" })
      await settled(scene, { mode: "none", status: "held" })
      await settled(scene, { mode: "tool", status: "pending" }, { directory: "/elsewhere" })
      await scene.running()
      const deliveries = await Promise.all(made.map(({ id }) => store.delivery(id)))
      expect(await store.undelivered("/project")).toEqual(
        made.map((pass, index) => ({ pass, delivery: deliveries[index]! })),
      )
      expect(await store.undelivered("/elsewhere")).toHaveLength(1)
      expect(await store.undelivered("/nowhere")).toEqual([])
    })

    test("is a result also while somebody brings it, and no more when it has arrived or goes nowhere", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [first, second] = [await waiting(scene), await waiting(scene)]
      const owner_id = scene.ids.make("own")
      await store.take({ pass_over_id: first.pass.id, owner_id, from: first.from, message_id: "msg_1" })
      const left = async () => (await store.undelivered("/project")).map(({ delivery }) => delivery.status)
      expect((await left()).toSorted()).toEqual(["pending", "sending"])
      await scene.deliver({ pass_over_id: first.pass.id, message_id: "msg_1", at: scene.clock.now() })
      expect(await left()).toEqual(["pending"])
      await store.redirect({ pass_over_id: second.pass.id, mode: "none" })
      expect(await left()).toEqual([])
    })
  })
}

function takeContract(setup: Setup) {
  describe("take", () => {
    test("writes down who brings a result and under which message, before it is sent", async () => {
      await using scene = await createScene(setup)
      const { pass, from } = await waiting(scene)
      expect(from).toEqual({
        pass_over_id: pass.id,
        session_id: pass.session_id,
        mode: "message",
        status: "pending",
        message_id: null,
        owner_id: null,
      })
      const owner_id = scene.ids.make("own")
      const input = { pass_over_id: pass.id, owner_id, from, message_id: "msg_1" }
      expect(await scene.store.take(input)).toBe(true)
      expect(await scene.store.delivery(pass.id)).toEqual({
        ...from,
        status: "sending",
        owner_id,
        message_id: "msg_1",
      })
    })

    test("is refused to whoever has not seen what came meanwhile, and granted to whoever has", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass, from } = await waiting(scene)
      const take = (seen: Delivery, message_id: string) =>
        store.take({ pass_over_id: pass.id, owner_id: scene.ids.make("own"), from: seen, message_id })
      await take(from, "msg_1")
      const sending = (await store.delivery(pass.id))!
      const stale: Partial<Delivery>[] = [
        { status: "pending" },
        { owner_id: scene.ids.make("own") },
        { owner_id: null },
        { message_id: "msg_0" },
        { message_id: null },
      ]
      for (const more of stale) expect(await take({ ...sending, ...more }, "msg_2")).toBe(false)
      expect(await take(from, "msg_2")).toBe(false)
      expect(await store.delivery(pass.id)).toEqual(sending)
      // Whoever had it in hand is gone.
      expect(await take(sending, "msg_2")).toBe(true)
      expect(await store.delivery(pass.id)).toMatchObject({ status: "sending", message_id: "msg_2" })
    })

    test("is refused where the result arrived meanwhile, or where there is none", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass, from } = await waiting(scene)
      await scene.deliver({ pass_over_id: pass.id, message_id: "msg_9", at: scene.clock.now() })
      const owner_id = scene.ids.make("own")
      expect(await store.take({ pass_over_id: pass.id, owner_id, from, message_id: "msg_1" })).toBe(false)
      expect(await store.delivery(pass.id)).toMatchObject({ status: "delivered", message_id: "msg_9" })
      const running = await scene.running()
      expect(await store.take({ pass_over_id: running.id, owner_id, from, message_id: "msg_1" })).toBe(false)
      expect(await store.delivery(running.id)).toBeUndefined()
    })
  })
}

export function bringContract(setup: Setup) {
  undeliveredContract(setup)
  takeContract(setup)

  describe("release", () => {
    test("lets a result go that is held, once, as a message; no other is touched", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const held = await settled(scene, { mode: "tool", status: "held" })
      const { pass: other, from } = await waiting(scene)
      expect([await store.release(held.id), await store.release(held.id)]).toEqual([true, false])
      expect(await store.delivery(held.id)).toMatchObject({ mode: "message", status: "pending" })
      expect(await store.release(other.id)).toBe(false)
      expect(await store.delivery(other.id)).toEqual(from)
      expect(await store.release(scene.ids.pass())).toBe(false)
    })
  })

  describe("redirect", () => {
    test("sends a result another way as long as it has not arrived", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await settled(scene, { mode: "tool", status: "pending" })
      expect(await store.redirect({ pass_over_id: pass.id, mode: "message" })).toBe(true)
      expect(await store.delivery(pass.id)).toMatchObject({ mode: "message", status: "pending" })
      await scene.deliver({ pass_over_id: pass.id, message_id: null, at: scene.clock.now() })
      expect(await store.redirect({ pass_over_id: pass.id, mode: "none" })).toBe(false)
      expect(await store.delivery(pass.id)).toMatchObject({ mode: "message", status: "delivered" })
      expect(await store.redirect({ pass_over_id: scene.ids.pass(), mode: "none" })).toBe(false)
    })
  })
}
