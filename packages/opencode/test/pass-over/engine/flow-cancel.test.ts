import { describe, expect, test } from "bun:test"
import { adopt } from "../../../src/pass-over/service/adopt"
import { order } from "../../../src/pass-over/service/command"
import type { Engine } from "../../../src/pass-over/service/engine"
import { answerGate } from "../../../src/pass-over/service/gate"
import { recover } from "../../../src/pass-over/service/recover"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"

const STEP = "  - { id: a, agent: scout, objective: Look }\n"
const ONE = `name: one\nsteps:\n${STEP}`
const THEN = `${ONE}  - { id: accept, gate: accept it, items: [Is it good?] }\n`

const branches = Array.from({ length: 12 }, (_, at) => `      - { id: b${at}, agent: scout, objective: Part ${at} }\n`)
const MANY = `name: many\nsteps:\n  - id: all\n    parallel:\n${branches.join("")}`

const CANCEL = { type: "cancel", actor: "ada", reason: "not needed" } as const
const SKIP = { type: "skip", step: "a", actor: "ada", reason: "not needed" } as const

const prefer = (scene: FlowScene, preferences: FlowScene["preferences"][number]["preferences"]) =>
  void scene.preferences.push({ origin: "project", path: "pass-over.json", preferences })

const asking = (scene: FlowScene) => prefer(scene, { defaults: { require_confirmation: true } })

/** Every agent does its work; comes back with how often one came to the end of it. */
function working(scene: FlowScene, ms = 5_000) {
  const done = { count: 0 }
  scene.host.script("scout", async (child) => {
    await Promise.race([child.told, child.wait(ms)])
    if (child.stopped) return
    done.count += 1
    await leaves(child)
  })
  return done
}

const passes = async ({ engine }: { engine: Engine }) =>
  (await engine.store.list({ limit: 200 })).map(
    ({ call_id, status }) => `${call_id?.split(":").slice(2).join(":")} ${status}`,
  )

const gates = async ({ engine }: { engine: Engine }) =>
  (await engine.store.gates({})).map(({ kind, status }) => `${kind} ${status}`)

/** Has a run begun and waits until its confirmation stands in the inbox. */
async function confirming(scene: FlowScene, name: string) {
  asking(scene)
  const run = await scene.run(name)
  await scene.clock.advance(10)
  expect(await gates(scene)).toEqual(["confirmation pending"])
  return run
}

describe("what a run goes on without", () => {
  test("is not begun once more: of many branches that stood in line none works after a cancel", async () => {
    using scene = createFlowScene([MANY])
    const done = working(scene)
    prefer(scene, { limits: { running: 4 } })
    const run = await scene.run("many")
    await scene.clock.advance(10)
    expect(scene.host.prompts).toHaveLength(4)
    await scene.flows.order(run.run_id, CANCEL, "ada")
    await scene.clock.advance(60_000)
    expect(scene.host.prompts).toHaveLength(4)
    expect(done.count).toBe(0)
    expect((await passes(scene)).toSorted()).toEqual(branches.map((_, at) => `all.b${at}#1 cancelled`).toSorted())
  })

  test("is not asked about any more, after a cancel and after a skip", async () => {
    for (const input of [CANCEL, SKIP]) {
      using scene = createFlowScene([ONE])
      working(scene)
      const run = await confirming(scene, "one")
      await scene.flows.order(run.run_id, input, "ada")
      await scene.clock.advance(5_000)
      expect(await gates(scene)).toEqual(["confirmation withdrawn"])
      expect(await passes(scene)).toEqual(["a#1 cancelled"])
    }
  })

  test("is called off also where it was being sent at that moment", async () => {
    for (const input of [CANCEL, SKIP]) {
      using scene = createFlowScene([ONE])
      const done = working(scene)
      const { open } = scene.engine.store
      const sending = Promise.withResolvers<void>()
      const cancelled = Promise.withResolvers<void>()
      scene.engine.store.open = async (opening) => {
        sending.resolve()
        await cancelled.promise
        return open(opening)
      }
      const run = await scene.run("one")
      await sending.promise
      await scene.flows.order(run.run_id, input, "ada")
      cancelled.resolve()
      await scene.clock.advance(60_000)
      expect(done.count).toBe(0)
      expect(await passes(scene)).toEqual(["a#1 cancelled"])
    }
  })

  test("is not sent at all where it had not been by then", async () => {
    using scene = createFlowScene([ONE])
    working(scene)
    const { byCall } = scene.engine.store
    const cancelled = Promise.withResolvers<void>()
    scene.engine.store.byCall = async (...call) => {
      await cancelled.promise
      return byCall(...call)
    }
    const run = await scene.run("one")
    await scene.flows.order(run.run_id, CANCEL, "ada")
    cancelled.resolve()
    await scene.clock.advance(60_000)
    expect(await passes(scene)).toEqual([])
    expect(scene.host.prompts).toEqual([])
  })

  test("is taken back from the inbox also where it was being asked at that moment", async () => {
    using scene = createFlowScene([THEN])
    working(scene, 0)
    const { ask } = scene.engine.store
    const asked = Promise.withResolvers<void>()
    const skipped = Promise.withResolvers<void>()
    scene.engine.store.ask = async (input) => {
      asked.resolve()
      await skipped.promise
      return ask(input)
    }
    const run = await scene.run("one")
    await scene.clock.advance(10)
    await asked.promise
    await scene.flows.order(run.run_id, { ...SKIP, step: "accept" }, "ada")
    skipped.resolve()
    await scene.clock.advance(5_000)
    expect((await scene.flows.state(run.run_id))?.state.status).toBe("completed")
    expect(await gates(scene)).toEqual(["question withdrawn"])
  })
})

