import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { localised } from "../../src/pass-over/service/change/place"
import { createChangeWorld, type ChangeWorld } from "../pass-over/support/change"
import { commit, git, repository, treesOf } from "../pass-over/support/trees"

const put = (directory: string, path: string, content: string) => {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), content)
}
const read = (directory: string, path: string) =>
  existsSync(join(directory, path)) ? readFileSync(join(directory, path), "utf8") : undefined

/** A repository of its own in a folder of the project. */
function nested(world: ChangeWorld, path: string, files: Record<string, string>, born = true) {
  const directory = join(world.project, path)
  mkdirSync(directory, { recursive: true })
  git(directory, "init", "-q")
  for (const [name, content] of Object.entries(files)) put(directory, name, content)
  if (born) commit(directory)
}

describe("files that are tracked although git is told to ignore them", () => {
  const files = { ".gitignore": "dist/\n*.gen.ts\n", "dist/keep.js": "kept\n", "src/api.gen.ts": "made\n" }
  const forced = (world: ChangeWorld) => {
    repository(world, { ".gitignore": files[".gitignore"], "a.txt": "a\n" })
    for (const [path, content] of Object.entries(files)) world.put(path, content)
    world.put("dist/other.js", "ignored\n")
    git(world.project, "add", "-f", "dist/keep.js", "src/api.gen.ts")
    git(world.project, "commit", "-qm", "two")
  }

  test("are in a tree, and what is made of them is proposed", async () => {
    using world = await createChangeWorld()
    forced(world)
    const workspaces = treesOf(world)
    const { directory, ...rest } = await workspaces.take(world.pass)
    expect([read(directory, "dist/keep.js"), read(directory, "src/api.gen.ts")]).toEqual(["kept\n", "made\n"])
    expect(read(directory, "dist/other.js")).toBeUndefined()
    expect(git(directory, "status", "--short")).toBe("")
    put(directory, "src/api.gen.ts", "changed\n")
    rmSync(join(directory, "dist/keep.js"))
    const found = await workspaces.collect({ directory, ...rest })
    expect(found.files.map(({ path, new: after }) => [path, after?.bytes])).toEqual([
      ["dist/keep.js", undefined],
      ["src/api.gen.ts", 8],
    ])
    await workspaces.close()
  })

  test("are as the user has them now: gone, back again, and no longer tracked", async () => {
    using world = await createChangeWorld()
    forced(world)
    const workspaces = treesOf(world)
    const seen = async () => {
      const workspace = await workspaces.take(world.pass)
      const found = read(workspace.directory, "dist/keep.js")
      await workspaces.release(workspace)
      return found
    }
    expect(await seen()).toBe("kept\n")
    rmSync(join(world.project, "dist/keep.js"))
    expect(await seen()).toBeUndefined()
    world.put("dist/keep.js", "back\n")
    expect(await seen()).toBe("back\n")
    git(world.project, "rm", "-q", "--cached", "dist/keep.js")
    expect(await seen()).toBeUndefined()
    world.put(".gitignore", "")
    expect(await seen()).toBe("back\n")
    await workspaces.close()
  })
})

