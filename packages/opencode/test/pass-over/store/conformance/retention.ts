import { describe, expect, test } from "bun:test"
import type { Gate } from "../../../../src/pass-over/domain/gate"
import type { PassID } from "../../../../src/pass-over/domain/id"
import { event, note, type Pass } from "../../../../src/pass-over/domain/pass"
import type { FlowRun } from "../../../../src/pass-over/service/port-flow"
import { planned } from "../../support/flow"
import { applicationOf, changeOf, createScene, gateOf, moved, type Scene, type Setup } from "./scene"

export const DAY = 86_400_000
export const RUN = `run_${"1".padStart(32, "0")}` as const

/** A pass that has ended, was delivered and dealt with; with an attempt of it, and a child session. */
export async function over(scene: Scene, overrides: Partial<Pass> = {}): Promise<Pass> {
  const pass = await scene.running(overrides)
  const bound = moved(
    await scene.store.bind({
      pass,
      attempt: scene.attempt(pass),
      event: event(pass, "pass.attempt", scene.clock.now()),
    }),
  )
  const back = moved(await scene.store.settle(scene.settled(bound)))
  const commit = scene.commit(back, "processed")
  await scene.deliver({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })
  return (await scene.store.find(pass.id))!
}

const ask = async (scene: Scene, pass: Pass, more: Partial<Gate> = {}) => {
  const gate = gateOf(scene, { pass_over_id: pass.id, ...more })
  await scene.store.ask({ gate, event: event(pass, "gate.asked", scene.clock.now()) })
  return gate
}

const answer = (scene: Scene, pass: Pass, { gate_id }: Gate) =>
  scene.store.answerGate({
    gate_id,
    answer: { verdict: "approve", note: null, by: "ada", surface: "cli" },
    at: scene.clock.now(),
    event: event(pass, "gate.answered", scene.clock.now()),
  })

export async function flow(scene: Scene, more: Partial<FlowRun> = {}): Promise<FlowRun> {
  const run: FlowRun = {
    run_id: RUN,
    flow: "x",
    plan: planned("name: x\nsteps:\n  - { id: a, agent: scout, objective: Look }\n"),
    plan_hash: "h",
    machine: 1,
    inputs: {},
    directory: "/project",
    session_id: "ses_alice",
    originator: "alice",
    started_by: "model",
    starter: "alice",
    model: null,
    status: "running",
    reason: null,
    seq: 1,
    owner_id: scene.ids.make("own"),
    fence: 1,
    time_created: scene.clock.now(),
    time_ended: null,
    ...more,
  }
  const of = { id: run.run_id as unknown as PassID, session_id: run.session_id, directory: run.directory }
  const entry = { seq: 1, at: run.time_created, input: { type: "start" as const } }
  await scene.store.startRun({ run, entry, event: event(of, "flow.started", run.time_created) })
  return run
}

export const endFlow = (scene: Scene, run: FlowRun, mode: "none" | "message" = "none") =>
  scene.store.journal({
    run_id: run.run_id,
    fence: run.fence,
    entry: { seq: 2, at: scene.clock.now(), input: { type: "pause", actor: "ada" } },
    status: "completed",
    reason: null,
    event: event(
      { id: run.run_id as unknown as PassID, session_id: "ses_alice", directory: "/project" },
      "flow.ended",
      1,
    ),
    end: { session_id: "ses_alice", directory: "/project", mode, call_id: null, owner_id: run.owner_id },
  })

/** Everything that can be read of a pass. */
const seen = async (scene: Scene, pass: Pass): Promise<Record<string, unknown>> => ({
  ...((await scene.traces(pass)) as object),
  child: await scene.store.byChild(`ses_child_${pass.id}`),
  call: await scene.store.byCall(pass.session_id, pass.call_id!),
  list: await scene.store.list({ directory: pass.directory }),
  changes: await scene.store.changes(pass.id),
  applications: await scene.store.applications({ pass_over_id: pass.id }),
  gates: await scene.store.gates({ pass_over_id: pass.id }),
  runs: await scene.store.runs({}),
})

