import { describe, expect, test } from "bun:test"
import type { ToolContext } from "@opencode-ai/plugin"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { resume } from "../../../src/pass-over/service/recover"
import { passOverReadTool } from "../../../src/tool/pass-over-read"
import { passOverReturnTool } from "../../../src/tool/pass-over-return"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFlowScene } from "../support/flow"
import type { Child, Script } from "../support/scripted-host"

const context = (child: Child, more: Partial<ToolContext> = {}) =>
  ({ sessionID: child.session_id, agent: "scout", abort: new AbortController().signal, ...more }) as ToolContext

/** What a child reads when it returns. */
async function returned(world: EngineWorld, child: Child, report: unknown = VERDICT) {
  const told = await passOverReturnTool(world.engine).execute(report, context(child))
  return typeof told === "string" ? told : told.output
}

type Scene = { world: EngineWorld; told: string[]; below: Pass[] }

/** A scout that passes work on without waiting for it, and then does what a test says. */
async function scouting(scene: Scene, then: (child: Child) => ReturnType<Script>, more = {}) {
  const { world, below } = scene
  const seen = { first: true }
  world.host.script("audit", (child) => child.told)
  world.host.script("scout", async (child) => {
    if (seen.first) {
      const nested = await started(world, { wait: false }, { agent: "scout", session_id: child.session_id })
      below.push(nested.pass)
    }
    seen.first = false
    return then(child)
  })
  return started(world, { subagent: "scout", ...more })
}

const scene = (world: EngineWorld): Scene => ({ world, told: [], below: [] })

const codeOf = async ({ engine }: EngineWorld, { id }: Pass) => (await engine.store.outcome(id))?.error_code

describe("a return while passes of its own still run", () => {
  test("is answered with their ids and what can be done, and the next one is taken and cancels them", async () => {
    using world = createEngineWorld()
    const { told, below } = scene(world)
    const runner = await scouting({ world, told, below }, async (child) => {
      told.push(await returned(world, child), await returned(world, child))
      child.step()
      await child.told
    })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null, output: { status: "completed" } })
    expect(told[0]).toStartWith("Not done. E021")
    expect(told[0]).toContain(`still running: ${below[0]!.id}. → Wait for them (pass_over_read`)
    expect(told[0]).toContain("Or return again at once: that cancels them.")
    expect(told[1]).toStartWith("Received.")
    await world.clock.advance(1_000)
    expect(await codeOf(world, below[0]!)).toBe("E016")
    expect((await world.engine.store.outcome(below[0]!.id))?.output.completion_reason).toContain(
      "scout has returned without it",
    )
    // What it comes to is written into the child's session, and wakes nobody there.
    expect(world.host.delivered).toMatchObject([{ session_id: world.host.children[0]!.session_id, start: false }])
  })

  test("is answered once more where another was started since, and what is below those goes with them", async () => {
    using world = createEngineWorld()
    world.preferences.push({ origin: "project", path: "p", preferences: { defaults: { max_chain_depth: 5 } } })
    const { told, below } = scene(world)
    const runner = await scouting({ world, told, below }, async (child) => {
      const from = { agent: "scout", session_id: child.session_id }
      told.push(await returned(world, child))
      world.host.script("inspector", async (inner) => {
        const deep = await started(world, { wait: false }, { agent: "inspector", session_id: inner.session_id })
        below.push(deep.pass)
        await inner.told
      })
      below.push((await started(world, { subagent: "inspector", wait: false }, from)).pass)
      await settle(20)
      told.push(await returned(world, child), await returned(world, child))
      child.step()
      await child.told
    })
    await outcomeOf(world, runner)
    expect(told.map((text) => text.slice(0, 9))).toEqual(["Not done.", "Not done.", "Received."])
    expect(told[1]).toContain(below[1]!.id)
    await world.clock.advance(1_000)
    expect(below).toHaveLength(3)
    expect(await Promise.all(below.map((pass) => codeOf(world, pass)))).toEqual(["E016", "E016", "E016"])
  })

  test("is taken at once from a child that was asked for it: no other tool is open to it", async () => {
    using world = createEngineWorld()
    const { told, below } = scene(world)
    const runner = await scouting({ world, told, below }, async (child) => {
      if (child.prompt.kind !== "finalise") return
      told.push(await returned(world, child))
      child.step()
      await child.told
    })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null })
    expect(told[0]).toStartWith("Received.")
    await world.clock.advance(1_000)
    expect(await codeOf(world, below[0]!)).toBe("E016")
  })

  const ENDS: [string, (child: Child) => ReturnType<Script>][] = [
    ["stops", async () => {}],
    ["runs out of time", async ({ told }) => told],
    ["breaks off", async () => ({ failure: { code: "E011", message: "its key is wrong", final: true } })],
  ]
  for (const [what, end] of ENDS) {
    test(`counts where its child then ${what}, and is there when its transcript is read later`, async () => {
      using world = createEngineWorld()
      const { messages } = world.host
      const { told, below } = scene(world)
      const runner = await scouting(
        { world, told, below },
        async (child) => {
          if (child.prompt.kind === "first") {
            child.tool("read", { filePath: "a.ts" }, "1: a")
            told.push(await returned(world, child))
            world.host.messages = async () => Promise.reject(new Error("not now"))
          }
          return end(child)
        },
        { timeout_ms: 60_000 },
      )
      const outcome = await outcomeOf(world, runner)
      expect(told[0]).toStartWith("Not done. E021")
      expect(outcome).toMatchObject({ error_code: null, transcript: "unread", output: { status: "completed" } })
      expect(outcome.output.summary).toMatchObject(VERDICT)
      expect(await world.engine.store.staged(runner.pass.id)).toMatchObject(VERDICT)
      world.host.messages = messages
      await resume(world.engine, world.project, () => "alive")
      expect(await world.engine.store.outcome(runner.pass.id)).toMatchObject({
        transcript: "read",
        output: { status: "completed", artifacts: [{ type: "tool_result" }] },
      })
    })
  }

  test("is no result of a pass that somebody cancels", async () => {
    using world = createEngineWorld()
    const { told, below } = scene(world)
    const runner = await scouting({ world, told, below }, async (child) => {
      told.push(await returned(world, child))
      await child.told
    })
    await settle(20)
    expect(told).toHaveLength(1)
    runner.input({ type: "cancel", failure: { code: "E016", message: "not wanted" } })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: "E016", output: { status: "aborted" } })
  })
})

