import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keep } from "../../src/pass-over/service/change/blob"
import { createWorkspaces } from "../../src/session/worktree"
import { createChangeWorld, type ChangeWorld } from "../pass-over/support/change"

const env = {
  ...process.env,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
}

function git(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd, env })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

function repository(world: ChangeWorld) {
  git(world.project, "init", "-q")
  world.put(".gitignore", "node_modules\n*.log\n")
  world.put("src/a.txt", "a\r\n")
  world.put("sub/b.txt", "b\n")
  git(world.project, "add", "-A")
  git(world.project, "commit", "-qm", "one")
}

const pool = (world: ChangeWorld, more: { directory?: string; gone?: string[]; busy?: boolean } = {}) => {
  const [disposed, booted] = [new Array<string>(), new Array<string>()]
  const workspaces = createWorkspaces({
    store: world.store,
    log: () => {},
    owner_id: world.deps.owner_id,
    now: () => world.clock.now(),
    folder: world.folder.at("trees"),
    directory: more.directory ?? world.project,
    version: "1.18.33",
    keep: (contents) => keep(world.deps, contents),
    gone: async (owner) => (more.gone ?? []).includes(owner),
    boot: async (directory) => void booted.push(directory),
    busy: () => more.busy ?? false,
    warm_ms: 1,
    dispose: async (directory) => void disposed.push(directory),
  })
  return { workspaces, disposed, booted }
}

const left = (world: ChangeWorld) =>
  readdirSync(world.folder.at("trees"), { recursive: true }).filter((path) => String(path).includes("tree-"))

describe.each([
  ["in git", true],
  ["outside of git", false],
] as const)("%s", (_name, inGit) => {
  test("a tree starts as the user's is, is cleaned for the next, and leaves nothing behind", async () => {
    using world = await createChangeWorld()
    if (inGit) repository(world)
    if (!inGit) world.put("src/a.txt", "a\r\n")
    world.put("src/a.txt", "uncommitted\r\n")
    world.put("untracked.sh", "echo\n", 0o755)
    world.put("node_modules/dep/index.js", "1\n")
    world.put("secret.log", "ignored\n")
    const { workspaces, disposed } = pool(world)
    const first = await workspaces.take(world.pass)
    const at = (path: string) => join(first.directory, path)
    expect(readFileSync(at("src/a.txt"), "utf8")).toBe("uncommitted\r\n")
    expect(readFileSync(at("node_modules/dep/index.js"), "utf8")).toBe("1\n")
    expect(existsSync(at("secret.log"))).toBe(!inGit)
    writeFileSync(at("src/a.txt"), "changed\r\n")
    writeFileSync(at("new.bin"), new Uint8Array([0, 1]))
    rmSync(at("untracked.sh"))
    symlinkSync("/etc/passwd", at("link"))
    const { files, notes } = await workspaces.collect(first)
    expect(files.map(({ path, binary, refused }) => [path, binary, refused === null])).toEqual([
      ["link", false, false],
      ["new.bin", true, true],
      ["src/a.txt", false, true],
      ["untracked.sh", false, true],
    ])
    expect(notes.join()).toContain("linked from the project: node_modules")
    await workspaces.release(first)
    // The user's own is as it was.
    expect(world.get("src/a.txt")).toBe("uncommitted\r\n")
    expect(world.get("node_modules/dep/index.js")).toBe("1\n")
    world.put("src/a.txt", "later\n")
    const second = await workspaces.take(world.pass)
    expect(second.directory).toBe(first.directory)
    expect(readFileSync(at("src/a.txt"), "utf8")).toBe("later\n")
    expect([existsSync(at("new.bin")), existsSync(at("link")), existsSync(at("untracked.sh"))]).toEqual([
      false,
      false,
      true,
    ])
    const third = await workspaces.take(world.pass)
    expect(third.directory).not.toBe(second.directory)
    expect((await workspaces.collect(second)).files).toEqual([])
    await workspaces.close()
    expect(left(world)).toEqual([])
    expect(disposed).toHaveLength(2)
    expect(await world.store.worktrees()).toEqual([])
    if (inGit) expect(git(world.project, "worktree", "list").trim().split("\n")).toHaveLength(1)
    expect(world.get("node_modules/dep/index.js")).toBe("1\n")
  })
})

