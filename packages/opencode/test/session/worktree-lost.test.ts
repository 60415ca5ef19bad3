import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { git as asked, GitError } from "../../src/session/git"
import { openHome } from "../../src/session/worktree-home"
import { createChangeWorld, type ChangeWorld } from "../pass-over/support/change"
import { commit, git, heirOf, noRoomFor, repository, treesOf } from "../pass-over/support/trees"

const WORK = "hours of work\n"
const paths = ({ files }: { files: { path: string }[] }) => files.map(({ path }) => path)

test("an error of git carries what it ended with", async () => {
  const error = await asked({ cwd: "/" }, ["add", "--all", "/nowhere"]).catch((one: unknown) => one)
  expect(error).toBeInstanceOf(GitError)
  expect(error).toMatchObject({ code: 128 })
})

test("what there is no room for is no file that was left alone", async () => {
  using world = await createChangeWorld()
  repository(world)
  const workspaces = treesOf(world)
  const workspace = await workspaces.take(world.pass)
  writeFileSync(join(workspace.directory, "a.txt"), WORK)
  const room = noRoomFor(world.folder.at("trees"), WORK)
  await expect(workspaces.collect(workspace)).rejects.toThrow("git hash-object ended with")
  room()
  expect(paths(await workspaces.collect(workspace))).toEqual(["a.txt"])
  await workspaces.close()
})

test("a name that git has in no index is left out, and all else is there", async () => {
  using world = await createChangeWorld()
  repository(world)
  const workspaces = treesOf(world)
  const workspace = await workspaces.take(world.pass)
  for (const name of ["git~1", '"quoted" git~1', "b.txt"]) writeFileSync(join(workspace.directory, name), WORK)
  expect(paths(await workspaces.collect(workspace))).toEqual(['"quoted" git~1', "b.txt"])
  await workspaces.close()
})

describe("a tree whose process died while git was reading it", () => {
  test.each([
    ["a lock", (index: string) => writeFileSync(`${index}.lock`, "")],
    ["half an index", (index: string) => writeFileSync(index, "DIRC")],
    ["no index", (index: string) => rmSync(index)],
  ])("is read by the next, though there is %s", async (_name, leave) => {
    using world = await createChangeWorld()
    repository(world)
    const first = await treesOf(world).take(world.pass)
    writeFileSync(join(first.directory, "a.txt"), WORK)
    leave(`${first.directory}.index`)
    const heir = heirOf(world)
    const left = await heir.left(world.pass.id)
    expect(left?.directory).toBe(first.directory)
    expect(paths(await heir.collect(left!))).toEqual(["a.txt"])
    await heir.release(left!)
    await heir.close()
  })
})

test("a tree that is being given back while its project is let go of is not left behind", async () => {
  using world = await createChangeWorld()
  repository(world)
  const workspaces = treesOf(world)
  const workspace = await workspaces.take(world.pass)
  const given = workspaces.release(workspace)
  await workspaces.close()
  await given
  expect(existsSync(workspace.directory)).toBe(false)
  expect(await world.store.worktrees()).toEqual([])
})

test("what was made for a project that is away, on a drive say, is kept until it is back, and not for ever", async () => {
  using world = await createChangeWorld()
  repository(world)
  const { directory } = await treesOf(world).take(world.pass)
  writeFileSync(join(directory, "a.txt"), WORK)
  const outcome = await world.store.outcome(world.pass.id)
  world.store.outcome = async () => outcome && { ...outcome, transcript: "unread" }
  const away = world.folder.at("away")
  renameSync(world.project, away)
  await heirOf(world).sweep()
  expect(readFileSync(join(directory, "a.txt"), "utf8")).toBe(WORK)
  world.clock.advance(31 * 24 * 60 * 60_000)
  await heirOf(world).sweep()
  expect([existsSync(directory), await world.store.worktrees()]).toEqual([false, []])
})

test("a tree that was set aside is neither emptied nor removed, and can be had again", async () => {
  using world = await createChangeWorld()
  repository(world)
  const workspaces = treesOf(world)
  const first = await workspaces.take(world.pass)
  writeFileSync(join(first.directory, "a.txt"), WORK)
  await workspaces.setAside(first)
  const other = await workspaces.take({ ...world.pass, id: world.ids.pass() })
  expect(other.directory).not.toBe(first.directory)
  await workspaces.close()
  expect([existsSync(first.directory), existsSync(other.directory)]).toEqual([true, false])
  expect(await world.store.worktrees()).toMatchObject([{ pass_over_id: world.pass.id, collected: true }])
  const again = await workspaces.left(world.pass.id)
  expect(paths(await workspaces.collect(again!))).toEqual(["a.txt"])
  await workspaces.release(again!)
  await workspaces.close()
  expect(await world.store.worktrees()).toEqual([])
})

