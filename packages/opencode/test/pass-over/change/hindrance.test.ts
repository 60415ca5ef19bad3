import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { apply, type Applied } from "../../../src/pass-over/service/change/apply"
import { recoverApplies } from "../../../src/pass-over/service/change/recover"
import { undo } from "../../../src/pass-over/service/change/undo"
import { createChangeWorld, type ChangeWorld, type Wanted } from "../support/change"

const mount = (folder: string, how: string) =>
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", how, "tmpfs", folder], { stderr: "ignore" }).exitCode === 0

const drive = mkdtempSync(join(tmpdir(), "pass-over-drive-"))
const project = join(drive, "project")
// A drive of our own can only be mounted by root, and root may write everywhere else.
const root = process.platform === "linux" && mount(drive, "size=256k")
afterEach(() => {
  if (root) mount(drive, "remount,rw")
  rmSync(project, { recursive: true, force: true })
})
afterAll(() => {
  if (root) Bun.spawnSync(["umount", drive])
  rmSync(drive, { recursive: true, force: true })
})

async function applied(world: ChangeWorld, files: readonly Wanted[]): Promise<Applied> {
  const change = await world.change(files)
  await world.accept(change)
  return apply(world.deps, { ...world, change, actor: "ada" })
}

const there = () => readdirSync(project, { recursive: true }).map(String).toSorted()

const FULL = { kind: "refused", why: "it is full" } as const

const UNENDED = {
  ok: false,
  refusal: { code: "E014", message: expect.stringMatching(/neither written whole.*a drive that can only be read\.$/) },
}

/** Nothing is left of it, and it does not keep others from being written. */
async function over(world: ChangeWorld) {
  expect(await world.store.pending()).toEqual([])
  expect(await applied(world, [{ path: "later.ts", new: "later\n" }])).toMatchObject({ ok: true })
}

describe.skipIf(!root)("on a drive", () => {
  test("that is full nothing is written, no folder is left, and what helps is said", async () => {
    using world = await createChangeWorld({ project })
    const large = { path: "src/deep/large.ts", new: "x".repeat(400_000) }
    const result = await applied(world, [{ path: "src/small.ts", new: "small\n" }, large])
    expect(result).toMatchObject({
      ok: false,
      refusal: {
        code: "E014",
        message: 'Nothing was written. "src/deep/large.ts": the disk is full.',
        suggestion: "Free some space and try again.",
      },
    })
    expect(there()).toEqual([])
    await over(world)
  })

  test("that can only be read nothing is written, and what helps is said", async () => {
    using world = await createChangeWorld({ project })
    writeFileSync(join(project, "old.ts"), "old\n")
    mount(drive, "remount,ro")
    const refusal = {
      code: "E013",
      message: 'Nothing was written. "src/new.ts": it lies on a drive that can only be read.',
      suggestion: "Make the drive writable and try again.",
    }
    expect(await applied(world, [{ path: "src/new.ts", new: "new\n" }])).toMatchObject({ ok: false, refusal })
    const changed = await applied(world, [{ path: "old.ts", old: "old\n", new: "other\n" }])
    expect(changed).toMatchObject({ ok: false, refusal: { ...refusal, message: expect.stringContaining('"old.ts"') } })
    const removed = await applied(world, [{ path: "old.ts", old: "old\n" }])
    expect(removed).toMatchObject({ ok: false, refusal: { ...refusal, message: expect.stringContaining('"old.ts"') } })
    expect(there()).toEqual(["old.ts"])
    mount(drive, "remount,rw")
    await over(world)
  })

  test("that can only be read all of a sudden a draft stays in mind until it can be dropped", async () => {
    using world = await createChangeWorld({ project })
    const { openTree } = world.deps
    world.deps.openTree = async (directory) => {
      const tree = await openTree(directory)
      const drafted = async () => {
        await tree.drafted()
        mount(drive, "remount,ro")
        return undefined
      }
      return { ...tree, drafted }
    }
    expect(await applied(world, [{ path: "src/new.ts", new: "new\n" }])).toMatchObject(UNENDED)
    world.deps.openTree = openTree
    mount(drive, "remount,rw")
    expect(there()).toHaveLength(2)
    expect(await recoverApplies(world.deps, () => false)).toBe(1)
    expect(there()).toEqual(["src"])
    await over(world)
  })

  test("that can only be read when half of it stands, the other half follows later", async () => {
    using world = await createChangeWorld({ project })
    writeFileSync(join(project, "a.ts"), "old\n")
    const { openTree } = world.deps
    world.deps.openTree = async (directory) => {
      const tree = await openTree(directory)
      const place: typeof tree.place = async (token, staged) => {
        if (staged.path === "b.ts") mount(drive, "remount,ro")
        return tree.place(token, staged)
      }
      return { ...tree, place }
    }
    const both = [
      { path: "a.ts", old: "old\n", new: "new\n" },
      { path: "b.ts", new: "new\n" },
    ]
    expect(await applied(world, both)).toMatchObject(UNENDED)
    expect(await world.store.pending()).toHaveLength(1)
    world.deps.openTree = openTree
    // As long as it cannot be ended it stays in mind.
    expect(await recoverApplies(world.deps, () => false)).toBe(0)
    expect(await world.store.pending()).toHaveLength(1)
    mount(drive, "remount,rw")
    expect(await recoverApplies(world.deps, () => false)).toBe(1)
    expect(world.paths().map((path) => [path, world.get(path)])).toEqual([
      ["a.ts", "new\n"],
      ["b.ts", "new\n"],
    ])
    await over(world)
  })

  test("that can only be read by now nothing is taken back, and it can be later", async () => {
    using world = await createChangeWorld({ project })
    const done = await applied(world, [{ path: "src/new.ts", new: "new\n" }])
    if (!done.ok) throw new Error(done.refusal.message)
    const { application } = done
    mount(drive, "remount,ro")
    expect(await undo(world.deps, { pass: world.pass, application, actor: "ada" })).toMatchObject({
      ok: false,
      refusal: { code: "E013", suggestion: "Make the drive writable and try again." },
    })
    expect(there()).toEqual(["src", "src/new.ts"])
    mount(drive, "remount,rw")
    expect(await undo(world.deps, { pass: world.pass, application, actor: "ada" })).toMatchObject({ ok: true })
    expect(there()).toEqual([])
  })
})