describe("a pass of a run that had not begun", () => {
  test("is cancelled by a person once, and then the step has failed", async () => {
    using scene = createFlowScene([ONE])
    working(scene)
    const run = await confirming(scene, "one")
    const [pass] = await scene.engine.store.list({})
    await order(scene.engine, { pass_over_id: pass!.id, kind: "cancel", text: "no", actor: "ada" })
    await scene.settled(run)
    expect(await passes(scene)).toEqual(["a#1 cancelled"])
    expect(await scene.questions(run)).toMatchObject([{ why: "failed", question: expect.stringContaining("E016") }])
  })

  test("is called off at the next start where its run was cancelled and its opencode killed behind that", async () => {
    using scene = createFlowScene([ONE])
    working(scene)
    const run = await confirming(scene, "one")
    // What follows from the cancel is not done any more.
    scene.engine.store.command = () => new Promise(() => {})
    await scene.flows.order(run.run_id, CANCEL, "ada")
    using later = createFlowScene([ONE], { store: scene.engine.store, owner: "2", seed: 90_000 })
    const done = working(later)
    asking(later)
    await recover(later.engine, () => "dead")
    expect(await adopt(later.engine, later.project)).toBe(1)
    await later.clock.advance(60_000)
    expect(await gates(later)).toEqual(["confirmation withdrawn"])
    expect(await passes(later)).toEqual(["a#1 cancelled"])
    expect(done.count).toBe(0)
  })

  test("is begun once more where only its opencode had ended, and its work is done", async () => {
    using scene = createFlowScene([ONE])
    // It never comes to the start of its child.
    scene.host.child = () => new Promise(() => {})
    const run = await scene.run("one")
    await scene.clock.advance(10)
    expect(await passes(scene)).toEqual(["a#1 initial"])
    using later = createFlowScene([ONE], { store: scene.engine.store, owner: "2", seed: 90_000 })
    const done = working(later)
    await recover(later.engine, () => "dead")
    expect(await later.flows.recover(() => "dead")).toBe(1)
    expect((await later.settled(run))?.state.status).toBe("completed")
    expect(await passes(later)).toEqual(["a#1 cancelled", "a#1:2 processed"])
    expect(done.count).toBe(1)
  })
})

