import { describe, expect, test } from "bun:test"
import type { ToolContext } from "@opencode-ai/plugin"
import { adopt } from "../../../src/pass-over/service/adopt"
import { order } from "../../../src/pass-over/service/command"
import type { Project } from "../../../src/pass-over/service/engine"
import { createFlows } from "../../../src/pass-over/service/flow"
import { answerGate } from "../../../src/pass-over/service/gate"
import { recover, resume, resumeLeft } from "../../../src/pass-over/service/recover"
import { passOverTool } from "../../../src/tool/pass-over"
import { dialog } from "../../../src/tool/dialog"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFlowScene, definitions, leaves, memoryFiles } from "../support/flow"

const alone = () => "alive" as const
const dead = () => "dead" as const

/** A host that can go away, as when its project is disposed of. */
function closable(world: EngineWorld) {
  const closing = new AbortController()
  world.project.closing = closing.signal
  return () => closing.abort()
}

/** The same project, opened again by the same process. */
function again(world: EngineWorld): Project {
  const { closing: _gone, ...project } = world.project
  return project
}

function works(world: EngineWorld) {
  world.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.say("The sign is wrong.")
    await child.told
    // What the host says of a session that it stops.
    return { failure: { code: "E016", message: "its session was stopped", final: true } }
  })
}

const deliveries = async ({ engine }: EngineWorld) =>
  (await engine.store.deliveries("ses_root")).map(({ mode, status }) => `${mode} ${status}`)

