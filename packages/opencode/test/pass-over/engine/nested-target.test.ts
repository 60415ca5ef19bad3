import { expect, test } from "bun:test"
import { join } from "node:path"
import { operations } from "../../../src/pass-over/domain/change/change"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { applyAndVerify, lastApplied, preview, review, undoOne } from "../../../src/pass-over/service/change/act"
import { allowChange } from "../../../src/pass-over/service/change/approve"
import { AUTO, fitToApply, autoApply } from "../../../src/pass-over/service/change/auto"
import { mergeWithPresent } from "../../../src/pass-over/service/change/merge"
import { recoverApplies } from "../../../src/pass-over/service/change/recover"
import type { Client } from "../../../src/session/client"
import { createHost } from "../../../src/session/host"
import { createObserved } from "../../../src/session/observed"
import { createTurns } from "../../../src/session/turns"
import { clock } from "../../../src/runtime"
import { attendReworks } from "../../../src/pass-over/service/change/rework"
import { sendBack } from "../../../src/pass-over/service/change/send-back"
import { tellApplied } from "../../../src/pass-over/service/change/tell"
import { viewChange } from "../../../src/pass-over/service/change/view"
import type { Outcome } from "../../../src/pass-over/service/port"
import { back, changed, createNestedWorld, FILES, LINES, prefer, put, read } from "../support/nested"
import type { NestedWorld, Working } from "../support/nested"

/** A nested pass that is over with its proposal left alone, and so is the one above it. */
async function leftAlone(world: NestedWorld, above?: string) {
  const seen = {} as { nested: Pass; tree: string; approval: string }
  const runner = await world.run("scout", async (scout) => {
    seen.tree = scout.tree
    if (above !== undefined) put(scout.tree, "a.txt", above)
    const nested = await scout.on("audit", async (audit) => {
      put(audit.tree, "a.txt", `${read(audit.tree, "a.txt")}below\n`)
      await back(audit)
    })
    await nested.outcome
    seen.nested = nested.pass
    const change = (await changed(world, nested.pass))!
    const verdicts = [{ path: "a.txt", hunk: null, accepted: true, reason: null }]
    await review(world.deps, { pass: nested.pass, change, verdicts, actor: "ada" })
    const shown = await preview(world.deps, change)
    seen.approval = shown.ok ? shown.planned.approval : ""
    await back(scout)
  })
  return { ...seen, middle: runner.pass }
}

test("once the tree above is gone it goes to the project, where its base is checked, and says so", async () => {
  using world = createNestedWorld(FILES)
  const { nested, tree } = await leftAlone(world)
  const view = await viewChange(world.deps, (await changed(world, nested))!)
  expect(view.notes.join()).toContain("which is over: applied now it is written into the project itself")
  const applied = await world.apply(nested, "ada")
  expect(applied).toMatchObject({ ok: true, application: { directory: world.directory } })
  expect(tellApplied(applied, "An undo")).toStartWith(
    "Applied to the project itself, because the tree that it was made for is gone: 1 file",
  )
  expect(read(world.directory, "a.txt")).toBe(`${LINES}below\n`)
  expect(read(tree, "a.txt")).not.toBe(`${LINES}below\n`)
})

test("where the project never had what it was made on, that is a conflict by name, and can be merged", async () => {
  using world = createNestedWorld(FILES)
  const { nested } = await leftAlone(world, LINES.replace("line 1\n", "first\n"))
  const refused = await world.apply(nested, "ada")
  expect(refused).toMatchObject({ ok: false, refusal: { code: "E041" } })
  expect(refused.ok ? "" : refused.refusal.message).toContain('"a.txt": it has changed since')
  const merged = await mergeWithPresent(world.deps, nested, (await changed(world, nested))!)
  expect(merged).toMatchObject({ ok: true, change: { directory: world.directory } })
  expect(await world.apply(nested, "ada")).toMatchObject({ ok: true })
  expect(read(world.directory, "a.txt")).toBe(`${LINES}below\n`)
})

test("an approval that was given for the tree is none for the project", async () => {
  using world = createNestedWorld(FILES)
  const { nested, approval } = await leftAlone(world)
  const change = (await changed(world, nested))!
  expect(approval).not.toBe("")
  const applied = await applyAndVerify(world.deps, { pass: nested, change, actor: "ada", approval })
  expect(applied).toMatchObject({ ok: false, refusal: { code: "E041" } })
  expect(read(world.directory, "a.txt")).toBe(LINES)
})