const prune = async (scene: Scene, before: number, directory = "/project") => {
  const going = await scene.store.outdated({ directory, before })
  const forgotten: PassID[] = []
  for (const pass_over_id of going) {
    if (await scene.store.forget({ pass_over_id, before })) forgotten.push(pass_over_id)
    while (await scene.store.clear(pass_over_id));
  }
  return forgotten
}

/** What keeps a pass that is otherwise over. What it needs is made before the border, or behind it. */
const STAYS: Record<string, (scene: Scene) => Promise<{ passes: Pass[]; before?: number }>> = {
  "it has not started": async (scene) => ({ passes: [await scene.opened()] }),
  "it runs": async (scene) => ({ passes: [await scene.running()] }),
  "its result was not delivered": async (scene) => ({ passes: [await scene.returned()] }),
  "its result is held for a person": async (scene) => {
    const pass = await scene.running()
    const settled = scene.settled(pass, { delivery: { mode: "message", status: "held" } })
    return { passes: [moved(await scene.store.settle(settled))] }
  },
  "its result is being brought": async (scene) => {
    const pass = await scene.returned()
    const [delivery] = await scene.store.deliveries("ses_alice")
    await scene.store.take({
      pass_over_id: pass.id,
      owner_id: scene.ids.make("own"),
      from: delivery!,
      message_id: "msg_1",
    })
    return { passes: [pass] }
  },
  "it was delivered of late": async (scene) => {
    const pass = await scene.returned()
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    await scene.deliver({ pass_over_id: pass.id, message_id: null, at: scene.clock.now() })
    return { passes: [pass], before }
  },
  "it ended of late": async (scene) => {
    const pass = await scene.running()
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    const settled = scene.settled(pass, { delivery: { mode: "none", status: "delivered" } })
    return { passes: [moved(await scene.store.settle(settled))], before }
  },
  "somebody wants something of it": async (scene) => {
    const pass = await over(scene)
    const command_id = scene.ids.make("cmd")
    await scene.store.command({ command_id, pass_over_id: pass.id, kind: "tell", text: "x", actor: "ada" }, 1)
    return { passes: [pass] }
  },
  "somebody wanted something of it of late": async (scene) => {
    const pass = await over(scene)
    const before = scene.clock.now() + 1
    const command_id = scene.ids.make("cmd")
    await scene.store.command({ command_id, pass_over_id: pass.id, kind: "tell", text: "x", actor: "ada" }, 1)
    await scene.store.answer({ command_id, status: "done", result: "told", at: before + DAY })
    return { passes: [pass], before }
  },
  "a person is asked about it": async (scene) => {
    const pass = await over(scene)
    await ask(scene, pass)
    return { passes: [pass] }
  },
  "a person was asked about it of late": async (scene) => {
    const pass = await over(scene)
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    await answer(scene, pass, await ask(scene, pass))
    return { passes: [pass], before }
  },
  "what a person said about its result was not carried out": async (scene) => {
    const pass = await over(scene)
    await answer(scene, pass, await ask(scene, pass, { kind: "delivery" }))
    return { passes: [pass] }
  },
  "its change was made of late": async (scene) => {
    const pass = await over(scene)
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    await scene.store.saveChange(changeOf(scene, pass))
    return { passes: [pass], before }
  },
  "its change was reviewed of late": async (scene) => {
    const pass = await over(scene)
    const change = changeOf(scene, pass)
    await scene.store.saveChange(change)
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    const at = scene.clock.now()
    await scene.store.review(
      change.change_id,
      [{ path: "a.ts", hunk: null, accepted: true, reason: null, actor: "ada", time_created: at }],
      { note: note(pass, { action: "reviewed", actor: "ada", at }), event: event(pass, "pass.reviewed", at) },
    )
    return { passes: [pass], before }
  },
  "its change is being applied": async (scene) => {
    const pass = await over(scene)
    const change = changeOf(scene, pass)
    await scene.store.saveChange(change)
    await scene.store.intend(applicationOf(scene, change))
    return { passes: [pass] }
  },
  "its change was applied of late and can be undone": async (scene) => {
    const pass = await over(scene)
    const change = changeOf(scene, pass)
    await scene.store.saveChange(change)
    const before = scene.clock.now() + 1
    const application = applicationOf(scene, change)
    await scene.store.intend(application)
    await scene.store.endApply({ apply_id: application.apply_id, status: "done", problem: null, at: before + DAY })
    return { passes: [pass], before }
  },
  "its child's tree is there": async (scene) => {
    const pass = await over(scene)
    const tree = { directory: "/tree", project: "/project", kind: "git" as const, owner_id: pass.owner_id }
    await scene.store.takeWorktree({ ...tree, pass_over_id: pass.id, collected: false, time_used: 1 }, null)
    return { passes: [pass] }
  },
  "another may be answered with its result": async (scene) => {
    const pass = await over(scene)
    const before = scene.clock.now() + 1
    await scene.store.cache({ key: "k", pass_over_id: pass.id, files: {}, at: before + DAY })
    return { passes: [pass], before }
  },
  "a pass below it runs": async (scene) => {
    const pass = await over(scene)
    const below = { trace_id: pass.id, parent_pass_id: pass.id, chain_depth: 2, max_chain_depth: 4 }
    return { passes: [pass, await scene.running(below)] }
  },
  "a pass above it runs": async (scene) => {
    const pass = await scene.running()
    const below = { trace_id: pass.id, parent_pass_id: pass.id, chain_depth: 2, max_chain_depth: 4 }
    return { passes: [pass, await over(scene, below)] }
  },
  "another one goes on in its session": async (scene) => {
    const pass = await over(scene)
    return { passes: [pass, await scene.running({ continues_pass_id: pass.id })] }
  },
  "the flow that it works for runs": async (scene) => {
    await flow(scene)
    return { passes: [await over(scene, { call_id: `flow:${RUN}:a#1` })] }
  },
  "the flow that it works for ended of late": async (scene) => {
    const run = await flow(scene)
    const pass = await over(scene, { call_id: `flow:${RUN}:a#1` })
    const before = scene.clock.now() + 1
    scene.clock.advance(DAY)
    await endFlow(scene, run)
    return { passes: [pass], before }
  },
  "the end of its flow was not delivered": async (scene) => {
    const run = await flow(scene)
    const pass = await over(scene, { call_id: `flow:${RUN}:a#1` })
    await endFlow(scene, run, "message")
    return { passes: [pass] }
  },
}

