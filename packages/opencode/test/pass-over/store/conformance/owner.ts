import { describe, expect, test } from "bun:test"
import type { Owner } from "../../../../src/pass-over/service/port"
import { createScene, type Scene, type Setup } from "./scene"

const ownerOf = (scene: Scene, more: Partial<Owner> = {}): Owner => ({
  owner_id: scene.ids.make("own"),
  pid: 42,
  process_start: "1234",
  host: "here",
  place: "boot",
  ...more,
})

const entered = async (scene: Scene, more: Partial<Owner> = {}): Promise<Owner> => {
  const owner = ownerOf(scene, more)
  await scene.store.enter(owner, scene.clock.now())
  return owner
}

const names = async ({ store }: Scene) => (await store.owners()).map(({ owner_id }) => owner_id).toSorted()

export function ownerContract(setup: Setup) {
  describe("processes", () => {
    test("are known with all that tells one from another, and with when they were last heard of", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      const [first, second] = [await entered(scene), await entered(scene, { pid: 43, host: "there" })]
      clock.advance(5_000)
      await store.beat(first.owner_id, clock.now())
      const known = [
        { ...first, time_heartbeat: clock.now() },
        { ...second, time_heartbeat: clock.now() - 5_000 },
      ]
      expect(await store.owner(first.owner_id)).toMatchObject(known[0]!)
      expect(await store.owner(second.owner_id)).toMatchObject(known[1]!)
      const all = (await store.owners()).toSorted((a, b) => (a.owner_id < b.owner_id ? -1 : 1))
      expect(all).toMatchObject(known)
      expect(all.some((owner) => "lost" in owner)).toBe(false)
      expect(await store.owner(scene.ids.make("own"))).toBeUndefined()
    })

    test("that announce themselves again stay one, and were not heard of any earlier for that", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      const owner = await entered(scene)
      await store.beat(owner.owner_id, clock.now() + 5_000)
      await store.enter(owner, clock.now() + 1)
      expect(await store.owners()).toHaveLength(1)
      expect((await store.owner(owner.owner_id))?.time_heartbeat).toBe(clock.now() + 5_000)
    })

    test("that leave are known no more, and their last heartbeat does not bring them back", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      const [leaving, staying] = [await entered(scene), await entered(scene)]
      await store.leave(leaving.owner_id)
      await store.leave(leaving.owner_id)
      await store.beat(leaving.owner_id, clock.now())
      await store.beat(scene.ids.make("own"), clock.now())
      expect(await store.owner(leaving.owner_id)).toBeUndefined()
      expect(await names(scene)).toEqual([staying.owner_id])
      await store.enter(leaving, clock.now())
      expect(await names(scene)).toEqual([leaving.owner_id, staying.owner_id])
    })

    test("that leave with a pass that has no outcome yet stay known until somebody else has that", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { owner_id } = await entered(scene)
      const next = await entered(scene)
      const [unstarted, running] = [await scene.opened({ owner_id }), await scene.running({ owner_id })]
      for (const { id } of [unstarted, running]) {
        await store.leave(owner_id)
        expect(await store.owner(owner_id)).toMatchObject({ owner_id })
        const taken = await store.claim({ from: owner_id, owner_id: next.owner_id, limit: 1, only: [id] })
        expect(taken).toHaveLength(1)
      }
      await store.leave(owner_id)
      expect(await names(scene)).toEqual([next.owner_id])
    })

    test("are not kept by what has ended, or is another's", async () => {
      await using scene = await createScene(setup)
      const [leaving, other] = [await entered(scene), await entered(scene)]
      await scene.returned({ owner_id: leaving.owner_id })
      await scene.running({ owner_id: other.owner_id })
      await scene.store.leave(leaving.owner_id)
      expect(await names(scene)).toEqual([other.owner_id])
    })

    test("that left no trace but passes without an outcome are named as lost, each once", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const lost = ownerOf(scene)
      const [first] = [
        await scene.running({ owner_id: lost.owner_id }),
        await scene.opened({ owner_id: lost.owner_id }),
      ]
      await scene.returned({ owner_id: scene.ids.make("own") })
      const there = await entered(scene)
      await scene.running({ owner_id: there.owner_id })
      const isLost = async () => (await store.owners()).filter((owner) => "lost" in owner)
      expect(await isLost()).toEqual([{ owner_id: lost.owner_id, lost: true }])
      expect(await names(scene)).toEqual([lost.owner_id, there.owner_id].toSorted())
      expect(await store.owner(lost.owner_id)).toBeUndefined()
      await store.settle(scene.settled(first))
      expect(await isLost()).toHaveLength(1)
      await store.enter(lost, scene.clock.now())
      expect(await isLost()).toEqual([])
      expect(await names(scene)).toEqual([lost.owner_id, there.owner_id].toSorted())
    })
  })
}