test("a tree that another pass has by then is not written into", async () => {
  using world = createNestedWorld(FILES)
  const { nested, tree } = await leftAlone(world)
  await world.clock.advance(1)
  const other = await world.run("inspector", async (inspector) => {
    expect(inspector.tree).toBe(tree)
    expect(await world.apply(nested, "ada")).toMatchObject({ ok: true, application: { directory: world.directory } })
    await back(inspector)
  })
  expect(await changed(world, other.pass)).toBeUndefined()
})

test("what is read of a tree is the last: nobody begins to write there after it, and what is being written is waited for", async () => {
  using world = createNestedWorld(FILES)
  const seen = {} as { nested: Pass; told: string }
  const runner = await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      put(audit.tree, "made.txt", "made\n")
      await back(audit)
    })
    await nested.outcome
    const { store } = world.engine
    const [row] = (await store.worktrees()).filter(({ pass_over_id }) => pass_over_id === scout.pass.id)
    const applied = await world.apply(nested.pass, "scout", async () => {
      await store.closeWorktree({ directory: row!.directory, pass_over_id: scout.pass.id })
      return undefined
    })
    seen.told = applied.ok ? "" : applied.refusal.message
    seen.nested = nested.pass
    await back(scout)
  })
  expect(seen.told).toContain("has just ended")
  expect(await changed(world, runner.pass)).toBeUndefined()
  expect(read(world.directory, "made.txt")).toBeUndefined()
})

test("an undo goes where the apply went, for as long as that is there", async () => {
  using world = createNestedWorld(FILES)
  const seen = {} as { nested: Pass }
  const runner = await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      put(audit.tree, "a.txt", `${LINES}below\n`)
      await back(audit)
    })
    await nested.outcome
    seen.nested = nested.pass
    await world.apply(nested.pass, "scout")
    const undone = await undoOne(world.deps, {
      application: await lastApplied(world.deps, { pass_over_id: nested.pass.id }),
      actor: "scout",
    })
    expect(undone).toMatchObject({ ok: true })
    expect(read(scout.tree, "a.txt")).toBe(LINES)
    await world.apply(nested.pass, "scout")
    expect(read(scout.tree, "a.txt")).toBe(`${LINES}below\n`)
    await back(scout)
  })
  await world.apply(runner.pass, "ada")
  const application = await lastApplied(world.deps, { pass_over_id: seen.nested.id })
  const late = await undoOne(world.deps, { application, actor: "ada" })
  expect(late).toMatchObject({ ok: false, refusal: { code: "E042" } })
  expect(late.ok ? "" : late.refusal.message).toContain("is not there any more")
  expect(read(world.directory, "a.txt")).toBe(`${LINES}below\n`)
})

const WILLING = { auto_apply: true, require_user_approval: false }
const PROVEN = { decision: "approved", auto_apply_allowed: true, evidence: [{ type: "file", path: "a.txt" }] }

test("what applies itself does so in the tree above, and never in the project once that is gone", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { pairs: { "scout->audit": WILLING } })
  const seen = {} as { late: Pass; outcome: Outcome }
  await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      audit.tool("read", { filePath: join(audit.tree, "a.txt") }, LINES)
      put(audit.tree, "a.txt", `${LINES}below\n`)
      await back(audit, PROVEN)
    })
    const { output } = await nested.outcome
    expect([output.metadata.applied_by, read(scout.tree, "a.txt")]).toEqual([AUTO, `${LINES}below\n`])
    // This one has nothing to show for itself; let it be as if that were only seen when all is over.
    const second = await scout.on("audit", async (audit) => {
      put(audit.tree, "late.txt", "late\n")
      await back(audit, { decision: "approved", auto_apply_allowed: true })
    })
    seen.outcome = await second.outcome
    seen.late = second.pass
    await back(scout)
  })
  const { late, outcome } = seen
  const verdict = { status: "VERIFIED" as const, checked: 1, unresolved: [] }
  const proven = { ...outcome, output: { ...outcome.output, summary: { ...outcome.output.summary, verdict } } }
  expect(fitToApply(late, proven)).toBe(true)
  expect((await autoApply(world.deps, late, proven)).output.metadata.applied).toBe(false)
  expect(read(world.directory, "late.txt")).toBeUndefined()
})

