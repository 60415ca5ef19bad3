import { expect, test } from "bun:test"
import { settle } from "../support/fake-clock"
import { recover, resume } from "../../../src/pass-over/service/recover"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

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
