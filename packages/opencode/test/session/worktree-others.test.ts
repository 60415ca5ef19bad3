import { expect, test } from "bun:test"
import { renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { createChangeWorld } from "../pass-over/support/change"
import { git, repository, treesOf } from "../pass-over/support/trees"

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
