import { describe, expect, test } from "bun:test"
import { event, note, type Pass } from "../../../../src/pass-over/domain/pass"
import type { Store } from "../../../../src/pass-over/service/port"
import { flow } from "./retention"
import { applicationOf, changeOf, createScene, gateOf, type Scene, type Setup } from "./scene"
import { orderOf } from "./start"
import { treeOf } from "./tree"

const many = 8

/** What one of those who try does, with a store of its own and in its own name; whether it was the one. */
type Try = (store: Store, owner_id: `own_${string}`) => Promise<boolean>

const changed = async (scene: Scene) => {
  const change = changeOf(scene, await scene.returned())
  await scene.store.saveChange(change)
  return change
}

const asked = async (scene: Scene) => {
  const gate = gateOf(scene, {})
  await scene.store.ask({ gate, event: event(scene.pass(), "gate.asked", scene.clock.now()) })
  return gate
}

const staged = (scene: Scene, pass: Pass) => event(pass, "pass.staged", scene.clock.now())

/** What can only happen once, and is tried by many. */
const ONCE: Record<string, (scene: Scene) => Promise<Try>> = {
  "moves a pass on": async (scene) => {
    const pass = await scene.running()
    return async (store) => (await store.commit(scene.commit(pass, "cancelled"))) !== "stale"
  },
  "gives a pass its outcome": async (scene) => {
    const pass = await scene.running()
    return async (store) => (await store.settle(scene.settled(pass))) !== "stale"
  },
  "holds its return": async (scene) => {
    const pass = await scene.running()
    return async (store) =>
      (await store.stage({ pass, report: scene.report(), event: staged(scene, pass) })) === "staged"
  },
  "makes the pass of a tool call": async (scene) => async (store) => {
    const opened = await store.open(scene.opening(scene.pass({ call_id: "call_1" })))
    return "pass" in opened && opened.created
  },
  "takes a pass over": async (scene) => {
    const { owner_id: from } = await scene.running()
    return async (store, owner_id) => (await store.claim({ from, owner_id, limit: 1 })).length === 1
  },
  "takes a result in hand": async (scene) => {
    const { id: pass_over_id } = await scene.returned()
    const from = (await scene.store.delivery(pass_over_id))!
    return (store, owner_id) => store.take({ pass_over_id, owner_id, from, message_id: `msg_${owner_id}` })
  },
  "marks a result as delivered": async (scene) => {
    const { id: pass_over_id } = await scene.returned()
    return async (store) =>
      (await store.delivered([{ pass_over_id, message_id: null, at: scene.clock.now() }])).length === 1
  },
  "answers a command": async (scene) => {
    const command_id = scene.ids.make("cmd")
    const { id: pass_over_id } = await scene.running()
    await scene.store.command({ command_id, pass_over_id, kind: "cancel", text: "", actor: "ada" }, 1)
    return (store, owner_id) => store.answer({ command_id, status: "done", result: owner_id, at: 2 })
  },
  "asks a person": async (scene) => async (store) => {
    const input = { gate: gateOf(scene, { key: "k" }), event: event(scene.pass(), "gate.asked", scene.clock.now()) }
    return (await store.ask(input)).created
  },
  "answers a question": async (scene) => {
    const { gate_id } = await asked(scene)
    return async (store, by) => {
      const answer = { verdict: "approve", note: null, by, surface: "panel" } as const
      const told = event(scene.pass(), "gate.answered", scene.clock.now())
      const { first, gate } = await store.answerGate({ gate_id, answer, at: scene.clock.now(), event: told })
      // Whoever comes later is shown who it was.
      expect(gate?.answered_by === by).toBe(first)
      return first
    }
  },
  "carries an answer out": async (scene) => {
    const { gate_id } = await asked(scene)
    return (store) => store.actOn(gate_id, scene.clock.now())
  },
  "takes an order in hand": async (scene) => {
    const order = orderOf(scene)
    await scene.store.askStart(order)
    return (store, owner_id) => store.claimStart({ start_id: order.start_id, from: null, owner_id })
  },
  "takes a run over": async (scene) => {
    const { run_id, owner_id: from } = await flow(scene)
    return async (store, owner_id) => (await store.claimRun({ run_id, from, owner_id })) !== undefined
  },
  "writes the next entry of a run": async (scene) => {
    const run = await flow(scene)
    const entry = { seq: 2, at: 1, input: { type: "pause" as const, actor: "ada" } }
    const told = event(scene.pass(), "flow.moved", 1)
    const { run_id, fence } = run
    return async (store) =>
      (await store.journal({ run_id, fence, entry, status: "paused", reason: null, event: told })) === "written"
  },
  "begins to write into a tree": async (scene) => {
    const change = await changed(scene)
    return async (store, owner_id) => (await store.intend(applicationOf(scene, change, { owner_id }))) === "ok"
  },
  "ends what was written": async (scene) => {
    const change = await changed(scene)
    const intent = applicationOf(scene, change)
    await scene.store.intend(intent)
    const pass = (await scene.store.find(change.pass_over_id))!
    const at = scene.clock.now()
    const told = { note: note(pass, { action: "applied", actor: "ada", at }), event: event(pass, "pass.applied", at) }
    return (store) => store.endApply({ apply_id: intent.apply_id, status: "done", problem: null, at, told })
  },
  "takes a write over": async (scene) => {
    const { apply_id, owner_id: from, ...intent } = applicationOf(scene, await changed(scene))
    await scene.store.intend({ ...intent, apply_id, owner_id: from })
    return (store, owner_id) => store.takeApply({ apply_id, from, owner_id })
  },
  "makes a tree": async (scene) => (store, owner_id) => store.takeWorktree(treeOf(scene, { owner_id }), null),
  "takes a tree": async (scene) => {
    const tree = treeOf(scene, { pass_over_id: null })
    await scene.store.takeWorktree(tree, null)
    return (store, owner_id) => store.takeWorktree({ ...tree, owner_id, pass_over_id: scene.ids.pass() }, tree)
  },
  "writes settings that it has read": async () => async (store, actor) => {
    const key = { level: "defaults" } as const
    const settings = { timeout_ms: 1_000 }
    return (await store.putPreference({ directory: "/project", key, before: {}, settings, actor, at: 1 })) === "written"
  },
}

/** Half of them are another process, where the data can be that of several. */
export function contestContract(setup: Setup) {
  describe("of many at once exactly one", () => {
    for (const [what, make] of Object.entries(ONCE)) {
      test(what, async () => {
        await using scene = await createScene(setup)
        const attempt = await make(scene)
        const stores = [scene.store, scene.beside?.() ?? scene.store]
        const results = await Promise.all(
          Array.from({ length: many }, (_, index) => attempt(stores[index % 2]!, scene.ids.make("own"))),
        )
        expect(results.filter(Boolean)).toHaveLength(1)
      })
    }
  })
}