describe("a question that its run goes on without", () => {
  const TWO = `name: two\nsteps:\n  - { id: a, gate: first, items: [x] }\n  - { id: b, gate: second, items: [x] }\n`
  const pending = async (scene: FlowScene) =>
    (await scene.engine.store.gates({ status: ["pending"] })).map(({ question }) => question)
  const never = () => new Promise<never>(() => {})

  test("is gone with the entry that says so, though its opencode is killed right behind it", async () => {
    for (const [input, left] of [
      [CANCEL, []],
      [SKIP, ["two, b: second"]],
    ] as const) {
      using scene = createFlowScene([TWO])
      const run = await scene.run("two")
      await scene.settled(run)
      const { store } = scene.engine
      const kept = { ask: store.ask, gate: store.gate }
      Object.assign(store, { ask: never, gate: never })
      await scene.flows.order(run.run_id, input, "ada")
      Object.assign(store, kept)
      using later = createFlowScene([TWO], { store, owner: "2", seed: 90_000 })
      await later.flows.recover(() => "dead")
      await later.clock.advance(1_000)
      expect(await pending(later)).toEqual([...left])
    }
  })

  test("and that was still being put when its opencode was killed is withdrawn at the next start, and no other", async () => {
    using scene = createFlowScene([TWO])
    const { store } = scene.engine
    const { ask } = store
    const writing: Parameters<typeof ask>[0][] = []
    store.ask = (input) => {
      writing.push(input)
      return never()
    }
    const run = await scene.run("two")
    await scene.clock.advance(10)
    await scene.flows.order(run.run_id, SKIP, "ada")
    await scene.clock.advance(10)
    store.ask = ask
    for (const input of writing) await ask(input)
    expect(await pending(scene)).toEqual(["two, a: first", "two, b: second"])
    using later = createFlowScene([TWO], { store, owner: "2", seed: 90_000 })
    await later.flows.tidy()
    expect(await pending(later)).toEqual(["two, b: second"])
  })
})

describe("with two processes on one database", () => {
  const beside = (scene: FlowScene, text: string) => {
    const other = createFlowScene([text], { store: scene.engine.store, owner: "2", seed: 90_000, serial: 9_000 })
    asking(other)
    return other
  }

  test("a cancel that comes from the other one calls off what waits here, once, with its question", async () => {
    using scene = createFlowScene([ONE])
    const done = working(scene)
    const run = await confirming(scene, "one")
    using other = beside(scene, ONE)
    expect(await other.flows.order(run.run_id, CANCEL, "ada")).toMatchObject({ ok: true })
    expect(await gates(scene)).toEqual(["confirmation pending"])
    await scene.flows.attend(() => "alive")
    await scene.clock.advance(60_000)
    expect(await gates(scene)).toEqual(["confirmation withdrawn"])
    expect(await passes(scene)).toEqual(["a#1 cancelled"])
    // Nothing is left that whoever comes later would take up.
    expect(await other.flows.recover(() => "dead")).toBe(0)
    expect(done.count).toBe(0)
  })

  test("a cancel and a skip reach a run that was taken over while its pass waited for a person", async () => {
    for (const input of [CANCEL, SKIP]) {
      using scene = createFlowScene([ONE])
      working(scene)
      const run = await confirming(scene, "one")
      using other = beside(scene, ONE)
      const done = working(other)
      await recover(other.engine, () => "dead")
      await adopt(other.engine, other.project)
      expect(await other.flows.recover(() => "dead")).toBe(1)
      await other.clock.advance(10)
      expect(await other.flows.order(run.run_id, input, "ada")).toMatchObject({ ok: true })
      await other.clock.advance(60_000)
      expect(await gates(other)).toEqual(["confirmation withdrawn"])
      expect(await passes(other)).toEqual(["a#1 cancelled"])
      expect(done.count).toBe(0)
    }
  })

  test("what one of them has cancelled the other can do again from a step, and nothing of before comes in between", async () => {
    using scene = createFlowScene([ONE])
    working(scene)
    const run = await confirming(scene, "one")
    await scene.flows.order(run.run_id, CANCEL, "ada")
    await scene.clock.advance(10)
    using other = beside(scene, ONE)
    const done = working(other)
    expect(await other.flows.order(run.run_id, { type: "retry", step: "a", actor: "ada" }, "ada")).toMatchObject({
      ok: true,
    })
    await scene.clock.advance(60_000)
    await other.clock.advance(10)
    expect(await gates(other)).toEqual(["confirmation withdrawn", "confirmation pending"])
    const [gate] = await other.engine.store.gates({ status: ["pending"] })
    await answerGate(other.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
    expect((await other.settled(run))?.state.status).toBe("completed")
    expect(await passes(other)).toEqual(["a#1 cancelled", "a#2 processed"])
    expect(done.count).toBe(1)
  })
})
