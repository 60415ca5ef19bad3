import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { verdictsOf } from "../../../src/pass-over/domain/change/target"
import { lastApplied } from "../../../src/pass-over/service/change/act"
import { apply } from "../../../src/pass-over/service/change/apply"
import { keep } from "../../../src/pass-over/service/change/blob"
import { mergeWithPresent } from "../../../src/pass-over/service/change/merge"
import { takeChanges } from "../../../src/pass-over/service/change/take"
import { undo } from "../../../src/pass-over/service/change/undo"
import type { ChangeSet } from "../../../src/pass-over/domain/change/change"
import { createChangeWorld, modeOf, type ChangeWorld } from "../support/change"

const forty = Array.from({ length: 40 }, (_, index) => `${index}\n`).join("")

async function applied(world: ChangeWorld, change: ChangeSet) {
  const result = await apply(world.deps, { pass: world.pass, change, actor: "ada" })
  if (!result.ok) throw new Error(`${result.refusal.code} ${result.refusal.message}`)
  return result.application
}

async function undone(world: ChangeWorld, application: Awaited<ReturnType<typeof applied>> | undefined) {
  const result = await undo(world.deps, { pass: world.pass, application: application!, actor: "ada" })
  if (!result.ok) throw new Error(`${result.refusal.code} ${result.refusal.message}`)
  return result.application
}

describe("a change that is taken in parts", () => {
  test("goes on with the next file, and each part is undone by itself", async () => {
    using world = await createChangeWorld()
    world.put("a.txt", "a\n")
    world.put("b.txt", "b\n")
    const change = await world.change([
      { path: "a.txt", old: "a\n", new: "A\n" },
      { path: "b.txt", old: "b\n", new: "B\n" },
    ])
    await world.accept(change, [{ path: "a.txt" }])
    const first = await applied(world, change)
    await world.accept(change, [{ path: "b.txt" }])
    const second = await applied(world, change)
    expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["A\n", "B\n"])
    expect(second.ops.map(({ path }) => path)).toEqual(["b.txt"])
    const again = await apply(world.deps, { pass: world.pass, change, actor: "ada" })
    expect(again).toMatchObject({ ok: false, refusal: { code: "E040", message: expect.stringContaining("already") } })
    await undone(world, second)
    expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["A\n", "b\n"])
    await undone(world, first)
    expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["a\n", "b\n"])
  })

  test("goes on with the next hunk of a file, from where the first has left it", async () => {
    using world = await createChangeWorld()
    const whole = forty.replace("2\n", "two\n").replace("\n30\n", "\nthirty\n")
    world.put("a.txt", forty)
    const change = await world.change([{ path: "a.txt", old: forty, new: whole }])
    await world.accept(change, [{ path: "a.txt", hunk: 1 }])
    await applied(world, change)
    const half = world.get("a.txt")
    await world.accept(change, [{ path: "a.txt", hunk: 2 }])
    const second = await applied(world, change)
    expect(world.get("a.txt")).toBe(whole)
    await undone(world, second)
    expect(world.get("a.txt")).toBe(half)
    // What somebody else has made of it meanwhile is nobody's part.
    writeFileSync(join(world.project, "a.txt"), `${half}mine\n`)
    expect(await apply(world.deps, { pass: world.pass, change, actor: "ada" })).toMatchObject({
      ok: false,
      refusal: { code: "E041" },
    })
  })

  test("is merged with what is there, a renamed file that was applied among it", async () => {
    using world = await createChangeWorld()
    world.put("a.txt", "a\n")
    world.put("b.txt", forty)
    const change = await world.change([
      { path: "z.txt", old_path: "a.txt", old: "a\n", new: "a\n" },
      { path: "b.txt", old: forty, new: forty.replace("20\n", "twenty\n") },
    ])
    await world.accept(change, [{ path: "z.txt" }])
    await applied(world, change)
    world.put("b.txt", `mine\n${forty}`)
    const merged = await mergeWithPresent(world.deps, world.pass, change)
    expect(merged).toMatchObject({ ok: true, change: { files: [{ path: "b.txt" }] } })
  })
})

test("what is declined stands in the way of no merge, and stays declined", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "mine\n")
  world.put("b.txt", `mine\n${forty}`)
  const change = await world.change([
    { path: "a.txt", old: "a\n", new: "A\n" },
    { path: "b.txt", old: forty, new: forty.replace("20\n", "twenty\n") },
  ])
  await world.accept(change, [{ path: "a.txt", accepted: false, reason: "not this one" }, { path: "b.txt" }])
  const merged = await mergeWithPresent(world.deps, world.pass, change)
  if (!merged.ok) throw new Error(merged.refusal.message)
  expect(await world.store.verdicts(merged.change.change_id)).toMatchObject([
    { path: "a.txt", accepted: false, reason: "not this one" },
  ])
  await world.accept(merged.change, [{ path: "b.txt" }])
  await applied(world, merged.change)
  expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["mine\n", `mine\n${forty.replace("20\n", "twenty\n")}`])
})

