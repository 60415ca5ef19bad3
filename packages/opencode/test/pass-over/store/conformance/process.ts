import { describe, expect, test } from "bun:test"
import { event } from "../../../../src/pass-over/domain/pass"
import type { Store } from "../../../../src/pass-over/service/port"
import { accepted } from "../../support/world"
import { createScene, liveOf, moved, type Scene, type Setup } from "./scene"

/** What one process writes. */
const WRITES: Record<string, (store: Store, scene: Scene) => Promise<unknown>> = {
  "opens a pass": (store, scene) => store.open(scene.opening()),
  "says that it is there": (store, scene) =>
    store.enter({ owner_id: scene.ids.make("own"), pid: 1, process_start: "1", host: "h", place: "p" }, 1),
  "tells what happens": (store, scene) => store.announce(event(scene.pass(), "pass.said", scene.clock.now())),
  "keeps a result": (store, scene) => store.cache({ key: "k", pass_over_id: scene.ids.pass(), files: {}, at: 1 }),
}

async function together(setup: Setup): Promise<Scene & { other: Store }> {
  const scene = await createScene(setup)
  if (!scene.beside) throw new Error("its data cannot be that of two processes")
  return { ...scene, other: scene.beside() }
}

export function closeContract(setup: Setup) {
  describe("close", () => {
    test("is the last that a store hears: it answers nothing more, and may be closed again", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      store.close()
      await expect(store.find(pass.id)).rejects.toThrow()
      await expect(store.commit(scene.commit(pass, "cancelled"))).rejects.toThrow()
      expect(() => store.close()).not.toThrow()
    })
  })
}

/** For data that several processes can have at the same time. */
export function processContract(setup: Setup) {
  describe("two processes", () => {
    test("read each what the other has written, as soon as that has its answer", async () => {
      await using scene = await together(setup)
      const { store, other } = scene
      for (const wait of [true, false]) {
        const { pass } = accepted(await store.open(scene.opening(scene.pass({ wait }))))
        for (const each of [store, other]) expect(await each.find(pass.id)).toEqual(pass)
        const running = moved(await other.commit(scene.commit(pass, "waiting_for_return")))
        expect(await store.find(pass.id)).toEqual(running)
        const live = liveOf(scene, pass)
        await store.live(live)
        expect(await other.lives()).toContainEqual(live)
      }
      expect(await other.events(0, 100)).toEqual(await store.events(0, 100))
      expect(await other.audit({})).toEqual(await store.audit({}))
    })

    test("keep each other's fences: what one has taken over the other moves no more", async () => {
      await using scene = await together(setup)
      const { store, other } = scene
      const pass = await scene.running()
      const [mine] = await other.claim({ from: pass.owner_id, owner_id: scene.ids.make("own"), limit: 1 })
      expect(await store.settle(scene.settled(pass))).toBe("stale")
      expect(await other.settle(scene.settled(mine!.pass))).toMatchObject({ status: "returned" })
    })

    test("go on when one of them closes, with all that it has written", async () => {
      await using scene = await together(setup)
      const pass = await scene.returned()
      const before = await scene.traces(pass)
      scene.other.close()
      expect(await scene.traces(pass)).toEqual(before)
      const last = scene.beside!()
      scene.store.close()
      expect(await last.find(pass.id)).toEqual(pass)
      expect((await last.outcome(pass.id))?.output.artifacts).toHaveLength(2)
      expect(await last.commit(scene.commit(pass, "processed"))).toMatchObject({ status: "processed" })
    })
  })

  describe("version", () => {
    for (const [what, write] of Object.entries(WRITES)) {
      test(`is another one when another process ${what}, and stays that until there is more`, async () => {
        await using scene = await together(setup)
        const { store, other } = scene
        await store.open(scene.opening())
        const before = await store.version()
        expect(await store.version()).toBe(before)
        await write(other, scene)
        const after = await store.version()
        expect(after).not.toBe(before)
        await store.newest()
        expect(await store.version()).toBe(after)
      })
    }

    test("stays the same where somebody has only read", async () => {
      await using scene = await together(setup)
      const { store, other } = scene
      const pass = await scene.running()
      const before = await store.version()
      await other.find(pass.id)
      await other.passes({ limit: 10 })
      expect(await store.version()).toBe(before)
    })
  })
}