test("a project that is closed takes along its own trees, and not those of another in the same repository", async () => {
  using world = await createChangeWorld()
  repository(world, { "a/a.txt": "a\n", "b/b.txt": "b\n" })
  const [a, b] = [
    treesOf(world, { directory: join(world.project, "a") }),
    treesOf(world, { directory: join(world.project, "b") }),
  ]
  const other = { ...world.pass, id: world.ids.pass() }
  // One that A has let go of, and B works in.
  const idle = await a.take(world.pass)
  await a.release(idle)
  const used = await b.take(other)
  expect(used.directory).toBe(idle.directory.replace(/a$/, "b"))
  const own = await a.take(world.pass)
  writeFileSync(join(used.directory, "b.txt"), WORK)
  await a.close()
  expect([existsSync(own.directory), existsSync(used.directory)]).toEqual([false, true])
  expect(paths(await b.collect(used))).toEqual(["b.txt"])
  const [home = ""] = readdirSync(world.folder.at("trees"))
  const index = join(world.folder.at("trees"), home, `top-${process.pid}.index`)
  expect(existsSync(index)).toBe(true)
  await b.close()
  expect([existsSync(used.directory), existsSync(index)]).toEqual([false, false])
  expect(await world.store.worktrees()).toEqual([])
})

describe("what a child has left of git's in its tree", () => {
  const next = async (world: ChangeWorld, spoil: (directory: string) => void) => {
    const workspaces = treesOf(world)
    const first = await workspaces.take(world.pass)
    spoil(first.directory)
    await workspaces.collect(first)
    await workspaces.release(first)
    return { workspaces, ...(await workspaces.take(world.pass)) }
  }
  const evil = (world: ChangeWorld) => `touch ${world.folder.at("ran")}; false`

  test("is not what the next finds: a repository in the place of the worktree", async () => {
    using world = await createChangeWorld()
    repository(world)
    const { workspaces, directory } = await next(world, (tree) => {
      rmSync(join(tree, ".git"), { recursive: true })
      git(tree, "init", "-q")
      commit(tree, "its own")
      git(tree, "config", "core.fsmonitor", evil(world))
    })
    rmSync(world.folder.at("ran"), { force: true })
    expect([git(directory, "log", "--format=%s"), git(directory, "status", "--short")]).toEqual(["one\n", ""])
    expect(existsSync(world.folder.at("ran"))).toBe(false)
    await workspaces.close()
  })

  test("is not what the next finds: the worktree of somebody else", async () => {
    using world = await createChangeWorld()
    repository(world)
    git(world.project, "worktree", "add", "-q", world.folder.at("theirs"))
    const { workspaces, directory } = await next(world, (tree) =>
      writeFileSync(join(tree, ".git"), readFileSync(join(world.folder.at("theirs"), ".git"))),
    )
    const dir = (tree: string) => git(tree, "rev-parse", "--absolute-git-dir")
    expect(dir(directory)).not.toBe(dir(world.folder.at("theirs")))
    expect(git(world.folder.at("theirs"), "branch", "--show-current")).toBe("theirs\n")
    await workspaces.close()
  })

  test("is not what the next finds: settings of the worktree, a lock, a merge half done", async () => {
    using world = await createChangeWorld()
    repository(world)
    git(world.project, "config", "extensions.worktreeConfig", "true")
    const { workspaces, directory } = await next(world, (tree) => {
      git(tree, "config", "--worktree", "core.fsmonitor", evil(world))
      const admin = git(tree, "rev-parse", "--absolute-git-dir").trim()
      writeFileSync(join(admin, "MERGE_HEAD"), git(tree, "rev-parse", "HEAD"))
      writeFileSync(join(admin, "index.lock"), "")
    })
    rmSync(world.folder.at("ran"), { force: true })
    expect(git(directory, "status")).not.toContain("merging")
    git(directory, "add", "-A")
    expect(existsSync(world.folder.at("ran"))).toBe(false)
    await workspaces.close()
  })

  test("is not what the next finds: a repository where the project is none", async () => {
    using world = await createChangeWorld()
    world.put("a.txt", "a\n")
    const { workspaces, directory } = await next(world, (tree) => git(tree, "init", "-q"))
    expect(existsSync(join(directory, ".git"))).toBe(false)
    await workspaces.close()
  })
})