test("a file that only its owner reads stays so where it is put back, and where it is moved", async () => {
  using world = await createChangeWorld()
  world.put("a.conf", "secret\n", 0o600)
  world.put("b.txt", "b\n")
  const change = await world.change([
    { path: "a.conf", old: "secret\n", new: "secret2\n" },
    { path: "b.txt", old: "b\n", new: "B\n" },
  ])
  await world.accept(change)
  const open = world.deps.openTree
  const deps: typeof world.deps = {
    ...world.deps,
    openTree: async (directory) => {
      const tree = await open(directory)
      return {
        ...tree,
        place: async (token, staged) => {
          if (staged.path === "b.txt") writeFileSync(join(world.project, "b.txt"), "saved by somebody\n")
          return tree.place(token, staged)
        },
      }
    },
  }
  expect(await apply(deps, { pass: world.pass, change, actor: "ada" })).toMatchObject({ ok: false })
  expect([world.get("a.conf"), modeOf(join(world.project, "a.conf"))]).toEqual(["secret\n", 0o600])

  const moved = await world.change([{ path: "c.conf", old_path: "a.conf", old: "secret\n", new: "secret\n" }])
  await world.accept(moved)
  const application = await applied(world, moved)
  expect(modeOf(join(world.project, "c.conf"))).toBe(0o600)
  await undone(world, application)
  expect(modeOf(join(world.project, "a.conf"))).toBe(0o600)
})

test("an undo without words means what was applied last, brought back or not", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "a\n")
  world.put("b.txt", "b\n")
  const b = await world.change([{ path: "b.txt", old: "b\n", new: "B\n" }])
  const a = await world.change([{ path: "a.txt", old: "a\n", new: "A\n" }])
  await world.accept(b)
  await world.accept(a)
  await applied(world, b)
  await undone(world, await undone(world, await applied(world, a)))
  const last = async () => (await lastApplied(world.deps, { directory: world.project }))!
  expect((await last()).ops.map(({ path }) => path)).toEqual(["a.txt"])
  await undone(world, await last())
  expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["a\n", "B\n"])
  await undone(world, await last())
  expect(world.get("b.txt")).toBe("b\n")
})

test("the narrower word holds: a file that is named goes before everything", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    { path: "a", new: "a\n" },
    { path: "b", new: "b\n" },
  ])
  const last = (words: Parameters<typeof verdictsOf>[1]) => {
    const all = verdictsOf(change, words)
    return ["a", "b"].map((path) => all.findLast((one) => one.path === path)?.accepted)
  }
  expect(last({ accept: ["a"], reject: { "*": "not the rest" } })).toEqual([true, false])
  expect(last({ accept: ["*"], reject: { b: "not that" } })).toEqual([true, false])
})

test("a content that was kept long ago and is wanted again is not cleaned away in between", async () => {
  using world = await createChangeWorld()
  const content = new TextEncoder().encode("the same once more\n")
  const hash = world.deps.sha(content)
  await keep(world.deps, [{ hash, content }])
  await world.clock.advance(26 * 60 * 60 * 1000)
  await keep(world.deps, [{ hash, content }])
  await world.store.pruneBlobs(world.clock.now() - 24 * 60 * 60 * 1000)
  expect(await world.store.blob(hash)).toBeDefined()
})

test("what no undo can write keeps the undo of nothing else from being made, and is told", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "A\n")
  world.put("log 12:30:00.txt", "odd\n")
  const { files } = await world.change([
    { path: "a.txt", old: "a\n", new: "A\n" },
    { path: "link", new: "a.txt", modes: ["120000", "120000"] },
    { path: "log 12:30:00.txt", new: "odd\n" },
  ])
  const observed = { origin: "direct" as const, files, notes: [], directory: world.project }
  const { change } = await takeChanges(world.deps, world.pass, { report: undefined, observed })
  expect(change?.notes).toEqual([
    '"link" cannot be taken back here: it is a link',
    expect.stringMatching(/^"log 12:30:00\.txt" cannot be taken back here: /),
  ])
  await undone(world, await lastApplied(world.deps, { directory: world.project }))
  expect([world.get("a.txt"), world.get("log 12:30:00.txt")]).toEqual(["a\n", "odd\n"])
})