test("a write through a link to the user's own folder is told", async () => {
  using world = await createChangeWorld()
  repository(world)
  world.put("node_modules/dep/index.js", "1\n")
  const { workspaces } = pool(world)
  const workspace = await workspaces.take(world.pass)
  writeFileSync(join(workspace.directory, "node_modules/dep/index.js"), "evil\n")
  const { files, notes } = await workspaces.collect(workspace)
  expect(files).toEqual([])
  expect(notes.join()).toContain("written through a link into the project itself: node_modules/dep/index.js")
  await workspaces.close()
})

test("what a process left that is gone is removed by the next, and what lives is left alone", async () => {
  using world = await createChangeWorld()
  repository(world)
  const { workspaces } = pool(world)
  const workspace = await workspaces.take(world.pass)
  const other = { ...world, deps: { ...world.deps, owner_id: world.ids.make("own") } } as ChangeWorld
  await pool(other).workspaces.sweep()
  expect(existsSync(workspace.directory)).toBe(true)
  await pool(other, { gone: [world.deps.owner_id] }).workspaces.sweep()
  expect(existsSync(workspace.directory)).toBe(false)
  expect(left(world)).toEqual([])
  expect(git(world.project, "worktree", "list").trim().split("\n")).toHaveLength(1)
  expect(await world.store.worktrees()).toEqual([])
})

test("opened below the top of a repository, paths are those of the folder that was opened", async () => {
  using world = await createChangeWorld()
  repository(world)
  const { workspaces } = pool(world, { directory: join(world.project, "sub") })
  const workspace = await workspaces.take(world.pass)
  expect(workspace.directory.endsWith("/sub")).toBe(true)
  writeFileSync(join(workspace.directory, "b.txt"), "B\n")
  writeFileSync(join(workspace.directory, "../src/a.txt"), "A\n")
  const { files } = await workspaces.collect(workspace)
  expect(files.map(({ path, refused }) => [path, refused])).toEqual([
    ["../src/a.txt", "it lies outside of the directory that was opened"],
    ["b.txt", null],
  ])
  await workspaces.close()
})

test("hooks and filters of the user's repository are not run, and its index is not touched", async () => {
  using world = await createChangeWorld()
  repository(world)
  world.put(".gitattributes", "*.txt filter=evil\n")
  git(world.project, "config", "filter.evil.clean", `touch ${world.folder.at("ran")}; cat`)
  git(world.project, "config", "filter.evil.smudge", `touch ${world.folder.at("ran")}; cat`)
  mkdirSync(join(world.project, ".git/hooks"), { recursive: true })
  world.put(".git/hooks/post-checkout", `#!/bin/sh\ntouch ${world.folder.at("ran")}\n`, 0o755)
  const index = readFileSync(join(world.project, ".git/index"))
  const { workspaces } = pool(world)
  const workspace = await workspaces.take(world.pass)
  writeFileSync(join(workspace.directory, "src/a.txt"), "changed\n")
  expect((await workspaces.collect(workspace)).files.map(({ path }) => path)).toEqual(["src/a.txt"])
  expect(existsSync(world.folder.at("ran"))).toBe(false)
  expect(readFileSync(join(world.project, ".git/index")).equals(index)).toBe(true)
  await workspaces.close()
})

describe("a tree that is made ready", () => {
  const ready = async (booted: readonly string[]) => {
    for (let tries = 0; tries < 200 && booted.length === 0; tries += 1) await Bun.sleep(10)
    return booted.length
  }

  test("is what the next pass gets, as the project is then; a second one is not made", async () => {
    using world = await createChangeWorld()
    repository(world)
    const { workspaces, booted } = pool(world)
    workspaces.expect()
    expect(await ready(booted)).toBe(1)
    workspaces.expect()
    await Bun.sleep(50)
    world.put("src/a.txt", "changed since\n")
    const got = await workspaces.take(world.pass)
    expect([booted, got.directory]).toEqual([[got.directory], got.directory])
    expect(readFileSync(join(got.directory, "src/a.txt"), "utf8")).toBe("changed since\n")
    await workspaces.release(got)
    await workspaces.close()
    expect(left(world)).toEqual([])
  })

  test("is not made while there is work, and what is being made when all ends is gone too", async () => {
    using world = await createChangeWorld()
    repository(world)
    const busy = pool(world, { busy: true })
    busy.workspaces.expect()
    await Bun.sleep(100)
    await busy.workspaces.close()
    const ending = pool(world)
    ending.workspaces.expect()
    await Bun.sleep(5)
    await ending.workspaces.close()
    ending.workspaces.expect()
    await Bun.sleep(50)
    expect([busy.booted, left(world)]).toEqual([[], []])
  })
})

