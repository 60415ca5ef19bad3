import { describe, expect, test } from "bun:test"
import { event, type Pass } from "../../../../src/pass-over/domain/pass"
import { over } from "./retention"
import { createScene, liveOf, moved, type Scene, type Setup } from "./scene"

const lives = async (scene: Scene) =>
  (await scene.store.lives()).toSorted((a, b) => (a.pass_over_id < b.pass_over_id ? -1 : 1))

const said = (scene: Scene, pass: Pass, text: string) => event(pass, "pass.said", scene.clock.now(), { text })

function eventsContract(setup: Setup) {
  describe("events", () => {
    test("of all projects and sessions are read in the order in which they were written, each with its number", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      expect(await store.events(0, 10)).toEqual([])
      const pass = await scene.running()
      await scene.returned({ session_id: "ses_other", directory: "/elsewhere" })
      // Clocks jump, and the order is that of writing.
      scene.clock.set(scene.clock.now() - 1_000)
      await store.announce(said(scene, pass, "one"), said(scene, pass, "two"))
      const all = await store.events(0, 100)
      expect(all.map(({ seq: _seq, ...rest }) => rest)).toEqual(await scene.events())
      const seqs = all.map(({ seq }) => seq)
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
      expect(seqs[0]).toBeGreaterThan(0)
    })

    test("are read on from any of them, as many as are asked for", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      await scene.returned()
      const all = await store.events(0, 100)
      const read: typeof all = []
      for (const _page of all) {
        const more = await store.events(read.at(-1)?.seq ?? 0, 2)
        expect(more.length).toBeLessThanOrEqual(2)
        read.push(...more)
      }
      expect(all).toHaveLength(3)
      expect(read).toEqual(all)
    })

    test("are told by the newest where the present begins", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      expect(await store.newest()).toBe(0)
      const pass = await scene.running()
      const newest = await store.newest()
      expect(newest).toBe((await store.events(0, 100)).at(-1)!.seq)
      expect(await store.events(newest, 10)).toEqual([])
      await store.announce(said(scene, pass, "later"))
      expect(await store.events(newest, 10)).toMatchObject([{ data: { text: "later" } }])
      expect(await store.newest()).toBeGreaterThan(newest)
    })

    test("have higher numbers than any before them, also those that were forgotten: who reads on misses none", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      await scene.running({ session_id: "ses_other" })
      const pass = await over(scene)
      const newest = await store.newest()
      await scene.forgetLines(pass.session_id)
      expect(await store.forget({ pass_over_id: pass.id, before: scene.clock.now() + 1 })).toBe(true)
      while (await store.clear(pass.id));
      const left = await store.events(0, 100)
      expect(left).toHaveLength(2)
      expect(await store.newest()).toBe(left.at(-1)!.seq)
      await store.announce(said(scene, pass, "later"))
      const [later] = await store.events(newest, 10)
      expect(later).toMatchObject({ data: { text: "later" } })
      expect(await store.newest()).toBe(later!.seq)
    })

    test("of what did not come about are not among them", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const newest = await store.newest()
      const settled = scene.settled(pass)
      await expect(store.settle({ ...settled, note: { ...settled.note, actor: "" } })).rejects.toThrow()
      expect(await store.settle(scene.settled({ ...pass, fence: 9 }))).toBe("stale")
      expect(await store.newest()).toBe(newest)
      expect(await store.events(newest, 10)).toEqual([])
    })
  })
}

export function newsContract(setup: Setup) {
  eventsContract(setup)

  describe("how far a pass is", () => {
    test("is what was said of it last", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [pass, other] = [await scene.running(), await scene.opened()]
      await store.live(liveOf(scene, pass))
      await store.live(liveOf(scene, other, { phase: "starting", deadline_at: null, idle_at: 5 }))
      const last = liveOf(scene, pass, { phase: "staged", step: 7, attempt: 2, tokens: 9, cost: 0.5, waits: 1 })
      await store.live(last)
      const unstarted = liveOf(scene, other, { phase: "starting", deadline_at: null, idle_at: 5 })
      expect(await lives(scene)).toEqual([last, unstarted])
    })

    test("is shown of none that has ended, also where a word of it comes late", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [settled, cancelled, crashed] = [await scene.running(), await scene.running(), await scene.running()]
      const passes = [settled, cancelled, crashed]
      for (const pass of passes) await store.live(liveOf(scene, pass))
      await store.settle(scene.settled(settled))
      moved(await store.commit(scene.commit(cancelled, "cancelled")))
      expect((await lives(scene)).map(({ pass_over_id }) => pass_over_id)).toEqual([crashed.id])
      await store.settleMany([scene.settled(crashed)])
      expect(await lives(scene)).toEqual([])
      for (const pass of passes) await store.live(liveOf(scene, pass, { step: 9 }))
      expect(await lives(scene)).toEqual([])
    })

    test("is no part of what happened: it leaves nothing in the audit, in the events or in the pass", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await scene.traces(pass)
      await scene.store.live(liveOf(scene, pass))
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("is shown of no pass that nobody knows", async () => {
      await using scene = await createScene(setup)
      // Whether it says so or not.
      await scene.store.live(liveOf(scene, scene.pass())).catch(() => {})
      expect(await lives(scene)).toEqual([])
    })
  })
}
