import { expect, test } from "bun:test"
import { settle } from "../support/fake-clock"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { openGate } from "../../../src/pass-over/service/gate"
import { recover, resume, whole } from "../../../src/pass-over/service/recover"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import type { Child } from "../support/scripted-host"

const dead = () => "dead" as const

test("a pass whose process is gone gets one outcome, with what its child had stored", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.say("The sign is wrong.")
    await child.told
  })
  const runner = await started(first)
  await settle(20)

  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = first.host.messages
  expect(await recover(second.engine, dead)).toBe(1)
  expect(await second.engine.store.outcome(runner.pass.id)).toMatchObject({ error_code: "E011", transcript: "unread" })
  await resume(second.engine, second.project, dead)
  const outcome = await second.engine.store.outcome(runner.pass.id)
  expect(outcome).toMatchObject({ transcript: "read", output: { status: "failed", summary: { files_reviewed: 1 } } })
  expect(outcome?.output.artifacts.map((artifact) => artifact.type)).toEqual(["message", "tool_result"])
  expect(second.host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])

  // Recovery again finds nothing, and the old owner, should it still live, cannot end it a second time.
  expect(await recover(second.engine, dead)).toBe(0)
  runner.input({ type: "cancel", failure: { code: "E016", message: "late" } })
  await settle(40)
  expect((await second.engine.store.outcome(runner.pass.id))?.error_code).toBe("E011")
  expect(
    (await second.engine.store.audit({ pass_over_id: runner.pass.id })).filter((line) => line.action === "returned"),
  ).toHaveLength(1)
})

test("a return that was staged before the crash is the outcome", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    await child.return({ ...VERDICT, findings: ["one", "two"] })
    await child.told
  })
  const runner = await started(first)
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = first.host.messages
  await recover(second.engine, dead)
  await resume(second.engine, second.project, dead)
  const outcome = await second.engine.store.outcome(runner.pass.id)
  expect(outcome).toMatchObject({
    error_code: null,
    output: { status: "completed", summary: { decision: "approved", issues_found: 2 } },
  })
  expect(outcome?.output.artifacts.map((artifact) => artifact.type)).toEqual(["finding", "finding", "tool_result"])
})

const HOUR = 3_600_000

test("the time in which no opencode ran is nobody's work: a pass ends where its child was last seen", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    await child.wait(10_000)
    child.say("The sign is wrong.")
    child.step()
    await child.told
  })
  const { pass } = await started(first)
  await first.clock.advance(11_000)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = first.host.messages
  second.clock.shift(HOUR)
  await recover(second.engine, dead)
  await resume(second.engine, second.project, dead)
  const { metadata, summary } = (await second.engine.store.outcome(pass.id))!.output
  expect(metadata.wall_time_ms).toBeGreaterThanOrEqual(10_000)
  expect(metadata.wall_time_ms).toBeLessThanOrEqual(11_000)
  expect(metadata.completed_at).toBe(pass.time_created + metadata.wall_time_ms)
  expect(metadata.subagent_compute_ms).toBe(metadata.wall_time_ms)
  expect(summary.time_elapsed_ms).toBe(metadata.wall_time_ms)
  expect((await second.engine.store.find(pass.id))?.time_ended).toBe(metadata.completed_at)
  const [line] = await second.engine.store.audit({ pass_over_id: pass.id, action: "returned" })
  expect(line).toMatchObject({ timestamp: second.clock.now(), completed_at: metadata.completed_at! })
  expect(line?.duration_ms).toBe(metadata.wall_time_ms)
})