describe("a tree that a pass goes on in", () => {
  const other = (world: ChangeWorld) => ({ ...world.pass, id: world.ids.pass() })
  const nothing = async () => []

  test.each([
    ["stands empty", false],
    ["was let go of", true],
  ])(
    "is the very same where it %s, from the user's as it is now, and with what was made there before",
    async (_, gone) => {
      using world = await createChangeWorld()
      repository(world)
      const { workspaces, booted, disposed } = pool(world, { directory: join(world.project, "src") })
      const first = await workspaces.take(world.pass)
      writeFileSync(join(first.directory, "made.txt"), "made\n")
      await workspaces.release(first)
      if (gone) await workspaces.close()
      world.put("src/a.txt", "later\n")
      const next = other(world)
      const tree = { directory: first.directory, earlier: world.pass.id }
      expect(await workspaces.promise({ ...tree, pass: next.id })).toBe("free")
      const again = await workspaces.retake(next, {
        directory: first.directory,
        async fill(directory) {
          writeFileSync(join(directory, "made.txt"), "made again\n")
          return ["b.txt did not fit"]
        },
      })
      expect(again).toMatchObject({ directory: first.directory, again: ["b.txt did not fit"] })
      expect(readFileSync(join(again.directory, "a.txt"), "utf8")).toBe("later\n")
      const { files, notes } = await workspaces.collect(again)
      expect(files.map(({ path, old }) => [path, old])).toEqual([["made.txt", null]])
      expect(notes).toContain("b.txt did not fit")
      expect([booted.length, disposed.length]).toEqual(gone ? [2, 1] : [1, 0])
      // The next child of another pass hears nothing of it.
      await workspaces.release(again)
      const fresh = await workspaces.take(other(world))
      expect([fresh.directory, fresh.again, (await workspaces.collect(fresh)).notes]).toEqual([
        first.directory,
        undefined,
        [],
      ])
      await workspaces.close()
      expect(left(world)).toEqual([])
    },
  )

  test("is told from one that is taken, somebody else's, or none of the project's", async () => {
    using world = await createChangeWorld()
    repository(world)
    const { workspaces } = pool(world)
    const first = await workspaces.take(world.pass)
    const next = other(world)
    const standing = (of: typeof workspaces, directory = first.directory, earlier = next.id) =>
      of.standing({ directory, earlier })
    // The pass that is continued may still be leaving it.
    expect([await standing(workspaces), await standing(workspaces, first.directory, world.pass.id)]).toEqual([
      "taken",
      "free",
    ])
    for (const directory of [world.project, "/", join(first.directory, "sub"), `${first.directory}/..`, "/etc"]) {
      expect([directory, await standing(workspaces, directory)]).toEqual([directory, "unknown"])
    }
    await expect(workspaces.retake(next, { directory: first.directory, fill: nothing })).rejects.toThrow("is taken")
    await expect(workspaces.retake(next, { directory: "/etc", fill: nothing })).rejects.toThrow(
      "none of this project's",
    )
    const elsewhere = { ...world, deps: { ...world.deps, owner_id: world.ids.make("own") } } as ChangeWorld
    expect(await standing(pool(elsewhere).workspaces)).toBe("elsewhere")
    // What a process left is read first, and its tree is free after that.
    const heir = pool(elsewhere, { gone: [world.deps.owner_id] }).workspaces
    expect(await standing(heir)).toBe("taken")
    const inherited = await heir.left(world.pass.id)
    await heir.release(inherited!)
    expect(await standing(heir)).toBe("free")
    expect((await heir.retake(next, { directory: first.directory, fill: nothing })).directory).toBe(first.directory)
    await heir.close()
    expect(left(world)).toEqual([])
  })

  test("is not given to another pass once it is promised, until that is given up", async () => {
    using world = await createChangeWorld()
    repository(world)
    const { workspaces } = pool(world)
    const first = await workspaces.take(world.pass)
    await workspaces.release(first)
    const [next, rival] = [other(world), other(world)]
    const tree = { directory: first.directory, earlier: world.pass.id }
    expect(await workspaces.promise({ ...tree, pass: next.id })).toBe("free")
    expect(await workspaces.promise({ ...tree, pass: rival.id })).toBe("taken")
    const second = await workspaces.take(rival)
    expect(second.directory).not.toBe(first.directory)
    workspaces.forgo(next.id)
    const third = await workspaces.take(other(world))
    expect(third.directory).toBe(first.directory)
    await workspaces.close()
    expect(left(world)).toEqual([])
  })

  test("goes, and its place is free, where what was made there cannot be brought back at all", async () => {
    using world = await createChangeWorld()
    repository(world)
    const { workspaces } = pool(world)
    const first = await workspaces.take(world.pass)
    await workspaces.release(first)
    const next = other(world)
    const failing = async () => Promise.reject(new Error("no room"))
    await expect(workspaces.retake(next, { directory: first.directory, fill: failing })).rejects.toThrow("no room")
    expect(await workspaces.standing({ directory: first.directory, earlier: world.pass.id })).toBe("free")
    expect((await workspaces.retake(next, { directory: first.directory, fill: nothing })).directory).toBe(
      first.directory,
    )
    await workspaces.close()
    expect(left(world)).toEqual([])
  })
})

