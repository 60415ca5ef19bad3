import { expect, test } from "bun:test"
import type { ChangeSet } from "../../../src/pass-over/domain/change/change"
import { attendGates } from "../../../src/pass-over/service/act"
import { review } from "../../../src/pass-over/service/change/act"
import { keep } from "../../../src/pass-over/service/change/blob"
import { changesOf } from "../../../src/pass-over/service/change/deps"
import { attendReworks } from "../../../src/pass-over/service/change/rework"
import { attendTells, sendBack } from "../../../src/pass-over/service/change/send-back"
import { answerGate } from "../../../src/pass-over/service/gate"
import { bytes, sha, state } from "../support/change"
import { started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

/** A pass that wants two files made, one of which a person has declined and sent back. */
async function declined(world: EngineWorld, ask: Parameters<EngineWorld["ask"]>[0] = {}, rework = true) {
  const { engine, project, host } = world
  engine.projects.set(project.directory, project)
  host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { pass } = await started(world, ask)
  await world.clock.until(() => engine.running.get(pass.id) === undefined)
  const deps = changesOf(engine)
  if (!deps) throw new Error("no files")
  await keep(deps, [{ hash: sha(bytes("new\n")), content: bytes("new\n") }])
  const change: ChangeSet = {
    change_id: engine.ids.make("chg"),
    pass_over_id: pass.id,
    origin: "isolated",
    directory: project.directory,
    files: ["a.ts", "b.ts"].map((path) => ({
      path,
      old_path: null,
      old: null,
      new: state("new\n"),
      binary: false,
      reason: "",
      confidence: "high",
      refused: null,
    })),
    notes: [],
    from_change_id: null,
    time_created: engine.clock.now(),
  }
  await engine.store.saveChange(change)
  const verdicts = [
    { path: "a.ts", hunk: null, accepted: true, reason: null },
    { path: "b.ts", hunk: null, accepted: false, reason: "keep the old name" },
  ]
  await review(deps, { pass, change, verdicts, actor: "ada" })
  const sent = await sendBack(engine, deps, { pass, change, actor: "ada", rework })
  if (!sent.ok) throw new Error(sent.refusal.message)
  return { pass, command_id: sent.command_id }
}

const ended = (world: EngineWorld) =>
  world.clock.until(() => world.engine.running.all().length === 0).then(() => settle(40))

const passes = (world: EngineWorld) => world.engine.store.list({})

test("what a person sends back goes to the child in its own session, and its result to the originator, once", async () => {
  using world = createEngineWorld()
  const { engine, host } = world
  const { pass, command_id } = await declined(world, {
    constraints: ["read_only"],
    override: { idle_timeout_ms: 60_000 },
  })
  await attendTells(engine)
  expect(host.delivered).toEqual([])
  await Promise.all([attendReworks(engine), attendReworks(engine)])
  const [, again] = await passes(world)
  expect(again).toMatchObject({
    continues_pass_id: pass.id,
    originating_agent_id: "alice",
    session_id: "ses_root",
    wait: false,
    reason: "rework",
    constraints: ["read_only"],
    overrides: { idle_timeout_ms: 60_000 },
  })
  expect(await engine.store.commandState(command_id)).toMatchObject({
    status: "done",
    result: `audit does it again in its own session, as pass ${again?.id}.`,
  })
  // The originator reads that it is being done, and is not woken up for it.
  expect(host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
  expect(host.delivered[0]?.text).toContain("b.ts: keep the old name")
  expect(host.delivered[0]?.text).toContain(`as pass ${again?.id}`)
  await ended(world)
  expect(host.children).toHaveLength(1)
  const prompt = host.prompts.at(-1)
  expect(prompt?.session_id).toBe(host.children[0]?.session_id ?? "")
  expect(prompt?.text).toContain("b.ts: keep the old name")
  expect(prompt?.text).not.toContain("a.ts: ")
  await attendReworks(engine)
  expect(host.delivered).toHaveLength(2)
  expect(host.delivered[1]).toMatchObject({ session_id: "ses_root", start: true, of: again?.id })
  expect(host.delivered[1]?.text).toContain(`A pass that goes on from pass ${pass.id} has come back.`)
  expect(await passes(world)).toHaveLength(2)
})

test("what the preferences forbid by then is forbidden in it, and what its originator had forbidden stays so", async () => {
  using world = createEngineWorld()
  await declined(world, { constraints: ["no_network"], override: { can_modify_files: false } })
  world.preferences.push({
    origin: "project",
    path: "p",
    preferences: { pairs: { "alice->audit": { constraints: ["paths: src/**"] } } },
  })
  await attendReworks(world.engine)
  const [, again] = await passes(world)
  expect(again?.constraints).toEqual(["paths: src/**", "no_network"])
  expect(again?.preference.values).toMatchObject({ can_modify_files: false })
  await ended(world)
})

test("where the child cannot go on the originator is told why, and goes on itself", async () => {
  using world = createEngineWorld()
  const { engine, host } = world
  const { pass, command_id } = await declined(world)
  host.gone.add(host.children[0]!.session_id)
  await attendReworks(engine)
  expect(await passes(world)).toHaveLength(1)
  expect(host.delivered).toMatchObject([{ session_id: "ses_root", start: true }])
  const text = host.delivered[0]?.text ?? ""
  expect(text).toContain("b.ts: keep the old name")
  expect(text).toContain(`The session of audit in pass ${pass.id} is not there any more.`)
  expect((await engine.store.commandState(command_id))?.result).toContain("alice was told, and goes on with it.")
  await attendReworks(engine)
  expect(host.delivered).toHaveLength(1)
})

test("it is begun once, though whoever began it died before it could say so", async () => {
  using world = createEngineWorld()
  const { engine, host } = world
  const { command_id } = await declined(world)
  const { answer } = engine.store
  engine.store.answer = async () => Promise.reject(new Error("killed"))
  await attendReworks(engine).catch(() => {})
  expect(await passes(world)).toHaveLength(2)
  expect(await engine.store.commandState(command_id)).toMatchObject({ status: "pending" })
  await ended(world)
  engine.store.answer = answer
  await attendReworks(engine)
  const [, again] = await passes(world)
  expect(await passes(world)).toHaveLength(2)
  expect((await engine.store.commandState(command_id))?.result).toContain(`as pass ${again?.id}`)
  expect(host.delivered.map(({ start }) => start)).toEqual([true, false])
  // Nor was it asked for in vain.
  expect(await engine.store.audit({ action: "refused" })).toEqual([])
})

test("one of two opencodes begins it, and neither takes the other's for a reason to fall back", async () => {
  using world = createEngineWorld()
  const { engine, host } = world
  await declined(world)
  const { byCall, answer } = engine.store
  // The other one looks before the first has written anything, and comes second.
  const early = { left: 2 }
  const slow = async (...call: Parameters<typeof byCall>) => ((early.left -= 1) >= 0 ? undefined : byCall(...call))
  using other = createEngineWorld({ owner: "2", seed: 50_000, store: { ...engine.store, byCall: slow } })
  engine.store.answer = async () => Promise.reject(new Error("slow"))
  other.engine.projects.set("/project", other.project)
  other.host.children.push(...host.children)
  other.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  await attendReworks(engine).catch(() => {})
  await attendReworks(other.engine)
  engine.store.answer = answer
  await attendReworks(engine)
  expect(await passes(world)).toHaveLength(2)
  const told = [...host.delivered, ...other.host.delivered].filter(({ text }) => text.includes("declined this"))
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({ start: false })
  expect(told[0]?.text).toContain("does it again in its own session")
})

test("it is left to the opencode that has the child's tree, while that one is there", async () => {
  using world = createEngineWorld()
  const { engine, host, clock } = world
  const { command_id } = await declined(world)
  host.directoryOf = async () => "/tree"
  const asked: string[] = []
  const standing = async ({ directory }: { directory: string }) => (asked.push(directory), "elsewhere")
  world.project.workspaces = { standing, forgo: () => {}, expect: () => {} } as never
  const waiting = attendReworks(engine)
  await attendReworks(engine)
  await settle(20)
  expect(asked).toEqual(["/tree"])
  expect(await engine.store.commandState(command_id)).toMatchObject({ status: "pending" })
  await engine.store.answer({ command_id, status: "done", result: "Done there.", at: 1 })
  await clock.advance(3_000)
  await waiting
  expect([host.delivered, (await passes(world)).length]).toEqual([[], 1])
})

test("what is only told stays told: nothing is done again", async () => {
  using world = createEngineWorld()
  const { engine, host } = world
  await declined(world, {}, false)
  await attendReworks(engine)
  expect(host.delivered).toEqual([])
  await attendTells(engine)
  expect(host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
  expect(await passes(world)).toHaveLength(1)
})

test("of a result that is held for a person, or was kept back, its originator reads nothing that was declined", async () => {
  for (const dropped of [false, true]) {
    using world = createEngineWorld()
    const { engine, host } = world
    const preferences = { pairs: { "alice->audit": { auto_return: false, auto_review: false } } }
    world.preferences.push({ origin: "project", path: "p", preferences })
    const { pass, command_id } = await declined(world, {}, false)
    const [gate] = await engine.store.gates({ pass_over_id: pass.id, kind: "delivery", status: ["pending"] })
    const no = { verdict: "reject", note: null, by: "ada", surface: "the terminal" } as const
    if (dropped) await answerGate(engine, gate!.gate_id, no)
    await attendGates(engine)
    await attendTells(engine)
    expect(await engine.store.outcome(pass.id)).toMatchObject(dropped ? { dropped } : { held: true })
    const result = expect.stringContaining("may not read this result")
    expect(await engine.store.commandState(command_id)).toMatchObject({ status: "done", result })
    expect(host.delivered).toEqual([])
  }
})

test("what was declined is told also where no result was asked for, as of a flow's steps, unless a person would see it first", async () => {
  for (const auto_return of [true, false]) {
    using world = createEngineWorld()
    const preferences = { pairs: { "alice->audit": { auto_return, auto_review: false } } }
    world.preferences.push({ origin: "project", path: "p", preferences })
    await declined(world, { return_required: false }, false)
    await attendTells(world.engine)
    expect(world.host.delivered.map(({ text }) => text.includes("keep the old name"))).toEqual(
      auto_return ? [true] : [],
    )
  }
})

test("a rework that cannot go on, of a result that its originator may not read, does not say that it was told", async () => {
  using world = createEngineWorld()
  const preferences = { pairs: { "alice->audit": { auto_return: false, auto_review: false } } }
  world.preferences.push({ origin: "project", path: "p", preferences })
  const { command_id } = await declined(world)
  world.host.gone.add(world.host.children[0]!.session_id)
  await attendReworks(world.engine)
  const result = expect.stringMatching(/is not there any more\. .*alice was not told: it may not read this result\.$/)
  expect(await world.engine.store.commandState(command_id)).toMatchObject({ status: "done", result })
  expect(world.host.delivered).toEqual([])
})