describe("a pass at work whose host goes away", () => {
  for (const wait of [true, false]) {
    test(`has ended with its opencode, and is nobody's cancel, where it is ${wait ? "" : "not "}waited for`, async () => {
      using world = createEngineWorld()
      const close = closable(world)
      works(world)
      const runner = await started(world, { wait })
      await settle(20)
      close()
      // The host stops the call that waited, and the child.
      runner.input({ type: "cancel", failure: { code: "E016", message: "alice was stopped" } })
      expect(await outcomeOf(world, runner)).toMatchObject({ error_code: "E011", left: "ended" })
      await world.clock.advance(20_000)
      expect(await world.engine.store.attempts(runner.pass.id)).toMatchObject([
        { kind: "first" },
        { kind: "recovered", error_code: "E011" },
      ])
      // Whatever were asked of the host now would have it open the project again.
      expect(world.host.children[0]).toMatchObject({ stopped: 0 })
      expect(world.host.children[0]?.closed).toBeUndefined()
      expect(world.host.delivered).toEqual([])
      expect(world.host.notified).toEqual([])
      expect(await deliveries(world)).toEqual(["message pending"])

      await resume(world.engine, again(world), alone)
      expect(world.host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
      const outcome = await world.engine.store.outcome(runner.pass.id)
      expect(outcome?.output.artifacts.map(({ type }) => type)).toEqual(["message", "tool_result"])
    })
  }

  test("keeps what it had returned by then", async () => {
    using world = createEngineWorld()
    const close = closable(world)
    world.host.script("audit", async (child) => {
      await child.return(VERDICT)
      await child.told
    })
    const runner = await started(world)
    await settle(20)
    close()
    expect(await outcomeOf(world, runner)).toMatchObject({ error_code: null, output: { status: "completed" } })
    expect(await deliveries(world)).toEqual(["message pending"])
  })

  test("is cancelled where it had not begun, and none begins that is sent to it afterwards", async () => {
    using world = createEngineWorld()
    const close = closable(world)
    works(world)
    world.preferences.push({ origin: "project", path: "p", preferences: { limits: { running: 1 } } })
    await started(world)
    const second = await started(world)
    await settle(20)
    close()
    expect((await outcomeOf(world, second)).error_code).toBe("E016")
    expect(await world.engine.store.attempts(second.pass.id)).toMatchObject([{ kind: "recovered" }])
    const third = await started(world)
    expect((await outcomeOf(world, third)).left).toBe("ended")
    expect(world.host.children).toHaveLength(1)
  })
})

const CONFIRMED = { pairs: { "alice->audit": { require_confirmation: true } } }
const YES = { verdict: "approve", note: null, by: "ada", surface: "test" } as const

function asking(options: EngineWorldOptions = {}) {
  const world = createEngineWorld(options)
  world.preferences.push({ origin: "project", path: "p", preferences: CONFIRMED })
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  return world
}

async function pending({ engine }: EngineWorld) {
  for (let tries = 0; tries < 50; tries += 1) {
    const [gate] = await engine.store.gates({ status: ["pending"] })
    if (gate) return gate
    await settle(1)
  }
  throw new Error("nobody was asked")
}

describe("a pass that waits for a person", () => {
  test("goes on when its project is opened again, and its result comes as a message", async () => {
    using world = asking()
    const close = closable(world)
    const runner = await started(world)
    const gate = await pending(world)
    close()
    runner.input({ type: "cancel", failure: { code: "E016", message: "alice was stopped" } })
    expect((await outcomeOf(world, runner)).left).toBe("waiting")
    await settle(20)
    expect(await world.engine.store.gate(gate.gate_id)).toMatchObject({ status: "pending" })
    expect(await world.engine.store.outcome(runner.pass.id)).toBeUndefined()

    const project = again(world)
    expect(await Promise.all([adopt(world.engine, project), adopt(world.engine, project)])).toEqual([1, 0])
    await answerGate(world.engine, gate.gate_id, YES)
    const taken = world.engine.running.get(runner.pass.id)!
    expect((await outcomeOf(world, taken)).output.status).toBe("completed")
    await settle(20)
    expect(world.host.children).toHaveLength(1)
    expect(world.host.delivered).toHaveLength(1)
  })

  test("is cancelled when it is taken up again where somebody has asked for that meanwhile", async () => {
    using world = asking()
    const close = closable(world)
    const runner = await started(world)
    await pending(world)
    close()
    await outcomeOf(world, runner)
    await settle(20)
    const asked = { pass_over_id: runner.pass.id, kind: "cancel", text: "not wanted", actor: "ada" } as const
    expect(await order(world.engine, asked)).toMatchObject({ ok: true, command_id: expect.stringContaining("cmd_") })
    expect(await adopt(world.engine, again(world))).toBe(1)
    await settle(20)
    expect((await world.engine.store.outcome(runner.pass.id))?.error_code).toBe("E016")
    expect(world.host.children).toEqual([])
  })

  test("was told nothing by a dialog that the host took away with the call", async () => {
    const stopped = new AbortController()
    const context = {
      sessionID: "ses_1",
      abort: stopped.signal,
      ask: async () => {
        stopped.abort()
        throw new Error("the session was stopped")
      },
    }
    using world = asking()
    await started(world)
    const dismissed: string[] = []
    const surface = dialog(context as unknown as ToolContext, {
      dismiss: async (session_id) => void dismissed.push(session_id),
      refused: async () => undefined,
    })
    const answered = new AbortController()
    expect(await surface(await pending(world), answered.signal)).toBeUndefined()
    answered.abort()
    expect(dismissed).toEqual([])
  })

  test("stays its dead owner's where nobody who could go on with it comes, and is taken by who can", async () => {
    using first = asking()
    const waiting = await started(first)
    const gate = await pending(first)
    const running = await started(first, { subagent: "scout" })
    const owner = first.engine.owner_id
    using second = asking({ owner: "2", seed: 1_000, store: first.engine.store })
    // One that ends with its own prompt goes on with none; of another project nobody would hear the answer.
    for (const projects of [[], ["/elsewhere"]]) await recover(second.engine, dead, projects)
    expect((await second.engine.store.find(running.pass.id))?.status).not.toBe("waiting_for_return")
    expect((await second.engine.store.find(waiting.pass.id))?.owner_id).toBe(owner)
    expect(await adopt(second.engine, second.project)).toBe(0)
    await answerGate(second.engine, gate.gate_id, { ...YES, verdict: "reject" })
    await recover(second.engine, dead, [second.project.directory])
    expect(await adopt(second.engine, second.project)).toBe(1)
    await settle(20)
    expect((await second.engine.store.outcome(waiting.pass.id))?.error_code).toBe("E017")
  })
})

describe("a run of a flow", () => {
  const ONE = "name: one\nsteps:\n  - { id: a, agent: scout, objective: Look }\n"

  test("goes on when its project is opened again: the step that was broken off is done once more", async () => {
    using scene = createFlowScene([ONE])
    const close = closable(scene)
    const seen = { first: true }
    scene.host.script("scout", async (child) => {
      if (!seen.first) return void (await leaves(child))
      seen.first = false
      await child.told
      return { failure: { code: "E016", message: "its session was stopped", final: true } }
    })
    const run = await scene.run("one")
    await scene.clock.advance(10)
    close()
    await scene.clock.advance(5_000)
    expect((await scene.engine.store.run(run.run_id))?.status).toBe("running")
    expect(scene.host.prompts).toHaveLength(1)

    const later = createFlows(scene.engine, again(scene), {
      files: memoryFiles(),
      catalog: async () => ({ flows: definitions(ONE), faults: [] }),
    })
    expect(await later.recover(alone)).toBe(1)
    await scene.clock.until(() => later.carried(run.run_id) === undefined)
    expect((await later.state(run.run_id))?.state.status).toBe("completed")
    const passes = await scene.engine.store.list({})
    expect(passes.map(({ status }) => status).toSorted()).toEqual(["processed", "returned"])
  })

  test("is left by an opencode that ends with its prompt, unless somebody waits for it there", async () => {
    using scene = createFlowScene([ONE])
    scene.host.script("scout", (child) => child.told)
    const run = await scene.run("one")
    await scene.clock.advance(10)
    using later = createFlowScene([ONE], { store: scene.engine.store, owner: "2", seed: 90_000 })
    const flows = createFlows(later.engine, later.project, {
      files: memoryFiles(),
      catalog: async () => ({ flows: definitions(ONE), faults: [] }),
      short: true,
    })
    expect(await flows.recover(dead)).toBe(0)
    await flows.order(run.run_id, { type: "pause", actor: "ada" }, "ada")
    await flows.attend(dead)
    expect(flows.carried(run.run_id)).toBeUndefined()
    await flows.take(run.run_id, dead)
    expect(flows.carried(run.run_id)).toBeDefined()
  })
})

describe("what nobody looks after any more", () => {
  test("is brought in while the project is open, and what somebody still brings is left to them", async () => {
    using first = createEngineWorld()
    works(first)
    const left = await started(first)
    await settle(20)
    using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
    second.host.messages = first.host.messages
    await recover(second.engine, dead)
    second.engine.bringing.add(left.pass.id)
    await resumeLeft(second.engine, second.project, alone)
    expect(second.host.delivered).toEqual([])
    second.engine.bringing.clear()
    await resumeLeft(second.engine, second.project, alone)
    expect(second.host.delivered).toMatchObject([{ start: false }])
    expect(await second.engine.store.outcome(left.pass.id)).toMatchObject({ transcript: "read" })
  })

  test("is not what another process has only just ended", async () => {
    using first = createEngineWorld()
    first.host.script("audit", async (child) => {
      await child.return(VERDICT)
      child.step()
    })
    first.host.deliver = () => new Promise(() => {})
    const { engine, project } = first
    await engine.store.enter({ owner_id: engine.owner_id, pid: 1, process_start: "1", host: "h", place: "p" }, 0)
    const runner = await started(first, { wait: false })
    await outcomeOf(first, runner)
    using second = createEngineWorld({ owner: "2", seed: 1_000, store: engine.store })
    await resumeLeft(second.engine, { ...project, host: second.host }, alone)
    expect(second.host.delivered).toEqual([])
  })
})

describe("an opencode that ends with its prompt", () => {
  async function answer(world: EngineWorld, args: Record<string, unknown>) {
    const found = {} as { output?: string }
    const context = {
      sessionID: "ses_root",
      messageID: "msg_1",
      callID: `call_${String(args.objective)}`,
      agent: "alice",
      directory: "/project",
      worktree: "/project",
      abort: new AbortController().signal,
      metadata: () => {},
      ask: async () => {},
    }
    const tool = passOverTool(world.engine, world.project, true)
    void tool.execute(args, context as unknown as ToolContext).then((told) => {
      found.output = typeof told === "string" ? told : told.output
    })
    await settle(20)
    expect(found.output).toBeUndefined()
    await world.clock.until(() => found.output !== undefined)
    return found.output!
  }

  const ASK = { subagent: "audit", objective: "Review it", reason: "code_review" }

  test("waits for its passes, asked to or not: nobody would be there to bring what they come to", async () => {
    using world = createEngineWorld()
    world.host.script("audit", async (child) => {
      await child.wait(3_000)
      await child.return(VERDICT)
      child.step()
    })
    const told = await answer(world, { ...ASK, wait: false })
    expect(told).toStartWith("opencode run ends with its prompt, so this was waited for.")
    expect(told).toContain(VERDICT.decision_reason)
    expect(told).not.toContain("comes as a message")
    const recorded = await answer(world, { ...ASK, objective: "And that", return_required: false })
    expect(recorded).toContain("has ended: ")
    expect(recorded).not.toContain(VERDICT.decision_reason)
    await settle(20)
    expect(world.host.delivered).toEqual([])
  })
})
