import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { basename, join } from "node:path"
import type { Workspace } from "../../src/pass-over/service/port-workspace"
import { createChangeWorld, type ChangeWorld } from "../pass-over/support/change"
import { git, heirOf, repository, treesOf } from "../pass-over/support/trees"

test("a tree that is swept is given to nobody meanwhile", async () => {
  using world = await createChangeWorld()
  repository(world)
  const dead = treesOf(world)
  await dead.release(await dead.take(world.pass))
  const taking = Promise.withResolvers<Workspace>()
  const store: ChangeWorld["store"] = {
    ...world.store,
    async takeWorktree(row, from) {
      const taken = await world.store.takeWorktree(row, from)
      if (row.pass_over_id !== null || from === null) return taken
      // Just now a pass begins here, and finds an empty tree of this process.
      taking.resolve(heir.take(world.pass))
      await Bun.sleep(50)
      return taken
    },
  }
  const heir = heirOf({ ...world, store })
  await heir.snapshot()
  await heir.sweep()
  const { directory } = await taking.promise
  expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe("a\n")
  expect((await world.store.worktrees()).map((row) => [row.directory, row.pass_over_id])).toEqual([
    [directory, world.pass.id],
  ])
  await heir.close()
})

test("worktrees of the user's own are not forgotten while they are away", async () => {
  using world = await createChangeWorld()
  repository(world)
  const own = world.folder.at("drive")
  git(world.project, "worktree", "add", "-q", "--detach", own)
  renameSync(own, `${own}.away`)
  const workspaces = treesOf(world)
  const workspace = await workspaces.take(world.pass)
  // Git does not take it for its worktree any more, and lets go of it all the same.
  rmSync(join(workspace.directory, ".git"))
  await workspaces.release(workspace)
  await workspaces.close()
  renameSync(`${own}.away`, own)
  expect(git(own, "status", "--short")).toBe("")
  expect(git(world.project, "worktree", "list").trim().split("\n")).toHaveLength(2)
})

type Locking = (tree: string) => void

const locked = (folder: string, mode: number): Locking => {
  return (tree) => {
    mkdirSync(join(tree, folder), { recursive: true })
    writeFileSync(join(tree, folder, "made.js"), "made\n")
    chmodSync(join(tree, folder), mode)
  }
}

// Nothing is locked to root.
describe.skipIf(process.getuid?.() === 0)("a folder that a child has locked", () => {
  test.each<[string, Locking]>([
    ["and that was photographed", locked("cache/mod", 0o555)],
    ["and that nobody can look into", locked("dist", 0o000)],
    ["and that is the project's", (tree) => chmodSync(join(tree, "src"), 0o555)],
  ])("%s is nothing to the next child", async (_name, lock) => {
    using world = await createChangeWorld()
    repository(world, { "src/a.txt": "a\n" })
    const workspaces = treesOf(world)
    const first = await workspaces.take(world.pass)
    lock(first.directory)
    await workspaces.collect(first)
    await workspaces.release(first)
    world.put("src/a.txt", "later\n")
    const second = await workspaces.take({ ...world.pass, id: world.ids.pass() })
    expect(readdirSync(second.directory).toSorted()).toEqual([".git", "src"])
    expect(readFileSync(join(second.directory, "src/a.txt"), "utf8")).toBe("later\n")
    expect((await workspaces.collect(second)).files).toEqual([])
    lock(second.directory)
    await workspaces.close()
    expect(existsSync(second.directory)).toBe(false)
  })
})

test.each([
  ["beside it", (dot: string) => `../${basename(dot)}`],
  ["anywhere", (dot: string) => dot],
])("settings that the project has as a link to a folder %s are there, and nothing is written there", async (_n, to) => {
  using world = await createChangeWorld()
  const dot = world.folder.at("dot")
  mkdirSync(join(dot, "agent"), { recursive: true })
  writeFileSync(join(dot, "agent/ada.md"), "ada\n")
  symlinkSync(to(dot), join(world.project, ".opencode"))
  repository(world)
  const workspaces = treesOf(world)
  const workspace = await workspaces.take(world.pass)
  expect(readFileSync(join(workspace.directory, ".opencode/agent/ada.md"), "utf8")).toBe("ada\n")
  expect(await workspaces.collect(workspace)).toMatchObject({ files: [], notes: [] })
  await workspaces.release(workspace)
  await workspaces.close()
  expect(readdirSync(dot, { recursive: true, encoding: "utf8" }).toSorted()).toEqual(["agent", "agent/ada.md"])
})
