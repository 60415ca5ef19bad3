import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { apply } from "../../../src/pass-over/service/change/apply"
import { mergeWithPresent } from "../../../src/pass-over/service/change/merge"
import { plan } from "../../../src/pass-over/service/change/plan"
import { approvalFor } from "../../../src/pass-over/service/change/apply"
import { undo } from "../../../src/pass-over/service/change/undo"
import { refuse, type Refusal } from "../../../src/pass-over/domain/errors"
import type { Application } from "../../../src/pass-over/service/port-change"
import { createChangeWorld, modeOf, state, type ChangeWorld } from "../support/change"

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join("")
const TEN = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`)
const OLD = lines(...TEN)
const NEW = lines(...TEN.map((line, index) => (index === 1 || index === 25 ? `${line} changed` : line)))

const done = (result: { ok: true; application: Application } | { ok: false; refusal: Refusal }) => {
  if (!result.ok) throw new Error(`${result.refusal.code} ${result.refusal.message}`)
  return result.application
}
const refused = (result: { ok: true } | { ok: false; refusal: Refusal }) => {
  if (result.ok) throw new Error("it was not refused")
  return result.refusal
}

const approval = async (world: ChangeWorld, change: Parameters<typeof plan>[1]) => {
  const planned = await plan(
    world.deps,
    change,
    await world.store.verdicts(change.change_id),
    approvalFor(world.deps, { directory: change.directory }),
  )
  if (!planned.ok) throw new Error(planned.refusal.message)
  return planned.planned.approval
}

test("what was accepted is written, with its modes and line endings, and the outcome says so", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "one\r\ntwo\r\n", 0o640)
  world.put("run.sh", "echo\n", 0o644)
  world.put("gone.txt", "bye\n")
  world.put("old/name.txt", "same\n")
  const change = await world.change([
    { path: "a.txt", old: "one\r\ntwo\r\n", new: "one\r\n2\r\n" },
    { path: "run.sh", old: "echo\n", new: "echo\n", modes: ["100644", "100755"] },
    { path: "gone.txt", old: "bye\n" },
    { path: "new/deep/file.bin", new: new Uint8Array([0, 1, 2, 255]) },
    { path: "new/name.txt", old_path: "old/name.txt", old: "same\n", new: "same\n" },
  ])
  await world.accept(change)
  const application = done(
    await apply(world.deps, { ...world, change, actor: "ada", approval: await approval(world, change) }),
  )
  expect(world.paths()).toEqual(["a.txt", "new", "new/deep", "new/deep/file.bin", "new/name.txt", "run.sh"])
  expect(world.get("a.txt")).toBe("one\r\n2\r\n")
  expect(modeOf(join(world.project, "a.txt"))).toBe(0o640)
  expect(modeOf(join(world.project, "run.sh"))).toBe(0o755)
  expect(new Uint8Array(readFileSync(join(world.project, "new/deep/file.bin")))).toEqual(new Uint8Array([0, 1, 2, 255]))
  const outcome = await world.store.outcome(world.pass.id)
  expect(outcome?.output.metadata).toMatchObject({
    applied: true,
    applied_by: "ada",
    applied_at: application.time_done,
  })
  const [line] = await world.store.audit({ pass_over_id: world.pass.id })
  expect(line).toMatchObject({ action: "applied", actor: "ada", applied: true, applied_by: "ada", returned: false })
})

test("what was saved of a pass whose time was up is applied like any other, and it stays timed out (decision 9)", async () => {
  using world = await createChangeWorld({ ended: "timed_out" })
  world.put("a.txt", "one\n")
  const change = await world.change([{ path: "a.txt", old: "one\n", new: "two\n" }])
  await world.accept(change)
  const given = { pass: world.pass, change, actor: "tester", approval: await approval(world, change) }
  done(await apply(world.deps, given))
  expect(world.get("a.txt")).toBe("two\n")
  expect(await world.store.find(world.pass.id)).toMatchObject({ status: "timed_out" })
  expect((await world.store.outcome(world.pass.id))?.output.metadata).toMatchObject({
    applied: true,
    applied_by: "tester",
  })
})

test("undo takes back exactly that, and the undo of the undo brings it back", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", OLD)
  world.put("gone.txt", "bye\n", 0o600)
  const change = await world.change([
    { path: "a.txt", old: OLD, new: NEW },
    { path: "gone.txt", old: "bye\n" },
    { path: "sub/new.txt", new: "hello\n" },
  ])
  await world.accept(change)
  const first = done(await apply(world.deps, { ...world, change, actor: "ada" }))
  const second = done(await undo(world.deps, { ...world, application: first, actor: "ada" }))
  expect(world.paths()).toEqual(["a.txt", "gone.txt"])
  expect(world.get("a.txt")).toBe(OLD)
  expect((await world.store.outcome(world.pass.id))?.output.metadata).toMatchObject({ applied: false })
  expect((await world.store.audit({ pass_over_id: world.pass.id }))[0]).toMatchObject({
    action: "undone",
    applied: false,
  })
  expect(
    refused(
      await undo(world.deps, { ...world, application: (await world.store.application(first.apply_id))!, actor: "ada" }),
    ).message,
  ).toContain("taken back already")
  done(await undo(world.deps, { ...world, application: second, actor: "ada" }))
  expect(world.paths()).toEqual(["a.txt", "sub", "sub/new.txt"])
  expect(world.get("a.txt")).toBe(NEW)
  expect((await world.store.outcome(world.pass.id))?.output.metadata).toMatchObject({
    applied: true,
    applied_by: "ada",
  })
})

test("undo keeps what others wrote elsewhere in the file, and refuses where they touched the same lines", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", OLD)
  const change = await world.change([{ path: "a.txt", old: OLD, new: NEW }])
  await world.accept(change)
  const application = done(await apply(world.deps, { ...world, change, actor: "ada" }))
  world.put("a.txt", NEW.replace("line 15\n", "line 15, by somebody else\n"))
  const undone = done(await undo(world.deps, { ...world, application, actor: "ada" }))
  expect(world.get("a.txt")).toBe(OLD.replace("line 15\n", "line 15, by somebody else\n"))
  world.put("a.txt", world.get("a.txt")!.replace("line 2\n", "line two\n"))
  const refusal = refused(await undo(world.deps, { ...world, application: undone, actor: "ada" }))
  expect(refusal).toMatchObject({ code: "E041", message: expect.stringContaining("lines 2 have been changed since") })
  expect(world.get("a.txt")).toContain("line two\n")
})

test("some hunks of a file are taken and others are not", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", OLD)
  const change = await world.change([{ path: "a.txt", old: OLD, new: NEW }])
  await world.accept(change, [{ path: "a.txt" }, { path: "a.txt", hunk: 1, accepted: false, reason: "not this one" }])
  done(await apply(world.deps, { ...world, change, actor: "ada" }))
  expect(world.get("a.txt")).toBe(OLD.replace("line 26\n", "line 26 changed\n"))
})

test("all or nothing: one file that has changed since keeps all of them from being written", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "a\n")
  world.put("b.txt", "somebody else\n")
  const change = await world.change([
    { path: "a.txt", old: "a\n", new: "A\n" },
    { path: "b.txt", old: "b\n", new: "B\n" },
  ])
  await world.accept(change)
  const refusal = refused(await apply(world.deps, { ...world, change, actor: "ada" }))
  expect(refusal).toMatchObject({ code: "E041", message: expect.stringContaining('"b.txt": it has changed since') })
  expect([world.get("a.txt"), world.get("b.txt")]).toEqual(["a\n", "somebody else\n"])
  expect(await world.store.applications({ pass_over_id: world.pass.id })).toEqual([])
})

test("a changed base is merged into a new proposal, which is not applied by itself", async () => {
  using world = await createChangeWorld()
  const theirs = OLD.replace("line 12\n", "line 12, by somebody else\n")
  world.put("a.txt", theirs)
  const change = await world.change([{ path: "a.txt", old: OLD, new: NEW }])
  await world.accept(change)
  refused(await apply(world.deps, { ...world, change, actor: "ada" }))
  const remade = await mergeWithPresent(world.deps, world.pass, change)
  if (!remade.ok) throw new Error(remade.refusal.message)
  expect(world.get("a.txt")).toBe(theirs)
  expect(remade.change).toMatchObject({ origin: "merged", from_change_id: change.change_id })
  // What was decided about the first says nothing about the second.
  expect(refused(await apply(world.deps, { ...world, change: remade.change, actor: "ada" })).message).toContain(
    "accepted",
  )
  await world.accept(remade.change)
  done(await apply(world.deps, { ...world, change: remade.change, actor: "ada" }))
  expect(world.get("a.txt")).toBe(NEW.replace("line 12\n", "line 12, by somebody else\n"))
  world.put("a.txt", OLD.replace("line 2\n", "line two\n"))
  const conflict = await mergeWithPresent(world.deps, world.pass, change)
  expect(refused(conflict)).toMatchObject({ code: "E041", message: expect.stringContaining("same lines") })
})

test("somebody who may not is refused, and nothing is written", async () => {
  using world = await createChangeWorld()
  const change = await world.change([{ path: "a.txt", new: "a\n" }])
  await world.accept(change)
  const asked: string[][] = []
  const permit = async (ops: readonly { path: string }[]) => {
    asked.push(ops.map(({ path }) => path))
    return refuse("E017", "no")
  }
  expect(refused(await apply(world.deps, { ...world, change, actor: "alice", permit })).code).toBe("E017")
  expect(asked).toEqual([["a.txt"]])
  expect(world.paths()).toEqual([])
})

test("what changed while a person was asked is seen", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", "a\n")
  const change = await world.change([{ path: "a.txt", old: "a\n", new: "A\n" }])
  await world.accept(change)
  const permit = async () => world.put("a.txt", "somebody else\n") as undefined
  expect(refused(await apply(world.deps, { ...world, change, actor: "alice", permit })).code).toBe("E041")
  expect(world.get("a.txt")).toBe("somebody else\n")
})

test("1,000 approvals that were altered after they were shown: none is applied", async () => {
  using world = await createChangeWorld()
  world.put("a.txt", OLD)
  world.put("b.txt", "b\n")
  const change = await world.change([
    { path: "a.txt", old: OLD, new: NEW },
    { path: "b.txt", old: "b\n", new: "B\n" },
    { path: "c.txt", new: "c\n" },
  ])
  await world.accept(change)
  const shown = await approval(world, change)
  let applied = 0
  for (let round = 0; round < 1_000; round += 1) {
    const file = change.files[round % 3]!
    // Another content, another mode, another path, or another choice of hunks than the one that was shown.
    const other = state(`altered ${round}\n`)
    const altered =
      round % 4 === 0
        ? { ...file, new: other }
        : round % 4 === 1
          ? { ...file, path: `other-${round}.txt` }
          : round % 4 === 2
            ? { ...file, new: { ...file.new!, mode: "100755" as const } }
            : { ...file, old: other }
    const files = change.files.map((one) => (one === file ? altered : one))
    const verdicts = (await world.store.verdicts(change.change_id)).map((verdict) =>
      verdict.path === file.path ? { ...verdict, path: altered.path } : verdict,
    )
    const store = { ...world.store, verdicts: async () => verdicts }
    const result = await apply(
      { ...world.deps, store },
      { ...world, change: { ...change, files }, actor: "ada", approval: shown },
    )
    if (result.ok) applied += 1
  }
  expect(applied).toBe(0)
  expect([world.get("a.txt"), world.get("b.txt"), world.get("c.txt")]).toEqual([OLD, "b\n", undefined])
  // The control: what was shown is applied.
  done(await apply(world.deps, { ...world, change, actor: "ada", approval: shown }))
})

test("a content that is large goes through in pieces and comes back the same", async () => {
  using world = await createChangeWorld()
  const old = new Uint8Array(5_000_000).fill(7)
  const next = new Uint8Array(5_500_000).fill(9)
  world.put("big.bin", old)
  const change = await world.change([{ path: "big.bin", old, new: next }])
  await world.accept(change)
  const application = done(await apply(world.deps, { ...world, change, actor: "ada" }))
  expect(Bun.hash(readFileSync(join(world.project, "big.bin")))).toBe(Bun.hash(next))
  done(await undo(world.deps, { ...world, application, actor: "ada" }))
  expect(Bun.hash(readFileSync(join(world.project, "big.bin")))).toBe(Bun.hash(old))
})

test("two that write into one tree at once do not see half of each other", async () => {
  using world = await createChangeWorld()
  const changes = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      world.change(Array.from({ length: 40 }, (_, index) => ({ path: `f${index}.txt`, new: `${n}\n` }))),
    ),
  )
  for (const change of changes) await world.accept(change)
  const results = await Promise.all(changes.map((change) => apply(world.deps, { ...world, change, actor: "ada" })))
  expect(results.filter((result) => result.ok)).toHaveLength(1)
  expect(new Set(Array.from({ length: 40 }, (_, index) => world.get(`f${index}.txt`))).size).toBe(1)
  expect(world.paths().filter((path) => path.includes(".pass-over"))).toEqual([])
  expect(existsSync(join(world.project, "f39.txt"))).toBe(true)
})
