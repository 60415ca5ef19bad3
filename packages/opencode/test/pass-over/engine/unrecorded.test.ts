import { expect, test } from "bun:test"
import type { ContextMessage } from "../../../src/pass-over/domain/context"
import { answerText } from "../../../src/pass-over/service/deliver"
import { sendMany } from "../../../src/pass-over/service/send-many"
import { openStore } from "../support/database"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFolder } from "../support/folder"

// More than any page of the database that is free already.
const LARGE = "x".repeat(20_000)
const FINDINGS = Array.from({ length: 15 }, (_, index) => `${index} ${LARGE.slice(10)}`)

/** A database on a disk that can be full, and an engine on it whose child meets that when it returns. */
function scene() {
  const folder = createFolder()
  const path = folder.at("pass-over.db")
  const database = openStore(path)
  const world = createEngineWorld({ store: database.store })
  const row = () => database.client.query<{ page_count: number }, []>("PRAGMA page_count").get()
  const fill = () => database.client.run(`PRAGMA max_page_count = ${row()?.page_count ?? 0}`)
  const problem = `Pass Over cannot use its database ${path}: the disk is full (SQLITE_FULL). Free some space.`
  world.host.script("audit", async (child) => {
    fill()
    await child.return({ ...VERDICT, findings: FINDINGS })
    return {}
  })
  return {
    world,
    path,
    problem,
    fill,
    free: () => database.client.run("PRAGMA max_page_count = 1000000"),
    [Symbol.dispose]() {
      world[Symbol.dispose]()
      database[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** The host has stored the answer of the call that waited. */
function stored({ host }: EngineWorld, call_id: string) {
  const { messages } = host
  const answer: ContextMessage = {
    id: "msg_root",
    role: "assistant",
    timestamp: 1,
    parts: [{ id: "prt_root", type: "tool", tool_name: "pass_over", call_id, tool_status: "completed" }],
  }
  host.messages = async (session_id) => (session_id === "ses_root" ? [answer] : messages(session_id))
}

test("a result that cannot be written down says so, and is written down as soon as that is possible", async () => {
  using it = scene()
  const { world, problem } = it
  const runner = await started(world)
  stored(world, runner.pass.call_id ?? "")
  const outcome = await outcomeOf(world, runner)
  expect(outcome).toMatchObject({ error_code: null, unrecorded: problem, output: { status: "completed" } })
  expect(answerText(world.engine, outcome)).toContain(
    `\nThis result could not be written down, and what was changed may be missing from it: ${problem} Tell the user this.`,
  )
  const { store, running } = world.engine
  expect(running.all()).toEqual([])
  await world.clock.advance(20_000)
  expect(await store.outcome(runner.pass.id)).toBeUndefined()

  it.free()
  await world.clock.advance(5_000)
  expect(await store.outcome(runner.pass.id)).toMatchObject({
    error_code: null,
    output: { status: "completed", summary: { decision: "approved", issues_found: 15 } },
  })
  // Whoever reads later what its child has done finds its return.
  expect(await store.staged(runner.pass.id)).toMatchObject(VERDICT)
  // Whoever waited for it has it, and is not told again.
  expect((await store.find(runner.pass.id))?.status).toBe("processed")
  await world.clock.advance(20_000)
  expect(world.host.delivered).toEqual([])
  expect(world.clock.pending).toBe(0)
})

test("its place is taken until then, and free afterwards", async () => {
  using it = scene()
  const { world } = it
  const preferences = { limits: { running: 1 } }
  world.preferences.push({ origin: "global", path: "p", preferences })
  await outcomeOf(world, await started(world))
  it.free()
  const next = await started(world, { objective: "Review another part" })
  await settle(20)
  expect(next.waiting).toContain("queued")
  await world.clock.advance(5_000)
  expect(next.waiting).toBeUndefined()
})

test("one that nobody waits for comes then, and not twice", async () => {
  using it = scene()
  const { world } = it
  await outcomeOf(world, await started(world, { wait: false }))
  await world.clock.advance(20_000)
  expect(world.host.delivered).toEqual([])
  it.free()
  await world.clock.advance(20_000)
  await settle(20)
  // Its originator goes on by itself, as with any other.
  expect(world.host.delivered).toMatchObject([{ start: true }])
  expect(world.host.delivered[0]?.text).not.toContain("could not be written down")
})

test("a project that is closed meanwhile writes what it can at its end", async () => {
  using it = scene()
  const { world } = it
  const runner = await started(world)
  await outcomeOf(world, runner)
  it.free()
  await world.engine.late.flush()
  expect(await world.engine.store.outcome(runner.pass.id)).toMatchObject({ error_code: null })
})

test("passes that are asked for together are refused with what is wrong, each by itself", async () => {
  using it = scene()
  const { world, problem } = it
  it.fill()
  const ask = (objective: string) => ({ subagent: "audit", objective, reason: "test", background: LARGE })
  const caller = {
    agent: "alice",
    session_id: "ses_root",
    message_id: "msg_root",
    call_id: "call_root",
    by: "model" as const,
    model: null,
  }
  const { sent } = await sendMany(world.engine, world.project, caller, [ask("One"), ask("Two")])
  expect(sent).toMatchObject(
    ["one", "two"].map(() => ({
      ok: false,
      refusal: {
        code: "E014",
        message: problem,
        suggestion: "Do this part of the work yourself, and tell the user this sentence.",
      },
    })),
  )
})