test("what cannot be looked at for now is not taken for changed when a broken-off write is ended", async () => {
  using world = await createChangeWorld()
  world.put("a.ts", "old\n")
  const { openTree } = world.deps
  const busy = { kind: "refused", why: "too many files are open", help: { code: "E014", suggestion: "Wait." } } as const
  let placed = 0
  world.deps.openTree = async (directory) => {
    const tree = await openTree(directory)
    const place: typeof tree.place = async (token, staged) => ((placed += 1) > 1 ? busy : tree.place(token, staged))
    return { ...tree, place, look: async (path) => (placed > 0 ? busy : tree.look(path)) }
  }
  const both = [
    { path: "a.ts", old: "old\n", new: "new\n" },
    { path: "b.ts", new: "new\n" },
  ]
  expect(await applied(world, both)).toMatchObject({ ok: false, refusal: { code: "E014" } })
  expect(await recoverApplies(world.deps, () => false)).toBe(0)
  expect(await world.store.pending()).toHaveLength(1)
  world.deps.openTree = openTree
  expect(await recoverApplies(world.deps, () => false)).toBe(1)
  expect([world.get("a.ts"), world.get("b.ts")]).toEqual(["new\n", "new\n"])
})

test.skipIf(process.getuid?.() === 0)(
  "in a folder that may not be written nothing is, and what helps is said",
  async () => {
    using world = await createChangeWorld()
    const folder = join(world.project, "locked")
    mkdirSync(folder)
    chmodSync(folder, 0o500)
    expect(await applied(world, [{ path: "locked/new.ts", new: "new\n" }])).toMatchObject({
      ok: false,
      refusal: {
        code: "E013",
        message: 'Nothing was written. "locked/new.ts": the system does not let opencode change it.',
      },
    })
    chmodSync(folder, 0o700)
    expect(await world.store.pending()).toEqual([])
  },
)

test("a folder that was made for a file that is not written goes again; one that was there stays", async () => {
  using world = await createChangeWorld()
  mkdirSync(join(world.project, "empty"))
  const { openTree } = world.deps
  // As a disk that is full by the time of the last file.
  world.deps.openTree = async (directory) => {
    const tree = await openTree(directory)
    return { ...tree, draft: async (...given) => (given[1].path === "last.ts" ? FULL : tree.draft(...given)) }
  }
  const paths = ["made/deep/a.ts", "made/b.ts", "empty/c.ts", "last.ts"]
  const result = await applied(
    world,
    paths.map((path) => ({ path, new: "new\n" })),
  )
  expect(result).toMatchObject({ ok: false, refusal: { message: 'Nothing was written. "last.ts": it is full.' } })
  expect(world.paths()).toEqual(["empty"])
  world.deps.openTree = openTree
  expect(await applied(world, [{ path: "made/b.ts", new: "new\n" }])).toMatchObject({ ok: true })
  expect(world.paths()).toEqual(["empty", "made", "made/b.ts"])
})
