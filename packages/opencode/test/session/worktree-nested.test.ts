import { describe, expect, test } from "bun:test"
import { existsSync, lstatSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { event, type Pass } from "../../src/pass-over/domain/pass"
import { keep } from "../../src/pass-over/service/change/blob"
import { treeOf } from "../../src/pass-over/service/change/target"
import type { Workspace } from "../../src/pass-over/service/port-workspace"
import { createWorkspaces } from "../../src/session/worktree"
import { createChangeWorld, type ChangeWorld } from "../pass-over/support/change"
import { git, put, read } from "../pass-over/support/nested"
import { accepted } from "../pass-over/support/world"

const pool = (world: ChangeWorld, more: { directory?: string; gone?: boolean; owner?: `own_${string}` } = {}) =>
  createWorkspaces({
    store: world.store,
    log: () => {},
    owner_id: more.owner ?? world.deps.owner_id,
    now: () => world.clock.now(),
    folder: world.folder.at("trees"),
    directory: more.directory ?? world.project,
    version: "1.18.33",
    keep: (contents) => keep(world.deps, contents),
    gone: async () => more.gone ?? false,
    boot: async () => {},
    busy: () => true,
    dispose: async () => {},
  })

function repository(world: ChangeWorld) {
  git(world.project, "init", "-q")
  world.put(".gitignore", "node_modules/\n*.log\n")
  world.put("src/a.txt", "a\n")
  world.put("sub/b.txt", "b\n")
  world.put("sub/deep/c.txt", "c\n")
  world.put(".opencode/agent/own.md", "mine\n")
  world.put("opencode.json", "{}\n")
  git(world.project, "add", "-A")
  git(world.project, "commit", "-qm", "one")
}

/** A pass whose child is at work, and one that this child has made. */
async function two(world: ChangeWorld, session_id = "ses_middle") {
  const id = world.ids.pass()
  const fresh: Pass = { ...world.pass, id, trace_id: id, call_id: `call_${id}`, status: "initial", revision: 0 }
  const { pass: opened } = accepted(await world.store.open(world.opening(fresh)))
  const attempt = { ...world.attempt(opened), child_session_id: session_id }
  const middle = await world.store.bind({ pass: opened, attempt, event: event(opened, "pass.attempt", 1) })
  if (middle === "stale") throw new Error("stale")
  const nested: Pass = { ...world.pass, id: world.ids.pass(), parent_pass_id: middle.id, session_id }
  return { middle, nested }
}

const topOf = (directory: string, below: string) => (below === "" ? directory : directory.slice(0, -below.length - 1))

const left = (world: ChangeWorld) =>
  readdirSync(world.folder.at("trees"), { recursive: true }).filter((path) => String(path).includes("tree-"))

describe.each([
  ["at the top", ""],
  ["below the top", "sub"],
] as const)("opened %s", (_, below) => {
  test("a nested tree starts as the one above it is, and is none of its work", async () => {
    using world = await createChangeWorld()
    repository(world)
    world.put("node_modules/dep/index.js", "1\n")
    const trees = pool(world, { directory: join(world.project, below) })
    const { middle, nested } = await two(world)
    const above = await trees.take(middle)
    const top = topOf(above.directory, below)
    put(top, "src/a.txt", "changed above\n")
    put(top, "sub/new.txt", "untracked\n")
    put(top, "build.log", "ignored\n")
    rmSync(join(top, "sub/b.txt"))
    git(top, "commit", "-qam", "two")
    // By now the user has gone on, which is nothing to either.
    world.put("sub/later.txt", "later\n")
    const inside = trees.inside(above.directory)
    const own = await inside.take(nested)
    expect(own).toMatchObject({
      instead_of: above.directory,
      project: join(world.project, below),
      linked: ["node_modules"],
    })
    const root = topOf(own.directory, below)
    const at = (path: string) => read(root, path)
    expect([at("src/a.txt"), at("sub/new.txt"), at("build.log"), at("sub/b.txt"), at("sub/later.txt")]).toEqual([
      "changed above\n",
      "untracked\n",
      undefined,
      undefined,
      undefined,
    ])
    expect([at("node_modules/dep/index.js"), lstatSync(join(root, "node_modules")).isSymbolicLink()]).toEqual([
      "1\n",
      true,
    ])
    expect(git(root, "log", "--format=%s")).toBe("two\none\n")
    expect(git(root, "status", "--short")).toBe(git(top, "status", "--short"))
    expect(git(root, "status", "--short")).toContain("?? sub/new.txt\n")
    expect((await inside.collect(own)).files).toEqual([])
    put(own.directory, "mine.txt", "mine\n")
    const { files, notes } = await inside.collect(own)
    expect(files.map(({ path, old }) => [path, old])).toEqual([["mine.txt", null]])
    expect(notes).toEqual(["linked from the project: node_modules"])
    expect(existsSync(join(above.directory, "mine.txt"))).toBe(false)
    await inside.release(own)
    const { files: theirs, shared } = await trees.collect(above)
    expect(shared).toBe(true)
    expect(theirs.map(({ path }) => path)).not.toContain(join(below ? ".." : "", "mine.txt"))
    await trees.release(above)
    await trees.close()
    expect(left(world)).toEqual([])
    expect(git(world.project, "worktree", "list").trim().split("\n")).toHaveLength(1)
  })
})

test("what the one above has put where opencode and git look for programs does not go along", async () => {
  using world = await createChangeWorld()
  repository(world)
  const trees = pool(world)
  const { middle, nested } = await two(world)
  const { directory } = await trees.take(middle)
  put(directory, ".opencode/plugins/evil.ts", "evil\n")
  put(directory, ".opencode/agent/own.md", "evil\n")
  put(directory, "opencode.json", `{"plugin":["./evil.ts"]}\n`)
  put(directory, "sub/deep/.OpenCode/plugins/evil.ts", "evil\n")
  put(directory, "tui.json", "{}\n")
  put(directory, "evil.ts", "plain\n")
  const inside = trees.inside(directory)
  const own = await inside.take(nested)
  const seen = [
    ".opencode/plugins/evil.ts",
    ".opencode/agent/own.md",
    "opencode.json",
    "sub/deep/.OpenCode/plugins/evil.ts",
    "tui.json",
    "evil.ts",
  ].map((path) => read(own.directory, path))
  expect(seen).toEqual([undefined, "mine\n", "{}\n", undefined, undefined, "plain\n"])
  // None of that is the nested child's doing.
  expect((await inside.collect(own)).files).toEqual([])
  // Also where a folder of it became a link, and where the whole of it did.
  await inside.release(own)
  rmSync(join(directory, ".opencode"), { recursive: true })
  symlinkSync("/etc", join(directory, ".opencode"))
  const again = await inside.take(nested)
  expect([
    lstatSync(join(again.directory, ".opencode")).isSymbolicLink(),
    read(again.directory, ".opencode/agent/own.md"),
  ]).toEqual([false, "mine\n"])
  expect((await inside.collect(again)).files).toEqual([])
  await trees.close()
})

test("no link that the one above has made leads what is made ready out of the tree", async () => {
  using world = await createChangeWorld()
  repository(world)
  world.put("sub/deep/node_modules/dep/index.js", "1\n")
  put(world.folder.at("victim"), "here.txt", "here\n")
  const trees = pool(world)
  const { middle, nested } = await two(world)
  const { directory } = await trees.take(middle)
  rmSync(join(directory, "sub/deep"), { recursive: true })
  symlinkSync(world.folder.at("victim"), join(directory, "sub/deep"))
  const own = await trees.inside(directory).take(nested)
  expect(lstatSync(join(own.directory, "sub/deep")).isSymbolicLink()).toBe(true)
  expect(own.linked).toEqual([])
  expect(readdirSync(world.folder.at("victim"))).toEqual(["here.txt"])
  // What git knows of a tree lies where git keeps it, whatever the tree itself says.
  put(directory, ".git", `gitdir: ${world.project}/.git\n`)
  await trees.release({ directory } as Workspace)
  const head = read(world.project, ".git/HEAD")
  world.clock.advance(1)
  await trees.take(middle)
  expect(read(world.project, ".git/HEAD")).toBe(head)
  await trees.close()
})

test("a tree that is not its originator's any more is nothing to be made of: then it is the project", async () => {
  using world = await createChangeWorld()
  repository(world)
  const trees = pool(world)
  const { middle, nested } = await two(world)
  const above = await trees.take(middle)
  put(above.directory, "src/a.txt", "changed above\n")
  const stranger = { ...nested, parent_pass_id: null, session_id: "ses_other" }
  const own = await trees.inside(above.directory).take(stranger)
  expect([own.instead_of, own.project, read(own.directory, "src/a.txt")]).toEqual([world.project, undefined, "a\n"])
  // Once it is read, the same holds for its own.
  await trees.collect(above)
  const late = await trees.inside(above.directory).take(nested)
  expect([late.instead_of, read(late.directory, "src/a.txt")]).toEqual([world.project, "a\n"])
  await trees.close()
})

test("several at once are made of one that is being written, each with its own work", async () => {
  using world = await createChangeWorld()
  repository(world)
  const trees = pool(world)
  const { middle, nested } = await two(world)
  const { directory } = await trees.take(middle)
  const inside = trees.inside(directory)
  put(directory, "src/a.txt", "above\n")
  const own = await Promise.all([1, 2, 3].map(() => inside.take({ ...nested, id: world.ids.pass() })))
  expect(new Set(own.map((one) => one.directory)).size).toBe(3)
  for (const [at, one] of own.entries()) put(one.directory, "src/a.txt", `above\n${at}\n`)
  const collecting = Promise.all(own.map((one) => inside.collect(one)))
  const snapshots = await Promise.all(Array.from({ length: 8 }, () => inside.snapshot()))
  expect(new Set(snapshots).size).toBe(1)
  const collected = await collecting
  expect(collected.map(({ files }) => files.map(({ path }) => path))).toEqual([
    ["src/a.txt"],
    ["src/a.txt"],
    ["src/a.txt"],
  ])
  expect(read(directory, "src/a.txt")).toBe("above\n")
  await trees.release({ directory } as Workspace)
  await trees.close()
  expect(left(world)).toEqual([])
})

test("after a crash what was done in both is read, and both go", async () => {
  using world = await createChangeWorld()
  repository(world)
  const trees = pool(world)
  const { middle, nested } = await two(world)
  const above = await trees.take(middle)
  put(above.directory, "above.txt", "above\n")
  const own = await trees.inside(above.directory).take(nested, false)
  put(own.directory, "below.txt", "below\n")
  const heir = pool(world, { owner: world.ids.make("own"), gone: true })
  const found = await heir.left(nested.id)
  // What it was made of went with its process: from now on it is for the project.
  expect([found?.instead_of, found?.project]).toEqual([world.project, undefined])
  const other = await heir.left(middle.id)
  // What is read of the one above by then is all: nobody begins to write there.
  const root = (await world.store.worktrees()).find(({ pass_over_id }) => pass_over_id === middle.id)
  expect([root?.collected, await treeOf(world.store, nested, above.directory)]).toEqual([true, undefined])
  const told = await heir.collect(found!)
  expect([told.files, told.notes]).toEqual([[], ["it may not change files; discarded: below.txt"]])
  expect((await heir.collect(other!)).files.map(({ path }) => path)).toEqual(["above.txt"])
  for (const one of [found, other]) await heir.release(one!)
  await heir.sweep()
  await heir.close()
  expect(left(world)).toEqual([])
  expect(git(world.project, "worktree", "list").trim().split("\n")).toHaveLength(1)
})