test("a process that said it was there, and nothing more, was at work until then; but not while it asked a person", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => child.told)
  const { pass } = await started(first)
  await first.clock.advance(2_000)
  const at = first.clock.now()
  await first.engine.store.enter(
    { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "h", place: "p" },
    at,
  )
  await first.engine.store.beat(first.engine.owner_id, at + 30_000)
  const { id: pass_over_id, root_session_id: session_id, directory } = pass
  await first.clock.advance(10_000)
  const asked = {
    key: "k",
    kind: "question",
    pass,
    session_id,
    directory,
    asked_by: "audit",
    question: "Which?",
  } as const
  await openGate(first.engine, { ...asked, policy: "p", default_action: "reject", ttl_ms: HOUR })
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.clock.shift(HOUR)
  await recover(second.engine, dead)
  const { metadata } = (await second.engine.store.outcome(pass_over_id))!.output
  expect(metadata).toMatchObject({ completed_at: at + 30_000, wall_time_ms: 32_000, subagent_compute_ms: 12_000 })
})

test("nor while the host asked a person, which only its last view tells", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => child.told)
  const runner = await started(first)
  await first.clock.advance(5_000)
  runner.input({ type: "waiting", more: true })
  await first.clock.advance(2_000)
  const owner = { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "h", place: "p" }
  await first.engine.store.enter(owner, first.clock.now() + 60_000)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.clock.shift(HOUR)
  await recover(second.engine, dead)
  const { metadata } = (await second.engine.store.outcome(runner.pass.id))!.output
  expect(metadata.wall_time_ms).toBe(67_000)
  expect(metadata.subagent_compute_ms).toBeWithin(5_000, 6_500)
})

test("a return that was staged before the crash was the end of the work", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    await child.wait(5_000)
    await child.return(VERDICT)
    await child.told
  })
  const { pass } = await started(first)
  await first.clock.advance(6_000)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.clock.shift(HOUR)
  await recover(second.engine, dead)
  const outcome = await second.engine.store.outcome(pass.id)
  expect(outcome?.output).toMatchObject({ status: "completed", metadata: { wall_time_ms: 5_000 } })
  expect(outcome?.output.metadata.origination_chain.at(-1)).toMatchObject({
    action: "returned",
    timestamp: pass.time_created + 5_000,
  })
})

test("what never began waited for its turn, and worked for no moment", async () => {
  using first = createEngineWorld()
  first.preferences.push({ origin: "project", path: "p", preferences: { limits: { running: 1 } } })
  first.host.script("audit", async (child) => child.told)
  await started(first, { wait: false })
  const { pass } = await started(first, { wait: false })
  await first.clock.advance(4_000)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.clock.shift(HOUR)
  await recover(second.engine, dead)
  const { metadata } = (await second.engine.store.outcome(pass.id))!.output
  expect(metadata.subagent_compute_ms).toBeLessThan(100)
  expect(metadata.wall_time_ms).toBeLessThanOrEqual(4_000)
})

const works = async (child: Child) => {
  child.tool("read", { filePath: "a.ts" }, "1: a")
  child.say("The sign is wrong.")
  await child.told
}

test("a host that cannot say what a child did is asked again at the next start, and the failure is told", async () => {
  using first = createEngineWorld()
  first.host.script("audit", works)
  const { pass } = await started(first)
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = async () => Promise.reject(new Error("the host is starting"))
  await recover(second.engine, dead)
  await resume(second.engine, second.project, dead)
  expect(await second.engine.store.outcome(pass.id)).toMatchObject({ transcript: "unread" })
  expect(second.logged).toMatchObject([{ level: "warn" }, { message: "a transcript could not be read" }])

  // Whoever asks meanwhile hears of the failure too, and makes nothing of it.
  const [found, outcome] = await Promise.all([first.engine.store.find(pass.id), first.engine.store.outcome(pass.id)])
  expect(await whole(second.engine, second.project, found!, outcome!)).toMatchObject({ transcript: "unread" })
  expect(second.logged.filter(({ message }) => message === "a transcript could not be read")).toHaveLength(2)

  second.host.messages = first.host.messages
  await resume(second.engine, second.project, dead)
  expect(await second.engine.store.outcome(pass.id)).toMatchObject({
    transcript: "read",
    output: { summary: { files_reviewed: 1 } },
  })
})