describe("what git has thrown away", () => {
  const staged = async (world: ChangeWorld) => {
    repository(world)
    world.put("staged.txt", "only staged\n")
    // Written just now it would be read again each time.
    utimesSync(join(world.project, "staged.txt"), 1_700_000_000, 1_700_000_000)
    git(world.project, "add", "staged.txt")
    const workspaces = treesOf(world)
    await workspaces.release(await workspaces.take(world.pass))
    git(world.project, "reset", "-q")
    // By then no worktree's index names it either.
    await workspaces.release(await workspaces.take(world.pass))
    return workspaces
  }

  test("is still there for the tree of a child that works", async () => {
    using world = await createChangeWorld()
    const workspaces = await staged(world)
    const workspace = await workspaces.take(world.pass)
    git(world.project, "prune", "--expire=now")
    writeFileSync(join(workspace.directory, "staged.txt"), "changed\n")
    expect((await workspaces.collect(workspace)).files).toMatchObject([{ path: "staged.txt", old: { bytes: 12 } }])
    await workspaces.close()
  })

  test("is photographed anew for the next", async () => {
    using world = await createChangeWorld()
    const workspaces = await staged(world)
    git(world.project, "prune", "--expire=now")
    rmSync(join(world.folder.at("trees"), readdirSync(world.folder.at("trees"))[0]!, "shadow.git/objects/pack"), {
      recursive: true,
    })
    // The one that stands empty has it still; another one has to be made.
    await workspaces.take({ ...world.pass, id: world.ids.pass() })
    const workspace = await workspaces.take(world.pass)
    expect(readFileSync(join(workspace.directory, "staged.txt"), "utf8")).toBe("only staged\n")
    await workspaces.close()
  })

  test("is never an empty file", async () => {
    using world = await createChangeWorld()
    repository(world)
    const workspaces = treesOf(world)
    const workspace = await workspaces.take(world.pass)
    const object = git(world.project, "rev-parse", "HEAD:a.txt").trim()
    rmSync(join(world.project, ".git/objects", object.slice(0, 2), object.slice(2)))
    writeFileSync(join(workspace.directory, "a.txt"), "changed\n")
    await expect(workspaces.collect(workspace)).rejects.toThrow(`"${object} missing"`)
    await workspaces.close()
  })
})

describe("the place of the trees", () => {
  test("is made the next time, where something stood in its way", async () => {
    using world = await createChangeWorld()
    repository(world)
    writeFileSync(world.folder.at("trees"), "in the way")
    const workspaces = treesOf(world)
    await expect(workspaces.take(world.pass)).rejects.toThrow()
    rmSync(world.folder.at("trees"))
    const workspace = await workspaces.take(world.pass)
    expect(existsSync(join(workspace.directory, "a.txt"))).toBe(true)
    await workspaces.close()
  })

  test("is made by several at once, and over what was left half made", async () => {
    using world = await createChangeWorld()
    repository(world)
    const opening = { folder: world.folder.at("trees"), directory: world.project }
    const { folder, shadow } = await openHome(opening)
    const whole = () => [git(shadow.git_dir, "rev-parse", "--is-bare-repository"), readdirSync(folder)]
    for (let round = 0; round < 4; round += 1) {
      rmSync(shadow.git_dir, { recursive: true })
      const first = Promise.all([openHome(opening), openHome(opening)])
      while (!existsSync(join(shadow.git_dir, "HEAD"))) await Bun.sleep(0)
      // What can be seen of it is all of it.
      await openHome(opening)
      await first
      expect(whole()).toEqual(["true\n", ["shadow.git"]])
    }
    rmSync(join(shadow.git_dir, "HEAD"))
    await openHome(opening)
    expect(whole()).toEqual(["true\n", ["shadow.git"]])
  })

  test("is not held by a git that was killed", async () => {
    using world = await createChangeWorld()
    repository(world)
    const workspaces = treesOf(world)
    await workspaces.release(await workspaces.take(world.pass))
    const [home = ""] = readdirSync(world.folder.at("trees"))
    writeFileSync(join(world.folder.at("trees"), home, `top-${process.pid}.index.lock`), "")
    expect((await workspaces.take(world.pass)).directory).toContain("tree-")
    await workspaces.close()
  })
})
