import { describe, expect, test } from "bun:test"
import type { Pass } from "../../../../src/pass-over/domain/pass"
import type { Enriched } from "../../../../src/pass-over/service/port"
import { createScene, moved, type Scene, type Setup } from "./scene"

/** A pass that got its outcome before anybody had read what its child did. */
const unread = async (scene: Scene, overrides: Partial<Pass> = {}) => {
  const pass = await scene.running(overrides)
  return moved(await scene.store.settle(scene.settled(pass, { transcript: "unread" })))
}

/** What was found when it was read. */
const found = (scene: Scene, pass: Pass): Enriched => {
  const output = scene.output(pass, {
    status: "partial",
    completion_reason: "it was interrupted",
    artifacts: [{ type: "message", role: "assistant", content: "I was there", visibility: "user_visible" }],
    summary: { ...scene.output(pass).summary, files_reviewed: 7 },
  })
  return { pass, output, artifacts: scene.settled(pass, { to: "processed", output }).artifacts }
}

function manyContract(setup: Setup) {
  describe("settleMany", () => {
    test("gives each its outcome, as if it were alone", async () => {
      await using scene = await createScene(setup)
      const passes = [await scene.running(), await scene.running({ session_id: "ses_other" })]
      const inputs = passes.map((pass) => scene.settled(pass))
      expect(await scene.store.settleMany(inputs)).toEqual(passes.map(({ id }) => id))
      for (const { pass, output, at } of inputs) {
        expect(await scene.store.find(pass.id)).toEqual({ ...pass, status: "returned", revision: 2, time_ended: at })
        expect((await scene.store.outcome(pass.id))?.output).toEqual(output)
        expect((await scene.lines(pass.session_id)).at(-1)).toMatchObject({ action: "returned", pass_over_id: pass.id })
        expect(await scene.store.deliveries(pass.session_id)).toHaveLength(1)
      }
      expect(await scene.store.settleMany([])).toEqual([])
    })

    test("leaves out those that somebody else moved in between, and a second outcome of the same", async () => {
      await using scene = await createScene(setup)
      const [gone, mine] = [await scene.running(), await scene.running()]
      const inputs = [gone, mine, mine].map((pass) => scene.settled(pass))
      await scene.store.commit(scene.commit(gone, "cancelled"))
      const before = await scene.store.find(gone.id)
      expect(await scene.store.settleMany(inputs)).toEqual([mine.id])
      expect(await scene.store.find(gone.id)).toEqual(before)
      expect(await scene.store.outcome(gone.id)).toBeUndefined()
      expect((await scene.lines()).filter(({ action }) => action === "returned")).toHaveLength(1)
    })

    test("gives none its outcome where that of one cannot be written", async () => {
      await using scene = await createScene(setup)
      const [good, bad] = [await scene.running(), await scene.running()]
      const before = [await scene.traces(good), await scene.traces(bad)]
      const unsigned = scene.settled(bad)
      const inputs = [scene.settled(good), { ...unsigned, note: { ...unsigned.note, actor: "" } }]
      await expect(scene.store.settleMany(inputs)).rejects.toThrow()
      expect([await scene.traces(good), await scene.traces(bad)]).toEqual(before)
    })
  })
}

export function lateContract(setup: Setup) {
  manyContract(setup)

  describe("an outcome whose transcript was not read", () => {
    test("is found by its project with all that is known of it, until it was", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await unread(scene)
      await unread(scene, { directory: "/elsewhere" })
      await scene.returned()
      await scene.running()
      const outcome = await store.outcome(pass.id)
      expect(outcome).toMatchObject({ transcript: "unread" })
      expect(await store.unread("/project", 10)).toEqual([{ pass, outcome: outcome! }])
      expect(await store.enrich(found(scene, pass))).toBe(true)
      expect(await store.unread("/project", 10)).toEqual([])
      expect(await store.unread("/elsewhere", 10)).toHaveLength(1)
    })

    test("comes as one of as many as are asked for", async () => {
      await using scene = await createScene(setup)
      const passes = [await unread(scene), await unread(scene), await unread(scene)]
      const ids = async (limit: number) => (await scene.store.unread("/project", limit)).map(({ pass }) => pass.id)
      expect(await ids(2)).toHaveLength(2)
      expect((await ids(10)).toSorted()).toEqual(passes.map(({ id }) => id))
    })

    test("gets what was found in it, behind what it had; where it stands and what it cost stay", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await unread(scene)
      const before = (await store.outcome(pass.id))!
      const { output, artifacts } = found(scene, pass)
      expect(await store.enrich({ pass, output, artifacts })).toBe(true)
      const after = (await store.outcome(pass.id))!
      expect(after).toEqual({
        ...before,
        transcript: "read",
        output: {
          ...before.output,
          status: "partial",
          completion_reason: "it was interrupted",
          summary: output.summary,
          artifacts: [...before.output.artifacts, ...output.artifacts],
        },
      })
      expect(await store.find(pass.id)).toEqual(pass)
      expect(await store.deliveries(pass.session_id)).toHaveLength(1)
    })

    test("gets that once, and one that was read before gets nothing", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await unread(scene)
      const enriched = await Promise.all(Array.from({ length: 8 }, () => store.enrich(found(scene, pass))))
      expect(enriched.filter(Boolean)).toHaveLength(1)
      expect((await store.outcome(pass.id))?.output.artifacts).toHaveLength(3)
      const read = await scene.returned()
      const before = await scene.traces(read)
      expect(await store.enrich(found(scene, read))).toBe(false)
      expect(await scene.traces(read)).toEqual(before)
      const running = await scene.running()
      expect(await store.enrich({ ...found(scene, read), pass: running })).toBe(false)
      expect(await store.outcome(running.id)).toBeUndefined()
    })

    test("stays one where what was found cannot be written", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await unread(scene)
      const before = await store.outcome(pass.id)
      const { artifacts, ...rest } = found(scene, pass)
      await expect(store.enrich({ ...rest, artifacts: [...artifacts, ...artifacts] })).rejects.toThrow()
      expect(await store.outcome(pass.id)).toEqual(before)
      expect(await store.unread("/project", 10)).toHaveLength(1)
      expect(await store.enrich({ ...rest, artifacts })).toBe(true)
    })
  })
}
