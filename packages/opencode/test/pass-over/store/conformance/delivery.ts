import { describe, expect, test } from "bun:test"
import { omit } from "remeda"
import { createScene, moved, type Setup } from "./scene"

const many = 8

export function deliveryContract(setup: Setup) {
  describe("delivered", () => {
    test("a result is delivered once", async () => {
      await using scene = await createScene(setup)
      const { id } = await scene.returned()
      const at = scene.clock.now()
      expect(await scene.store.delivered({ pass_over_id: id, message_id: "msg_9", at })).toBe(true)
      expect(await scene.store.delivered({ pass_over_id: id, message_id: "msg_10", at })).toBe(false)
      expect(await scene.store.deliveries("ses_alice")).toEqual([])
    })

    test("of many deliveries at once exactly one counts", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      const results = await Promise.all(
        Array.from({ length: many }, () =>
          scene.store.delivered({ pass_over_id: pass.id, message_id: null, at: scene.clock.now(), commit }),
        ),
      )
      expect(results.filter(Boolean)).toHaveLength(1)
      expect((await scene.lines()).filter(({ action }) => action === "processed")).toHaveLength(1)
    })

    test("what a delivery means for its pass happens with it", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      await scene.store.delivered({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })
      expect(await scene.store.find(pass.id)).toMatchObject({ status: "processed", revision: 3 })
      expect((await scene.lines()).at(-1)).toMatchObject(omit(commit.note, ["detail"]))
      expect((await scene.events()).at(-1)).toEqual(commit.event)
    })

    test("a delivery that happened is recorded even where somebody else moved the pass first", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      const cancelled = moved(await scene.store.commit(scene.commit(pass, "cancelled")))
      expect(await scene.store.delivered({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })).toBe(
        true,
      )
      expect(await scene.store.deliveries("ses_alice")).toEqual([])
      expect(await scene.store.find(pass.id)).toEqual(cancelled)
    })

    test("what has no outcome yet cannot be delivered", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await scene.traces(pass)
      const commit = scene.commit(pass, "returned")
      expect(await scene.store.delivered({ pass_over_id: pass.id, message_id: null, at: commit.at, commit })).toBe(
        false,
      )
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("when the audit line cannot be written the result still waits to be delivered", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const before = await scene.traces(pass)
      const commit = scene.commit(pass, "processed")
      const unsigned = { ...commit, note: { ...commit.note, actor: "" } }
      const input = { pass_over_id: pass.id, message_id: "msg_9", at: commit.at }
      await expect(scene.store.delivered({ ...input, commit: unsigned })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
      expect(await scene.store.delivered({ ...input, commit })).toBe(true)
    })
  })

  describe("deliveries", () => {
    test("a session hears of its own results alone, and of those that have not reached it", async () => {
      await using scene = await createScene(setup)
      const waiting = await scene.returned()
      const done = await scene.returned()
      await scene.returned({ session_id: "ses_other" })
      await scene.running()
      await scene.store.delivered({ pass_over_id: done.id, message_id: null, at: scene.clock.now() })
      expect((await scene.store.deliveries("ses_alice")).map(({ pass_over_id }) => pass_over_id)).toEqual([waiting.id])
      expect(await scene.store.deliveries("ses_unknown")).toEqual([])
    })
  })
}
