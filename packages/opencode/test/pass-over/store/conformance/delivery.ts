import { describe, expect, test } from "bun:test"
import { omit } from "remeda"
import type { Pass } from "../../../../src/pass-over/domain/pass"
import { createScene, moved, type Setup } from "./scene"

const many = 8

export function deliveryContract(setup: Setup) {
  describe("delivered", () => {
    test("a result is delivered once", async () => {
      await using scene = await createScene(setup)
      const { id } = await scene.returned()
      const at = scene.clock.now()
      expect(await scene.deliver({ pass_over_id: id, message_id: "msg_9", at })).toBe(true)
      expect(await scene.deliver({ pass_over_id: id, message_id: "msg_10", at })).toBe(false)
      expect(await scene.store.deliveries("ses_alice")).toEqual([])
    })

    test("a result that is held is not delivered, whoever says so, until it is released", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.settle(scene.settled(pass, { delivery: { mode: "tool", status: "held" } }))
      const input = { pass_over_id: pass.id, message_id: "msg_9", at: scene.clock.now() }
      expect(await scene.deliver(input)).toBe(false)
      expect(await scene.store.delivery(pass.id)).toMatchObject({ mode: "tool", status: "held" })
      expect(await scene.store.outcome(pass.id)).toMatchObject({ held: true })
      expect(await scene.store.held("/project")).toMatchObject([{ id: pass.id }])
      expect(await scene.store.held("/elsewhere")).toEqual([])
      expect(await scene.store.release(pass.id)).toBe(true)
      expect(await scene.store.held("/project")).toEqual([])
      expect(await scene.deliver(input)).toBe(true)
      const outcome = await scene.store.outcome(pass.id)
      expect(outcome?.held).toBeUndefined()
      expect(outcome?.output.metadata.returned_at).toBe(input.at)
    })

    test("a result that is held and kept back is told as that", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.settle(scene.settled(pass, { delivery: { mode: "tool", status: "held" } }))
      await scene.store.redirect({ pass_over_id: pass.id, mode: "none" })
      const outcome = await scene.store.outcome(pass.id)
      expect(outcome).toMatchObject({ dropped: true })
      expect(outcome?.held).toBeUndefined()
      expect(outcome?.output.metadata.returned_at).toBeUndefined()
      expect(await scene.store.held("/project")).toEqual([])
    })

    test("of several at once each is delivered once, and those that were are left out", async () => {
      await using scene = await createScene(setup)
      const [before, first, second] = [await scene.returned(), await scene.returned(), await scene.returned()]
      const input = (pass: Pass) => {
        const commit = scene.commit(pass, "processed")
        return { pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit }
      }
      await scene.deliver(input(before))
      expect(await scene.store.delivered([before, first, second].map(input))).toEqual([first.id, second.id])
      expect(await scene.store.deliveries("ses_alice")).toEqual([])
      expect((await scene.lines()).filter(({ action }) => action === "processed")).toHaveLength(3)
    })

    test("of several at once all are delivered or none", async () => {
      await using scene = await createScene(setup)
      const [good, bad] = [await scene.returned(), await scene.returned()]
      const unsigned = scene.commit(bad, "processed")
      const inputs = [
        { pass_over_id: good.id, message_id: null, at: unsigned.at, commit: scene.commit(good, "processed") },
        {
          pass_over_id: bad.id,
          message_id: null,
          at: unsigned.at,
          commit: { ...unsigned, note: { ...unsigned.note, action: null as unknown as "processed" } },
        },
      ]
      await expect(scene.store.delivered(inputs)).rejects.toThrow()
      expect(await scene.store.deliveries("ses_alice")).toHaveLength(2)
      expect(await scene.store.find(good.id)).toEqual(good)
    })

    test("of many deliveries at once exactly one counts", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      const results = await Promise.all(
        Array.from({ length: many }, () =>
          scene.deliver({ pass_over_id: pass.id, message_id: null, at: scene.clock.now(), commit }),
        ),
      )
      expect(results.filter(Boolean)).toHaveLength(1)
      expect((await scene.lines()).filter(({ action }) => action === "processed")).toHaveLength(1)
    })

    test("what a delivery means for its pass happens with it", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      await scene.deliver({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })
      expect(await scene.store.find(pass.id)).toMatchObject({ status: "processed", revision: 3 })
      expect((await scene.lines()).at(-1)).toMatchObject(omit(commit.note, ["detail"]))
      expect((await scene.events()).at(-1)).toEqual(commit.event)
    })

    test("a delivery that happened is recorded even where somebody else moved the pass first", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const commit = scene.commit(pass, "processed")
      const cancelled = moved(await scene.store.commit(scene.commit(pass, "cancelled")))
      expect(await scene.deliver({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })).toBe(true)
      expect(await scene.store.deliveries("ses_alice")).toEqual([])
      expect(await scene.store.find(pass.id)).toEqual(cancelled)
    })

    test("what has no outcome yet cannot be delivered", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await scene.traces(pass)
      const commit = scene.commit(pass, "returned")
      expect(await scene.deliver({ pass_over_id: pass.id, message_id: null, at: commit.at, commit })).toBe(false)
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("when the audit line cannot be written the result still waits to be delivered", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const before = await scene.traces(pass)
      const commit = scene.commit(pass, "processed")
      const unsigned = { ...commit, note: { ...commit.note, actor: "" } }
      const input = { pass_over_id: pass.id, message_id: "msg_9", at: commit.at }
      await expect(scene.deliver({ ...input, commit: unsigned })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
      expect(await scene.deliver({ ...input, commit })).toBe(true)
    })
  })

  describe("deliveries", () => {
    test("a session hears of its own results alone, and of those that have not reached it", async () => {
      await using scene = await createScene(setup)
      const waiting = await scene.returned()
      const done = await scene.returned()
      await scene.returned({ session_id: "ses_other" })
      await scene.running()
      await scene.deliver({ pass_over_id: done.id, message_id: null, at: scene.clock.now() })
      expect((await scene.store.deliveries("ses_alice")).map(({ pass_over_id }) => pass_over_id)).toEqual([waiting.id])
      expect(await scene.store.deliveries("ses_unknown")).toEqual([])
    })
  })
}