test("a child whose session is gone said nothing, for good", async () => {
  using first = createEngineWorld()
  first.host.script("audit", works)
  const { pass } = await started(first)
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = async () => Promise.reject(new Error("no such session"))
  second.host.gone.add((await second.engine.store.find(pass.id))!.child_session_id!)
  await recover(second.engine, dead)
  await resume(second.engine, second.project, dead)
  expect(await second.engine.store.outcome(pass.id)).toMatchObject({ transcript: "read", output: { artifacts: [] } })
})

test("passes that cannot be read or brought do not keep the others from it", async () => {
  using first = createEngineWorld()
  first.preferences.push({
    origin: "project",
    path: "p",
    preferences: { limits: { running: 20, running_per_subagent: 20, running_per_model: 20 } },
  })
  first.host.script("audit", works)
  // More broken ones than are read at once, and before the good ones.
  const passes: Pass[] = []
  for (const _ of Array.from({ length: 8 })) passes.push((await started(first, { wait: false })).pass)
  await settle(60)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  const found = await Promise.all(passes.map(({ id }) => first.engine.store.find(id)))
  const broken = new Set(found.slice(0, 5).map((pass) => pass!.child_session_id!))
  const asked: string[] = []
  second.host.messages = async (session_id) => {
    asked.push(session_id)
    if (broken.has(session_id)) throw new Error("broken")
    return first.host.messages(session_id)
  }
  const deliver = second.host.deliver
  second.host.deliver = async (message) =>
    message.of === passes[0]!.id ? Promise.reject(new Error("broken")) : deliver(message)
  await recover(second.engine, dead)
  await resume(second.engine, second.project, dead)
  const outcomes = await Promise.all(passes.map(({ id }) => second.engine.store.outcome(id)))
  expect(outcomes.map((outcome) => outcome?.transcript)).toEqual([...Array(5).fill("unread"), "read", "read", "read"])
  expect(asked.filter((session_id) => broken.has(session_id))).toHaveLength(5)
  expect(second.host.delivered.map(({ of }) => of).toSorted()).toEqual(passes.slice(1).map(({ id }) => id))
})

test("a pass that never began is cancelled", async () => {
  using first = createEngineWorld()
  first.engine.store.bind = () => new Promise(() => {})
  void first.ask()
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  expect(await recover(second.engine, dead)).toBe(1)
  const [pass] = await second.engine.store.list({})
  expect(pass?.status).toBe("cancelled")
  expect((await second.engine.store.outcome(pass!.id))?.output.status).toBe("aborted")
})

test("passes of a process that is alive are left alone, and of one out of sight until its lease is over", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => child.told)
  await started(first)
  await settle(20)
  const owner = { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "elsewhere", place: "p" }
  await first.engine.store.enter(owner, first.clock.now())
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  expect(await recover(second.engine, () => "alive")).toBe(0)
  expect(await recover(second.engine, () => "unknown")).toBe(0)
  await second.clock.advance(61_000)
  expect(await recover(second.engine, () => "unknown")).toBe(1)
})

test("a process that was silent for longer than its lease, and woke up, keeps its later passes", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => child.told)
  const owner = { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "elsewhere", place: "p" }
  await first.engine.store.enter(owner, first.clock.now())
  await started(first)
  await settle(20)
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  await second.clock.advance(61_000)
  expect(await recover(second.engine, () => "unknown")).toBe(1)
  await first.engine.store.beat(first.engine.owner_id, second.clock.now())
  await started(first)
  await settle(20)
  expect(await recover(second.engine, () => "unknown")).toBe(0)
})

test("the lease check is what keeps a living pass from being taken: without it, it is lost", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    await child.wait(1_000)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const runner = await started(first)
  await settle(20)
  await first.engine.store.enter(
    { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "h", place: "p" },
    0,
  )
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  // A build that takes everybody else for dead.
  expect(await recover(second.engine, dead)).toBe(1)
  const { error_code } = await outcomeOf(first, runner)
  expect(error_code).toBe("E011")
})
