import { describe, expect, test } from "bun:test"
import { PassOverError } from "../../../../src/pass-over/domain/errors"
import type { PreferenceKey } from "../../../../src/pass-over/domain/preference-edit"
import type { PutPreference } from "../../../../src/pass-over/service/port-preference"
import { createScene, type Setup } from "./scene"

const PAIR: PreferenceKey = { level: "pair", from: "alice", to: "audit" }
const SUBAGENT: PreferenceKey = { level: "subagent", subagent: "audit" }
const DEFAULTS: PreferenceKey = { level: "defaults" }

const put = (
  key: PreferenceKey,
  settings: PutPreference["settings"],
  more: Partial<PutPreference> = {},
): PutPreference => ({
  directory: "/project",
  key,
  before: {},
  settings,
  actor: "ada",
  at: 1_000,
  ...more,
})

export function preferenceContract(setup: Setup) {
  describe("preferences", () => {
    test("of all levels are read back as they were put, with their history", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      expect(await store.putPreference(put(PAIR, { timeout_ms: 5, constraints: ["x"] }))).toBe("written")
      expect(await store.putPreference(put(SUBAGENT, { can_modify_files: false }))).toBe("written")
      expect(await store.putPreference(put(DEFAULTS, { timeout_ms: 7, notify_on_return: "never" }))).toBe("written")
      expect(await store.preferences("/project")).toEqual({
        defaults: { timeout_ms: 7, notify_on_return: "never" },
        pairs: { "alice->audit": { timeout_ms: 5, constraints: ["x"] } },
        subagents: { audit: { can_modify_files: false } },
      })
      expect(await store.listPreferences("/project")).toEqual([
        {
          key: DEFAULTS,
          settings: { timeout_ms: 7, notify_on_return: "never" },
          created_at: 1_000,
          updated_at: 1_000,
          updated_by: "ada",
        },
        {
          key: PAIR,
          settings: { timeout_ms: 5, constraints: ["x"] },
          created_at: 1_000,
          updated_at: 1_000,
          updated_by: "ada",
        },
        {
          key: SUBAGENT,
          settings: { can_modify_files: false },
          created_at: 1_000,
          updated_at: 1_000,
          updated_by: "ada",
        },
      ])
    })

    test("belong to one project", async () => {
      await using scene = await createScene(setup)
      await scene.store.putPreference(put(PAIR, { timeout_ms: 5 }))
      expect(await scene.store.preferences("/other")).toEqual({})
      expect(await scene.store.deletePreference({ directory: "/other", key: PAIR })).toBe(false)
      expect(await scene.store.listPreferences("/project")).toHaveLength(1)
    })

    for (const key of [PAIR, SUBAGENT, DEFAULTS]) {
      const [one, other] =
        key.level === "subagent" ? [{ max_memory_mb: 1 }, { max_memory_mb: 2 }] : [{ timeout_ms: 1 }, { timeout_ms: 2 }]

      test(`of a ${key.level} that changed meanwhile are not overwritten`, async () => {
        await using scene = await createScene(setup)
        const { store } = scene
        await store.putPreference(put(key, one))
        expect(await store.putPreference(put(key, other, { actor: "bob" }))).toBe("stale")
        expect((await store.listPreferences("/project"))[0]).toMatchObject({ settings: one, updated_by: "ada" })
        expect(await store.putPreference(put(key, other, { before: one, actor: "bob", at: 2_000 }))).toBe("written")
        expect((await store.listPreferences("/project"))[0]).toMatchObject({
          settings: other,
          updated_by: "bob",
          updated_at: 2_000,
        })
      })

      test(`of a ${key.level} that are empty, or taken away, are none`, async () => {
        await using scene = await createScene(setup)
        const { store } = scene
        await store.putPreference(put(key, one))
        await store.putPreference(put(key, {}, { before: one }))
        expect(await store.listPreferences("/project")).toEqual([])
        await store.putPreference(put(key, one))
        expect(await store.deletePreference({ directory: "/project", key })).toBe(true)
        expect(await store.deletePreference({ directory: "/project", key })).toBe(false)
        expect(await store.preferences("/project")).toEqual({})
      })
    }

    test("that this version does not know are a refusal that says so, and can still be listed and taken away", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      await store.putPreference(put(PAIR, { from_the_future: 1 }))
      const error = await store.preferences("/project").catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(PassOverError)
      expect(error).toMatchObject({ code: "E030", message: expect.stringContaining("from_the_future") })
      expect(await store.listPreferences("/project")).toHaveLength(1)
      await store.deletePreference({ directory: "/project", key: PAIR })
      expect(await store.preferences("/project")).toEqual({})
    })
  })

  describe("looking a pass up", () => {
    test("by the beginning or the end of its id, the newest first, and by nothing else", async () => {
      await using scene = await createScene(setup)
      const [first, second] = [await scene.opened(), await scene.opened()]
      const { store } = scene
      const ids = async (text: string) => (await store.lookup(text, 10)).map((pass) => pass.id)
      expect(await ids(first.id)).toEqual([first.id])
      expect(await ids(first.id.slice(-8).toUpperCase())).toEqual([first.id])
      expect(await ids(first.id.slice(0, 8))).toEqual([second.id, first.id])
      for (const text of ["", "%", "_", "' or 1=1 --", "zzz"]) expect(await ids(text)).toEqual([])
      expect(await store.lookup(first.id.slice(0, 8), 1)).toHaveLength(1)
    })
  })
}
