import { describe, expect, test } from "bun:test"
import { event, note, type Pass } from "../../../../src/pass-over/domain/pass"
import type { Application, Ended, Told } from "../../../../src/pass-over/service/port-change"
import { applicationOf, changeOf, createScene, type Scene, type Setup } from "./scene"

const changed = async (scene: Scene, overrides: Partial<Pass> = {}) => {
  const pass = await scene.returned(overrides)
  const change = changeOf(scene, pass)
  await scene.store.saveChange(change)
  return { pass, change }
}

const end = (scene: Scene, { apply_id }: Application, more: Partial<Ended> = {}) =>
  scene.store.endApply({ apply_id, status: "done", problem: null, at: scene.clock.now(), ...more })

/** Something that was applied. */
const applied = async (scene: Scene) => {
  const made = await changed(scene)
  const application = applicationOf(scene, made.change)
  expect(await scene.store.intend(application)).toBe("ok")
  expect(await end(scene, application)).toBe(true)
  return { ...made, application }
}

const undoOf = (scene: Scene, of: Application): Application => ({
  ...of,
  apply_id: scene.ids.make("apl"),
  kind: "undo",
  undoes: of.apply_id,
  status: "pending",
  time_done: null,
})

const told = (scene: Scene, pass: Pass): Told => {
  const at = scene.clock.now()
  return { note: note(pass, { action: "applied", actor: "ada", at }), event: event(pass, "pass.applied", at) }
}

const status = async (scene: Scene, { apply_id }: Application) => (await scene.store.application(apply_id))?.status

function intendContract(setup: Setup) {
  describe("an intent to write into a tree", () => {
    test("is there before the first byte of it, and is found by itself, by its pass, by its tree, and as not ended", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass, change } = await changed(scene)
      const ops = [{ path: "a.ts", before: null, after: change.files[0]!.new, from: "b.ts", rights: 0o600 }]
      const intent = applicationOf(scene, change, { ops })
      expect(await store.intend(intent)).toBe("ok")
      expect(await store.application(intent.apply_id)).toEqual(intent)
      expect(await store.pending()).toEqual([intent])
      expect(await store.applications({ pass_over_id: pass.id })).toEqual([intent])
      expect(await store.applications({ directory: "/project" })).toEqual([intent])
      expect(await store.applications({ pass_over_id: pass.id, directory: "/elsewhere" })).toEqual([])
      expect(await store.applications({ pass_over_id: scene.ids.pass() })).toEqual([])
      expect(await store.application(scene.ids.make("apl"))).toBeUndefined()
    })

    test("waits for the one that is under way in its tree, and for none of another", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change } = await changed(scene)
      const [first, second] = [applicationOf(scene, change), applicationOf(scene, change)]
      const elsewhere = applicationOf(scene, change, { directory: "/elsewhere" })
      await store.intend(first)
      expect(await store.intend(second)).toBe("busy")
      expect(await store.application(second.apply_id)).toBeUndefined()
      expect(await store.intend(elsewhere)).toBe("ok")
      expect(await store.pending()).toEqual([first, elsewhere])
      await end(scene, first, { status: "not_applied", problem: "the disk is full" })
      expect(await store.intend(second)).toBe("ok")
    })

    test("is one of many that come at once", async () => {
      await using scene = await createScene(setup)
      const { change } = await changed(scene)
      const all = await Promise.all(Array.from({ length: 8 }, () => scene.store.intend(applicationOf(scene, change))))
      expect(all.filter((each) => each === "ok")).toHaveLength(1)
      expect(all.filter((each) => each === "busy")).toHaveLength(7)
      expect(await scene.store.pending()).toHaveLength(1)
    })

    test("of a change that nobody knows is none", async () => {
      await using scene = await createScene(setup)
      const intent = applicationOf(scene, changeOf(scene, await scene.returned()))
      await expect(scene.store.intend(intent)).rejects.toThrow()
      expect(await scene.store.pending()).toEqual([])
    })

    test("is taken over by one of those who see that its process is gone, and by none when it has ended", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change } = await changed(scene)
      const intent = applicationOf(scene, change)
      await store.intend(intent)
      const { apply_id, owner_id: from } = intent
      const [second, third] = [scene.ids.make("own"), scene.ids.make("own")]
      expect(await store.takeApply({ apply_id, from: third, owner_id: second })).toBe(false)
      expect(await store.takeApply({ apply_id, from, owner_id: second })).toBe(true)
      expect(await store.takeApply({ apply_id, from, owner_id: third })).toBe(false)
      expect(await store.pending()).toEqual([{ ...intent, owner_id: second }])
      await end(scene, intent)
      expect(await store.takeApply({ apply_id, from: second, owner_id: third })).toBe(false)
      expect(await store.application(apply_id)).toMatchObject({ owner_id: second })
      expect(await store.takeApply({ apply_id: scene.ids.make("apl"), from, owner_id: third })).toBe(false)
    })
  })

  describe("applications", () => {
    test("come with the newest first, as many as are asked for", async () => {
      await using scene = await createScene(setup)
      const { pass, change } = await changed(scene)
      const made = [1, 2, 3].map(() => applicationOf(scene, change, { status: "done", time_done: 1 }))
      for (const application of [made[1]!, made[2]!, made[0]!]) await scene.store.recordApplied(application)
      expect(await scene.store.applications({ pass_over_id: pass.id })).toEqual(made.toReversed())
      expect(await scene.store.applications({ directory: "/project", limit: 2 })).toEqual([made[2]!, made[1]!])
    })
  })
}