test("of a tree that stands on the work of others, what is found is the whole, and what of it is its child's", async () => {
  using world = await createChangeWorld()
  repository(world)
  const { workspaces } = pool(world)
  const filled = async (directory: string) => {
    writeFileSync(join(directory, "below.txt"), "below\n")
    writeFileSync(join(directory, "src/a.txt"), "below\n")
    return ["c.txt did not fit"]
  }
  const first = await workspaces.take(world.pass, true, filled)
  expect(first.onto).toEqual(["c.txt did not fit"])
  const none = await workspaces.collect(first)
  expect(none).toMatchObject({ files: [], own: [], notes: ["c.txt did not fit"] })
  expect(none.there?.map(({ path }) => path)).toEqual(["below.txt", "src/a.txt"])
  writeFileSync(join(first.directory, "own.txt"), "own\n")
  // Its process ends; whoever reads the tree then tells the two apart as well.
  const other = { ...world, deps: { ...world.deps, owner_id: world.ids.make("own") } } as ChangeWorld
  const later = pool(other, { gone: [world.deps.owner_id] }).workspaces
  const found = await later.left(world.pass.id)
  const { files, own } = await later.collect(found!)
  expect(files.map(({ path }) => path)).toEqual(["below.txt", "own.txt", "src/a.txt"])
  expect(own).toEqual(["own.txt"])
  await later.close()
})

test("a tree that is still to be read outlives its project, and is read where that is opened again", async () => {
  using world = await createChangeWorld()
  repository(world)
  const first = pool(world)
  const tree = await first.workspaces.take(world.pass)
  writeFileSync(join(tree.directory, "src/a.txt"), "changed\n")
  const { outcome } = world.store
  const [known] = [await outcome(world.pass.id)]
  world.store.outcome = async () => known && { ...known, transcript: "unread" }
  await first.workspaces.close()
  expect(first.disposed).toEqual([tree.directory])

  const { workspaces } = pool(world)
  const again = await workspaces.left(world.pass.id)
  expect((await workspaces.collect(again!)).files.map(({ path }) => path)).toEqual(["src/a.txt"])
  // What is in hand here is nobody else's.
  expect(await workspaces.left(world.pass.id)).toBeUndefined()
  world.store.outcome = outcome
  await workspaces.close()
  expect(left(world)).toEqual([])
})