export function retentionContract(setup: Setup) {
  describe("retention", () => {
    test("a pass that is over for long goes with everything that hangs on it, and nothing else does", async () => {
      await using scene = await createScene(setup)
      const other = await over(scene, { session_id: "ses_other" })
      const kept = await seen(scene, other)
      const pass = await over(scene)
      const change = changeOf(scene, pass)
      await scene.store.saveChange(change)
      const application = applicationOf(scene, change)
      await scene.store.intend(application)
      await scene.store.endApply({ apply_id: application.apply_id, status: "done", problem: null, at: 1 })
      const gate = await ask(scene, pass)
      await answer(scene, pass, gate)
      await scene.store.cache({ key: "k", pass_over_id: pass.id, files: {}, at: 1 })
      const before = scene.clock.now() + DAY
      expect(await prune(scene, before)).toEqual([])
      await scene.forgetLines("ses_alice")
      expect(await prune(scene, before)).toEqual([pass.id])

      expect(await seen(scene, pass)).toEqual({
        pass: undefined,
        request: undefined,
        staged: undefined,
        outcome: undefined,
        attempts: [],
        deliveries: [],
        audit: [],
        events: kept.events,
        child: undefined,
        call: undefined,
        list: [other],
        changes: [],
        applications: [],
        gates: [],
        runs: [],
      })
      expect(await scene.store.change(change.change_id)).toBeUndefined()
      expect(await scene.store.verdicts(change.change_id)).toEqual([])
      expect(await scene.store.gate(gate.gate_id)).toBeUndefined()
      expect(await scene.store.cached("k")).toBeUndefined()
      expect(await seen(scene, other)).toEqual(kept)
      // The same call is a new pass by now.
      expect((await scene.opened({ id: scene.ids.pass(), call_id: pass.call_id! })).call_id).toBe(pass.call_id)
    })

    for (const [why, make] of Object.entries(STAYS)) {
      test(`a pass stays where ${why}`, async () => {
        await using scene = await createScene(setup)
        const { passes, before = scene.clock.now() + 10 * DAY } = await make(scene)
        for (const { session_id } of passes) await scene.forgetLines(session_id)
        const kept = await Promise.all(passes.map((pass) => seen(scene, pass)))
        expect(await scene.store.outdated({ directory: "/project", before })).toEqual([])
        for (const { id } of passes) {
          expect(await scene.store.forget({ pass_over_id: id, before })).toBe(false)
          expect(await scene.store.clear(id)).toBe(false)
        }
        expect(await Promise.all(passes.map((pass) => seen(scene, pass)))).toEqual(kept)
        expect(await scene.store.outdatedRuns({ directory: "/project", before })).toEqual([])
        expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(false)
      })
    }

    test("its audit lines keep it; which of them would be gone can be said before they are", async () => {
      await using scene = await createScene(setup)
      const pass = await over(scene)
      const before = scene.clock.now() + DAY
      const of = { directory: "/project", before }
      const last = (await scene.lines()).at(-1)!.seq
      expect(await scene.store.outdated(of)).toEqual([])
      expect(await scene.store.forget({ pass_over_id: pass.id, before })).toBe(false)
      const gone = (seq: number) => scene.store.outdated({ ...of, gone: [{ session_id: "ses_alice", seq }] })
      expect(await gone(last - 1)).toEqual([])
      expect(await gone(last)).toEqual([pass.id])
    })

    test("only of the project that is asked about", async () => {
      await using scene = await createScene(setup)
      const pass = await over(scene)
      await scene.forgetLines("ses_alice")
      const before = scene.clock.now() + DAY
      expect(await scene.store.outdated({ directory: "/elsewhere", before })).toEqual([])
      expect(await scene.store.outdated({ directory: "/project", before })).toEqual([pass.id])
    })

    test("a result that a person has kept back keeps its pass no longer than another", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      moved(await scene.store.settle(scene.settled(pass, { delivery: { mode: "none", status: "held" } })))
      scene.clock.advance(DAY)
      await scene.forgetLines("ses_alice")
      expect(await prune(scene, scene.clock.now())).toEqual([pass.id])
    })

    test("a tree goes from its leaves, and what another goes on from goes after it", async () => {
      await using scene = await createScene(setup)
      const root = await over(scene)
      const tree = { trace_id: root.id, max_chain_depth: 5 }
      const middle = await over(scene, { ...tree, parent_pass_id: root.id, chain_depth: 2 })
      const leaf = await over(scene, { ...tree, parent_pass_id: middle.id, chain_depth: 3 })
      const again = await over(scene, { continues_pass_id: leaf.id })
      await scene.forgetLines("ses_alice")
      const before = scene.clock.now() + DAY
      for (const { id } of [root, middle, leaf]) {
        expect(await scene.store.forget({ pass_over_id: id, before })).toBe(false)
      }
      const going = await scene.store.outdated({ directory: "/project", before })
      expect(going).toEqual([again.id, leaf.id, middle.id, root.id])
      expect(await prune(scene, before)).toEqual(going)
    })

    test("as many as are asked for, and never one without those that rest on it", async () => {
      await using scene = await createScene(setup)
      const root = await over(scene)
      scene.clock.advance(1)
      await over(scene, { trace_id: root.id, parent_pass_id: root.id, chain_depth: 2, max_chain_depth: 5 })
      scene.clock.advance(1)
      const young = await over(scene)
      await scene.forgetLines("ses_alice")
      const of = { directory: "/project", before: scene.clock.now() + DAY }
      expect(await scene.store.outdated({ ...of, limit: 1 })).toEqual([young.id])
      expect(await scene.store.outdated({ ...of, limit: 2 })).toHaveLength(2)
      expect(await scene.store.outdated({ ...of, limit: 3 })).toHaveLength(3)
    })

    test("a forgotten pass is found by nobody, whatever is left to be cleared; and that is found again", async () => {
      await using scene = await createScene(setup)
      const many = Array.from({ length: 450 }, (_, at) => ({
        type: "finding" as const,
        severity: "info" as const,
        category: "c",
        message: `finding ${at}`,
      }))
      const pass = await scene.running()
      const output = { ...scene.output(pass), artifacts: many }
      const settled = scene.settled(pass, { output, delivery: { mode: "none", status: "delivered" } })
      await scene.store.settle(settled)
      await scene.store.announce(event(pass, "pass.said", scene.clock.now(), { kind: "said", text: "I look at it." }))
      await scene.forgetLines("ses_alice")
      const before = scene.clock.now() + DAY
      const of = { directory: "/project", before }
      expect(await scene.store.forget({ pass_over_id: pass.id, before })).toBe(true)
      expect(await scene.store.find(pass.id)).toBeUndefined()
      expect(await scene.store.list({})).toEqual([])
      expect(await scene.store.outcome(pass.id)).toBeUndefined()
      expect(await scene.store.forget({ pass_over_id: pass.id, before })).toBe(false)
      expect(await scene.store.outdated(of)).toEqual([])
      expect(await scene.store.uncleared(of)).toEqual([pass.id])
      let steps = 1
      while (await scene.store.clear(pass.id)) steps += 1
      expect(steps).toBeGreaterThan(4)
      expect(await scene.store.uncleared(of)).toEqual([])
      expect(await scene.events()).toEqual([])
    })

    test("a run without passes stays while it is not over for long", async () => {
      await using scene = await createScene(setup)
      const run = await flow(scene)
      const before = scene.clock.now() + DAY
      expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(false)
      await endFlow(scene, run)
      expect(await scene.store.forgetRun({ run_id: RUN, before: scene.clock.now() })).toBe(false)
      expect(await scene.store.run(RUN)).toMatchObject({ status: "completed" })
      expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(true)
    })

    test("a run of a flow goes when it is over for long and its passes are gone", async () => {
      await using scene = await createScene(setup)
      const run = await flow(scene)
      const pass = await over(scene, { call_id: `flow:${RUN}:a#1` })
      await endFlow(scene, run)
      await scene.store.flowCommand(
        { command_id: "cmd_1", run_id: RUN, input: { type: "pause", actor: "ada" }, actor: "ada" },
        1,
      )
      const before = scene.clock.now() + DAY
      const of = { directory: "/project", before }
      expect(await scene.store.outdatedRuns({ ...of, without: [pass.id] })).toEqual([])
      await scene.store.answerFlowCommand({ command_id: "cmd_1", status: "done", result: "x", at: 2 })
      const gate = await ask(scene, pass, { pass_over_id: null, run_id: RUN })
      expect(await scene.store.outdatedRuns({ ...of, without: [pass.id] })).toEqual([])
      await answer(scene, pass, gate)
      expect(await scene.store.outdatedRuns(of)).toEqual([])
      expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(false)
      expect(await scene.store.outdatedRuns({ ...of, without: [pass.id] })).toEqual([RUN])
      expect(await scene.store.outdatedRuns({ ...of, directory: "/elsewhere", without: [pass.id] })).toEqual([])

      await scene.forgetLines("ses_alice")
      expect(await prune(scene, before)).toEqual([pass.id])
      expect(await scene.store.outdatedRuns(of)).toEqual([RUN])
      expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(true)
      expect(await scene.store.run(RUN)).toBeUndefined()
      expect(await scene.store.entries(RUN)).toEqual([])
      expect(await scene.store.flowCommandState("cmd_1")).toBeUndefined()
      expect(await scene.store.gate(gate.gate_id)).toBeUndefined()
      expect(await scene.store.forgetRun({ run_id: RUN, before })).toBe(false)
    })
  })
}
