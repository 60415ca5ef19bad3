import { describe, expect, test } from "bun:test"
import type { ChangeSet } from "../../../../src/pass-over/domain/change/change"
import { event, note, type Pass } from "../../../../src/pass-over/domain/pass"
import type { SaidVerdict, Told } from "../../../../src/pass-over/service/port-change"
import { changeOf, createScene, type Scene, type Setup } from "./scene"

const saved = async (scene: Scene, pass: Pass, more: Partial<ChangeSet> = {}) => {
  const change = { ...changeOf(scene, pass), ...more }
  await scene.store.saveChange(change)
  return change
}

const verdict = (more: Partial<SaidVerdict> = {}): SaidVerdict => ({
  path: "a.ts",
  hunk: null,
  accepted: true,
  reason: null,
  actor: "ada",
  time_created: 1,
  ...more,
})

const told = (scene: Scene, pass: Pass): Told => {
  const at = scene.clock.now()
  return { note: note(pass, { action: "reviewed", actor: "ada", at }), event: event(pass, "pass.reviewed", at) }
}

export function changeContract(setup: Setup) {
  describe("a change", () => {
    test("is read back as it was saved, with its files in their order", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.returned()
      const [first] = changeOf(scene, pass).files
      const old = { hash: scene.hash("old"), mode: "100755", bytes: 3 } as const
      const change = await saved(scene, pass, {
        origin: "isolated",
        notes: ["a folder was linked"],
        from_change_id: scene.ids.make("chg"),
        files: [
          { ...first!, path: "z.ts", old_path: "y.ts", old, confidence: "low", reason: "" },
          { ...first!, path: "a.bin", binary: true, refused: "it is a link" },
          { ...first!, path: "gone.ts", old, new: null },
        ],
      })
      expect(await store.change(change.change_id)).toEqual(change)
      expect(await store.changes(pass.id)).toEqual([change])
      expect(await store.change(scene.ids.make("chg"))).toBeUndefined()
    })

    test("may be one of several of its pass, the oldest first, and is no other pass's", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [pass, other] = [await scene.returned(), await scene.returned()]
      const made = [changeOf(scene, pass), changeOf(scene, pass), changeOf(scene, pass)]
      for (const change of made.toReversed()) await store.saveChange(change)
      await saved(scene, other)
      expect(await store.changes(pass.id)).toEqual(made)
      expect(await store.changes(scene.ids.pass())).toEqual([])
    })

    test("is saved once: another of its name changes nothing", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const change = await saved(scene, pass)
      await expect(scene.store.saveChange({ ...change, files: [], notes: ["another"] })).rejects.toThrow()
      expect(await scene.store.changes(pass.id)).toEqual([change])
    })

    test("that names a file twice is not saved, nor any part of it", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.returned()
      const change = changeOf(scene, pass)
      const files = [...change.files, change.files[0]!]
      await expect(scene.store.saveChange({ ...change, files })).rejects.toThrow()
      expect(await scene.store.changes(pass.id)).toEqual([])
      await scene.store.saveChange(change)
      expect(await scene.store.change(change.change_id)).toEqual(change)
    })
  })

  describe("what was said about a change", () => {
    test("is read in the order in which it was said, and goes on record with its line and its event", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.returned()
      const [change, other] = [await saved(scene, pass), await saved(scene, pass)]
      const first = [verdict(), verdict({ path: "b.ts", hunk: 2, accepted: false, reason: "no" })]
      const second = [verdict({ accepted: false, actor: "bob", time_created: 0 })]
      const input = told(scene, pass)
      await store.review(change.change_id, first, input)
      expect((await scene.lines()).at(-1)).toMatchObject({ action: "reviewed", actor: "ada", pass_over_id: pass.id })
      expect((await scene.events()).at(-1)).toEqual(input.event)
      await store.review(change.change_id, second, told(scene, pass))
      expect(await store.verdicts(change.change_id)).toEqual([...first, ...second])
      expect(await store.verdicts(other.change_id)).toEqual([])
    })

    test("was not said where one word of it, or its audit line, cannot be written", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.returned()
      const change = await saved(scene, pass)
      const before = await scene.traces(pass)
      const input = told(scene, pass)
      const halved = [verdict(), verdict({ path: null as never })]
      await expect(store.review(change.change_id, halved, input)).rejects.toThrow()
      const unsigned = { ...input, note: { ...input.note, actor: "" } }
      await expect(store.review(change.change_id, [verdict()], unsigned)).rejects.toThrow()
      await expect(store.review(scene.ids.make("chg"), [verdict()], input)).rejects.toThrow()
      expect(await store.verdicts(change.change_id)).toEqual([])
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("is repeated of the change that was made from it, behind what was said there, and nobody is told", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.returned()
      const from = await saved(scene, pass)
      const made = await saved(scene, pass, { from_change_id: from.change_id, origin: "merged" })
      const said = [verdict({ reason: "fine" }), verdict({ path: "b.ts", hunk: 1, accepted: false })]
      await store.review(from.change_id, said, told(scene, pass))
      await store.review(made.change_id, [verdict({ actor: "bob" })], told(scene, pass))
      const before = await scene.traces(pass)
      await store.repeat(made.change_id, await store.verdicts(from.change_id))
      expect(await store.verdicts(made.change_id)).toEqual([verdict({ actor: "bob" }), ...said])
      expect(await store.verdicts(from.change_id)).toEqual(said)
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("is repeated whole or not at all, and of no change that is not there", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change_id } = await saved(scene, await scene.returned())
      await expect(store.repeat(change_id, [verdict(), verdict({ path: null as never })])).rejects.toThrow()
      expect(await store.verdicts(change_id)).toEqual([])
      const nowhere = scene.ids.make("chg")
      await expect(store.repeat(nowhere, [verdict()])).rejects.toThrow()
      expect(await store.verdicts(nowhere)).toEqual([])
    })
  })
}