test("what a person sends back of it is done again in its place: in the tree above while that is there, then on the project", async () => {
  using world = createNestedWorld(FILES)
  const { engine, deps, host } = world
  const { files, nearby } = createHost({ client: {} as Client, observed: createObserved(), turns: createTurns(clock) })
  Object.assign(host, { files, nearby })
  engine.projects.set(world.directory, world.project)
  const sent = async (pass: Pass, script: Parameters<NestedWorld["plays"]>[1]) => {
    const change = (await changed(world, pass))!
    const verdicts = [{ path: "made.txt", hunk: null, accepted: false, reason: "as in later.txt" }]
    await review(deps, { pass, change, verdicts, actor: "ada" })
    world.plays("audit", script)
    await sendBack(engine, deps, { pass, change, actor: "ada", rework: true })
    await world.clock.advance(1)
    await attendReworks(engine)
    const again = engine.running.all().find((runner) => runner.pass.continues_pass_id === pass.id)!
    await again.outcome
    return again.pass
  }
  const seen = {} as { again: Pass }
  const along = async ({ id }: Pass) => {
    const kept = await engine.store.request(id)
    const read = kept?.request.work_context.files ?? []
    return read.flatMap(({ path, content }) => (path === "later.txt" ? [{ path, content }] : []))
  }
  const script = (found: (string | undefined)[]) => async (audit: Working) => {
    found.push(read(audit.tree, "made.txt"), read(audit.tree, "later.txt"))
    put(audit.tree, "made.txt", "made better\n")
    await back(audit)
  }
  await world.run("scout", async (scout) => {
    const first = await scout.on("audit", async (audit) => {
      put(audit.tree, "made.txt", "made\n")
      await back(audit)
    })
    await first.outcome
    put(scout.tree, "later.txt", "later\n")
    const found: (string | undefined)[] = []
    seen.again = await sent(first.pass, script(found))
    expect(found).toEqual(["made\n", "later\n"])
    // What goes along is read where the one above works.
    expect(await along(seen.again)).toEqual([{ path: "later.txt", content: "later\n" }])
    expect((await changed(world, seen.again))?.directory).toBe(scout.tree)
    await back(scout)
  })
  const found: (string | undefined)[] = []
  const last = await sent(seen.again, script(found))
  expect(found).toEqual(["made better\n", undefined])
  expect(await along(last)).toEqual([])
  expect((await changed(world, last))?.directory).toBe(world.directory)
})

test("a person is asked about the project, and not about a tree", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { defaults: { require_user_approval: true } })
  const { engine } = world
  const permit = async (pass: Pass) =>
    allowChange(engine, { pass, change: (await changed(world, pass))!, asked_by: "scout" })
  const asked = async (pass: Pass) => (await engine.store.gates({ pass_over_id: pass.id })).length
  const runner = await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      put(audit.tree, "made.txt", "made\n")
      await back(audit)
    })
    await nested.outcome
    expect(await world.apply(nested.pass, "scout", await permit(nested.pass))).toMatchObject({ ok: true })
    expect(await asked(nested.pass)).toBe(0)
    await back(scout)
  })
  const applied = world.apply(runner.pass, "alice", await permit(runner.pass))
  while ((await asked(runner.pass)) === 0) await Bun.sleep(5)
  await world.clock.advance(24 * 60 * 60 * 1_000)
  expect(await applied).toMatchObject({ ok: false })
  expect(read(world.directory, "made.txt")).toBeUndefined()
})

test("an apply that was broken off in the tree above is ended there, and not at all once that is gone", async () => {
  using world = createNestedWorld(FILES)
  const { engine, deps } = world
  const broken = async (pass: Pass, apply_id: `apl_${string}`) => {
    const change = (await changed(world, pass))!
    const ops = change.files.flatMap((file) => operations(file))
    const application = {
      apply_id,
      change_id: change.change_id,
      pass_over_id: pass.id,
      kind: "apply",
      undoes: null,
    } as const
    const more = { directory: change.directory, ops, approval: "", actor: "scout", owner_id: engine.owner_id } as const
    const rest = { status: "pending", problem: null, verification: null, time_created: 1, time_done: null } as const
    await engine.store.intend({ ...application, ...more, ...rest })
    await recoverApplies(deps, () => false)
    return engine.store.application(apply_id)
  }
  const seen = {} as { nested: Pass }
  await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      put(audit.tree, "made.txt", "made\n")
      await back(audit)
    })
    await nested.outcome
    seen.nested = nested.pass
    // It had been written, and nobody was left to say so.
    put(scout.tree, "made.txt", "made\n")
    expect(await broken(nested.pass, engine.ids.make("apl"))).toMatchObject({ status: "done" })
    await back(scout)
  })
  const late = await broken(seen.nested, engine.ids.make("apl"))
  expect(late).toMatchObject({ status: "not_applied", problem: expect.stringContaining("is gone") })
})