describe("repositories that lie in a project", () => {
  test("are plain files in a tree, whatever they are, and what is made of them is proposed", async () => {
    using world = await createChangeWorld()
    const lib = world.folder.at("lib")
    put(lib, "l.txt", "lib\n")
    git(lib, "init", "-q")
    commit(lib)
    repository(world)
    git(world.project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "sub")
    commit(world.project, "two")
    nested(world, "inner", { ".gitignore": "out\nnode_modules\n", "i.txt": "i\n", "out/x": "x\n" })
    world.put("inner/node_modules/dep/index.js", "1\n")
    nested(world, "inner/deep", { "d.txt": "d\n" })
    nested(world, "unborn", { "u.txt": "u\n" }, false)
    nested(world, "empty", {}, false)
    const workspaces = treesOf(world)
    const workspace = await workspaces.take(world.pass)
    const { directory } = workspace
    const all = ["sub/l.txt", "inner/i.txt", "inner/deep/d.txt", "unborn/u.txt"]
    expect(all.map((path) => read(directory, path))).toEqual(["lib\n", "i\n", "d\n", "u\n"])
    expect([read(directory, "inner/out/x"), existsSync(join(directory, "inner/.git"))]).toEqual([undefined, false])
    expect(read(directory, "inner/node_modules/dep/index.js")).toBe("1\n")
    expect(workspace.linked).toEqual(["inner/node_modules"])
    expect(localised("Look.", workspace)).toContain("are git repositories of their own in the project; here they are")
    expect(workspace.nested?.toSorted()).toEqual(["empty", "inner", "inner/deep", "sub", "unborn"])
    for (const path of [...all, "sub/new.txt", "empty/new.txt"]) put(directory, path, "changed\n")
    const { files, notes } = await workspaces.collect(workspace)
    expect(files.map(({ path, refused }) => [path, refused])).toEqual(
      [...all, "sub/new.txt", "empty/new.txt"].toSorted().map((path) => [path, null]),
    )
    expect(notes.filter((note) => !note.startsWith("linked"))).toEqual([])
    await workspaces.close()
    // The user's own are as they were.
    expect(git(join(world.project, "sub"), "status", "--short")).toBe("")
    expect(git(join(world.project, "inner"), "status", "--short")).toBe("?? deep/\n")
  })

  test("are there in a folder that is none itself", async () => {
    using world = await createChangeWorld()
    nested(world, "api", { "main.ts": "api\n" })
    nested(world, "web", { "main.ts": "web\n" })
    const workspaces = treesOf(world)
    const workspace = await workspaces.take(world.pass)
    expect(["api", "web"].map((name) => read(workspace.directory, `${name}/main.ts`))).toEqual(["api\n", "web\n"])
    put(workspace.directory, "api/main.ts", "changed\n")
    expect((await workspaces.collect(workspace)).files.map(({ path }) => path)).toEqual(["api/main.ts"])
    await workspaces.close()
  })

  test("are what a child has made one of, too; the next child finds nothing of it", async () => {
    using world = await createChangeWorld()
    repository(world, { "a.txt": "a\n", "lib/l.txt": "l\n" })
    const workspaces = treesOf(world)
    const workspace = await workspaces.take(world.pass)
    const { directory } = workspace
    put(directory, "app/main.ts", "app\n")
    git(join(directory, "app"), "init", "-q")
    git(join(directory, "lib"), "init", "-q")
    put(directory, "lib/l.txt", "changed\n")
    const paths = async () => (await workspaces.collect(workspace)).files.map(({ path }) => path)
    expect(await paths()).toEqual(["app/main.ts", "lib/l.txt"])
    commit(join(directory, "app"))
    expect(await paths()).toEqual(["app/main.ts", "lib/l.txt"])
    await workspaces.release(workspace)
    const next = await workspaces.take(world.pass)
    expect(next.directory).toBe(directory)
    expect(["app", "lib/.git"].map((path) => existsSync(join(directory, path)))).toEqual([false, false])
    await workspaces.close()
  })

  test("are left out where they are other worktrees of the same one", async () => {
    using world = await createChangeWorld()
    repository(world)
    git(world.project, "worktree", "add", "-q", "other")
    const workspaces = treesOf(world)
    const workspace = await workspaces.take(world.pass)
    expect(existsSync(join(workspace.directory, "other"))).toBe(false)
    git(workspace.directory, "worktree", "add", "-q", "mine")
    const { files, notes } = await workspaces.collect(workspace)
    expect([files, notes]).toEqual([[], ["mine is a repository of its own and was left out"]])
    await workspaces.close()
  })
})

test("an index that is split in two is whole in a tree", async () => {
  using world = await createChangeWorld()
  repository(world)
  git(world.project, "config", "core.splitIndex", "true")
  git(world.project, "update-index", "--split-index")
  world.put("b.txt", "b\n")
  git(world.project, "add", "b.txt")
  const workspaces = treesOf(world)
  const { directory } = await workspaces.take(world.pass)
  expect(git(directory, "status", "--short")).toBe("A  b.txt\n")
  await workspaces.close()
})

test("a name that begins with two dots lies in the folder that was opened", async () => {
  using world = await createChangeWorld()
  repository(world, { "app/..rc": "x\n", "a.txt": "a\n" })
  const workspaces = treesOf(world, { directory: join(world.project, "app") })
  const workspace = await workspaces.take(world.pass)
  put(workspace.directory, "..rc", "changed\n")
  put(workspace.directory, "../a.txt", "changed\n")
  expect((await workspaces.collect(workspace)).files.map(({ path, refused }) => [path, refused === null])).toEqual([
    ["../a.txt", false],
    ["..rc", true],
  ])
  await workspaces.close()
})