describe("pass_over_read with wait", () => {
  const reads = async (world: EngineWorld, child: Child, args: object, more: Partial<ToolContext> = {}) => {
    const told = await passOverReadTool(world.engine, world.project).execute(
      { wait: true, ...args },
      context(child, more),
    )
    return typeof told === "string" ? told : told.output
  }

  test("answers when the pass has ended, and meanwhile its reader is not idle", async () => {
    using world = createEngineWorld()
    world.preferences.push({ origin: "project", path: "p", preferences: { defaults: { idle_timeout_ms: 10_000 } } })
    const { told, below } = scene(world)
    const runner = await scouting(
      { world, told, below },
      async (child) => {
        told.push(await returned(world, child), await reads(world, child, { id: below[0]!.id }))
        told.push(await returned(world, child))
        child.step()
        await child.told
      },
      { timeout_ms: 600_000 },
    )
    // It says nothing for longer than its reader may be idle.
    world.host.script("audit", async (child) => {
      for (const _ of Array.from({ length: 8 })) {
        await child.wait(9_000)
        world.engine.running.byChild(child.session_id)?.input({ type: "activity" })
      }
      await child.return({ ...VERDICT, decision_reason: "the audit holds" })
      child.step()
      await child.told
    })
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null, output: { status: "completed" } })
    expect(told[1]).toContain("audit: approved")
    expect(told[1]).toContain("the audit holds")
    expect(told[2]).toStartWith("Received.")
    expect(world.host.prompts.map(({ kind }) => kind)).toEqual(["first", "first"])
  })

  test("leaves a child half of its time, and waits for nothing above it or once it is stopped", async () => {
    using world = createEngineWorld()
    const { told, below } = scene(world)
    const times: number[] = []
    const stopped = new AbortController()
    const runner = await scouting(
      { world, told, below },
      async (child) => {
        const id = below[0]!.id
        const mine = world.engine.running.byChild(child.session_id)!.pass.id
        const from = world.clock.mono()
        told.push(await reads(world, child, { id: mine }))
        times.push(world.clock.mono() - from)
        told.push(await reads(world, child, { id }))
        times.push(world.clock.mono() - from)
        world.engine.clock.after(5_000, () => stopped.abort())
        told.push(await reads(world, child, { id }, { abort: stopped.signal }))
        times.push(world.clock.mono() - from)
        told.push(await returned(world, child), await returned(world, child))
        child.step()
        await child.told
      },
      { timeout_ms: 80_000 },
    )
    await outcomeOf(world, runner)
    expect(times).toEqual([0, 40_000, 45_000])
    expect(told[1]).toContain("waiting_for_return, working, step 1")
  })
})

test("a return while a run of its own goes on names the run, and the next one calls it off as a whole", async () => {
  const STEP = "  - { id: a, agent: audit, objective: Look }\n  - { id: b, agent: audit, objective: Look again }\n"
  using flow = createFlowScene([`name: two\nsteps:\n${STEP}`])
  const told: string[] = []
  const runs: string[] = []
  flow.engine.news.on((what) => (what === "elsewhere" ? void flow.flows.attend(() => "alive") : undefined))
  flow.host.script("audit", (child) => child.told)
  flow.host.script("scout", async (child) => {
    const begun = await flow.flows.start({
      name: "two",
      inputs: {},
      session_id: child.session_id,
      originator: "scout",
      by: "model",
      model: null,
    })
    if (!begun.ok) throw new Error(begun.refusal.message)
    runs.push(begun.run.run_id)
    await child.wait(100)
    told.push(await returned(flow, child), await returned(flow, child))
    child.step()
    await child.told
  })
  const runner = await started(flow, { subagent: "scout" })
  expect(await outcomeOf(flow, runner)).toMatchObject({ error_code: null })
  expect(told[0]).toContain(`still running: ${runs[0]}.`)
  expect(told[1]).toStartWith("Received.")
  await flow.clock.advance(5_000)
  expect(await flow.engine.store.run(runs[0]!)).toMatchObject({ status: "cancelled" })
  const steps = (await flow.engine.store.list({})).filter(({ subagent_id }) => subagent_id === "audit")
  expect(steps.map(({ status }) => status)).toEqual(["cancelled"])
})