function endContract(setup: Setup) {
  describe("the end of an intent", () => {
    test("is what became of it, once", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change } = await changed(scene)
      const intent = applicationOf(scene, change)
      await store.intend(intent)
      const at = scene.clock.now() + 5
      expect(await end(scene, intent, { status: "not_applied", problem: "the disk is full", at })).toBe(true)
      const ended = { ...intent, status: "not_applied" as const, problem: "the disk is full", time_done: at }
      expect(await store.application(intent.apply_id)).toEqual(ended)
      expect(await store.pending()).toEqual([])
      expect(await end(scene, intent)).toBe(false)
      expect(await store.application(intent.apply_id)).toEqual(ended)
      expect(await end(scene, applicationOf(scene, change))).toBe(false)
    })

    test("says in the outcome of its pass what was applied and by whom, and takes that back with it", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass, change } = await changed(scene)
      const before = (await store.outcome(pass.id))!.output.metadata
      const intent = applicationOf(scene, change)
      await store.intend(intent)
      const metadata = { applied: true, applied_at: 7, applied_by: "ada" }
      const input = told(scene, pass)
      await end(scene, intent, { metadata, told: input })
      expect((await store.outcome(pass.id))?.output.metadata).toEqual({ ...before, ...metadata })
      expect((await scene.lines()).at(-1)).toMatchObject({ action: "applied", pass_over_id: pass.id })
      expect((await scene.events()).at(-1)).toEqual(input.event)
      const undo = undoOf(scene, { ...intent, status: "done" })
      await store.intend(undo)
      await end(scene, undo, { metadata: { applied: false } })
      expect((await store.outcome(pass.id))?.output.metadata).toEqual(before)
    })

    test("that is told a second time is told to nobody", async () => {
      await using scene = await createScene(setup)
      const { pass, application } = await applied(scene)
      const before = await scene.traces(pass)
      const more = { told: told(scene, pass), metadata: { applied: true } }
      expect(await end(scene, application, more)).toBe(false)
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("is none where its audit line cannot be written: what was undone by it stands too", async () => {
      await using scene = await createScene(setup)
      const { pass, application } = await applied(scene)
      const undo = undoOf(scene, application)
      await scene.store.intend(undo)
      const before = await scene.traces(pass)
      const input = told(scene, pass)
      const unsigned = { told: { ...input, note: { ...input.note, actor: "" } }, metadata: { applied: true } }
      await expect(end(scene, undo, unsigned)).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
      expect([await status(scene, undo), await status(scene, application)]).toEqual(["pending", "done"])
      expect(await end(scene, undo, { ...unsigned, told: input })).toBe(true)
    })
  })

  describe("a check of what was applied", () => {
    test("is written down beside it, the last one", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { application } = await applied(scene)
      const other = await applied(scene)
      const before = await store.application(application.apply_id)
      const verification = { command: "make test", exit_code: 1, output: "no", duration_ms: 12 }
      await store.verified(application.apply_id, verification)
      expect(await store.application(application.apply_id)).toEqual({ ...before!, verification })
      const again = { ...verification, exit_code: null }
      await store.verified(application.apply_id, again)
      expect(await store.application(application.apply_id)).toEqual({ ...before!, verification: again })
      expect((await store.application(other.application.apply_id))?.verification).toBeNull()
    })
  })
}

export function applyContract(setup: Setup) {
  intendContract(setup)
  endContract(setup)

  describe("an undo", () => {
    test("takes back what was applied, when it is done and not before, and can be taken back itself", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { application } = await applied(scene)
      const undo = undoOf(scene, application)
      expect(await store.intend(undo)).toBe("ok")
      expect(await status(scene, application)).toBe("done")
      await end(scene, undo)
      expect([await status(scene, application), await status(scene, undo)]).toEqual(["undone", "done"])
      expect(await store.intend(undoOf(scene, application))).toBe("undone")
      const back = undoOf(scene, undo)
      expect(await store.intend(back)).toBe("ok")
      await end(scene, back)
      expect([await status(scene, undo), await status(scene, back)]).toEqual(["undone", "done"])
      expect(await store.intend(undoOf(scene, back))).toBe("ok")
    })

    test("that came to nothing leaves what was applied as it is, to be taken back by another", async () => {
      await using scene = await createScene(setup)
      const { application } = await applied(scene)
      const undo = undoOf(scene, application)
      await scene.store.intend(undo)
      await end(scene, undo, { status: "not_applied", problem: "somebody has changed it since" })
      expect(await status(scene, application)).toBe("done")
      const again = undoOf(scene, application)
      expect(await scene.store.intend(again)).toBe("ok")
      expect(await end(scene, again)).toBe(true)
    })

    test("of what was never applied is none", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change } = await changed(scene)
      const intent = applicationOf(scene, change)
      await store.intend(intent)
      await end(scene, intent, { status: "not_applied", problem: "no" })
      for (const of of [intent, applicationOf(scene, change)]) {
        const undo = undoOf(scene, of)
        expect(await store.intend(undo)).toBe("undone")
        expect(await store.application(undo.apply_id)).toBeUndefined()
      }
    })
  })

  describe("what a child has written itself", () => {
    test("is recorded as applied, whatever is under way in its tree, and can be taken back like the rest", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { change } = await changed(scene)
      const intent = applicationOf(scene, change)
      await store.intend(intent)
      const written = applicationOf(scene, change, { status: "done", time_done: scene.clock.now() })
      await store.recordApplied(written)
      expect(await store.application(written.apply_id)).toEqual(written)
      expect(await store.pending()).toEqual([intent])
      await expect(store.recordApplied({ ...written, actor: "bob" })).rejects.toThrow()
      expect(await store.application(written.apply_id)).toEqual(written)
      await end(scene, intent)
      const undo = undoOf(scene, written)
      expect(await store.intend(undo)).toBe("ok")
      await end(scene, undo)
      expect(await status(scene, written)).toBe("undone")
    })
  })
}
