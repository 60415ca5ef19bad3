import { describe, expect, test } from "bun:test"
import type { Worktree } from "../../../../src/pass-over/service/port-change"
import { applicationOf, changeOf, createScene, type Scene, type Setup } from "./scene"

export const treeOf = (scene: Pick<Scene, "ids" | "clock">, more: Partial<Worktree> = {}): Worktree => ({
  directory: "/trees/1",
  project: "/project",
  kind: "git",
  owner_id: scene.ids.make("own"),
  pass_over_id: scene.ids.pass(),
  collected: false,
  time_used: scene.clock.now(),
  ...more,
})

const taken = async (scene: Scene, more: Partial<Worktree> = {}) => {
  const tree = treeOf(scene, more)
  expect(await scene.store.takeWorktree(tree, null)).toBe(true)
  return tree
}

/** An intent to write into a tree of ours. */
const intent = async (scene: Scene, { directory }: Worktree) => {
  const change = changeOf(scene, await scene.returned())
  await scene.store.saveChange(change)
  return applicationOf(scene, change, { directory })
}

function takeContract(setup: Setup) {
  describe("a tree of ours", () => {
    test("is known by its directory, and found by its project", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const tree = await taken(scene)
      const other = await taken(scene, { directory: "/trees/2", project: "/other", kind: "copy", pass_over_id: null })
      expect((await store.worktrees()).toSorted((a, b) => (a.directory < b.directory ? -1 : 1))).toEqual([tree, other])
      expect(await store.worktrees("/project")).toEqual([tree])
      expect(await store.worktrees("/nowhere")).toEqual([])
    })

    test("is made by one: whoever comes second is told so, and changes nothing", async () => {
      await using scene = await createScene(setup)
      const tree = await taken(scene)
      expect(await scene.store.takeWorktree(treeOf(scene), null)).toBe(false)
      expect(await scene.store.worktrees()).toEqual([tree])
    })

    test("is taken from another as it was seen, and not when it has changed since", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      const tree = await taken(scene)
      const stale: Partial<Worktree>[] = [
        { owner_id: scene.ids.make("own") },
        { pass_over_id: scene.ids.pass() },
        { pass_over_id: null },
        { time_used: tree.time_used - 1 },
      ]
      const next = { ...tree, owner_id: scene.ids.make("own"), pass_over_id: null, time_used: clock.now() + 5 }
      for (const more of stale) expect(await store.takeWorktree(next, { ...tree, ...more })).toBe(false)
      expect(await store.takeWorktree({ ...next, directory: "/trees/2" }, tree)).toBe(false)
      expect(await store.worktrees()).toEqual([tree])
      expect(await store.takeWorktree(next, tree)).toBe(true)
      expect(await store.worktrees()).toEqual([next])
      expect(await store.takeWorktree({ ...next, kind: "copy" }, tree)).toBe(false)
      // One that stands empty is taken in the same way.
      const again = { ...next, pass_over_id: scene.ids.pass() }
      expect(await store.takeWorktree(again, next)).toBe(true)
      expect(await store.takeWorktree(again, next)).toBe(false)
      expect(await store.worktrees()).toEqual([again])
    })

    test("is dropped, and may be made again", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const tree = await taken(scene)
      const other = await taken(scene, { directory: "/trees/2" })
      for (const _twice of [1, 2]) await store.dropWorktree(tree.directory)
      expect(await store.worktrees()).toEqual([other])
      expect(await store.takeWorktree({ ...tree, time_used: 1 }, tree)).toBe(false)
      expect(await store.takeWorktree(tree, null)).toBe(true)
    })
  })
}

export function treeContract(setup: Setup) {
  takeContract(setup)

  describe("a tree that was read", () => {
    test("is written into no more for as long as it is that pass's, and is open to the next", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const tree = await taken(scene)
      const of = { directory: tree.directory, pass_over_id: tree.pass_over_id! }
      const [first, late] = [await intent(scene, tree), await intent(scene, tree)]
      expect(await store.intend(first, of)).toBe("ok")
      await store.endApply({ apply_id: first.apply_id, status: "done", problem: null, at: 1 })
      await store.closeWorktree(of)
      const closed = { ...tree, collected: true }
      expect(await store.worktrees()).toEqual([closed])
      expect(await store.intend(late, of)).toBe("closed")
      expect(await store.application(late.apply_id)).toBeUndefined()
      const next = { ...tree, pass_over_id: scene.ids.pass() }
      expect(await store.takeWorktree(next, closed)).toBe(true)
      expect(await store.intend(late, of)).toBe("closed")
      expect(await store.intend(late, { ...of, pass_over_id: next.pass_over_id })).toBe("ok")
    })

    test("is closed by the pass that works in it, and by no other", async () => {
      await using scene = await createScene(setup)
      const tree = await taken(scene)
      const idle = await taken(scene, { directory: "/trees/2", pass_over_id: null })
      for (const { directory } of [tree, idle])
        await scene.store.closeWorktree({ directory, pass_over_id: scene.ids.pass() })
      const trees = await scene.store.worktrees()
      expect(trees.toSorted((a, b) => (a.directory < b.directory ? -1 : 1))).toEqual([tree, idle])
    })

    test("or is gone, or another pass's, takes nothing in", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const tree = await taken(scene)
      const late = await intent(scene, tree)
      const { directory } = tree
      const pass_over_id = tree.pass_over_id!
      expect(await store.intend(late, { directory, pass_over_id: scene.ids.pass() })).toBe("closed")
      expect(await store.intend(late, { directory: "/trees/2", pass_over_id })).toBe("closed")
      await store.dropWorktree(directory)
      expect(await store.intend(late, { directory, pass_over_id })).toBe("closed")
      expect(await store.pending()).toEqual([])
    })
  })
}
