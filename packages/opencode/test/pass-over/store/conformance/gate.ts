import { describe, expect, test } from "bun:test"
import type { Gate, GateAnswer } from "../../../../src/pass-over/domain/gate"
import { event, note, type AuditNote, type Pass } from "../../../../src/pass-over/domain/pass"
import type { GateFilter } from "../../../../src/pass-over/service/port-gate"
import { createScene, gateOf, type Scene, type Setup } from "./scene"

const many = 8

/** What an operation on a question of a pass leaves behind: its line, and its event. */
const kept = (scene: Scene, pass: Pass, type: "gate.asked" | "gate.answered", more: Partial<AuditNote> = {}) => {
  const at = scene.clock.now()
  const action = type === "gate.asked" ? "asked" : "answered"
  return { event: event(pass, type, at), note: { ...note(pass, { action, actor: "alice", at }), ...more } }
}

const asking = (scene: Scene, pass: Pass, more: Partial<Gate> = {}) => ({
  gate: gateOf(scene, { pass_over_id: pass.id, ...more }),
  ...kept(scene, pass, "gate.asked"),
})

const asked = async (scene: Scene, pass: Pass, more: Partial<Gate> = {}) => {
  const input = asking(scene, pass, more)
  await scene.store.ask(input)
  return input.gate
}

const YES: GateAnswer = { verdict: "approve", note: null, by: "ada", surface: "panel" }

const answering = (scene: Scene, pass: Pass, { gate_id }: Pick<Gate, "gate_id">, answer: Partial<GateAnswer> = {}) => ({
  gate_id,
  answer: { ...YES, ...answer },
  at: scene.clock.now(),
  ...kept(scene, pass, "gate.answered"),
})

const left = async (scene: Scene) => ({ lines: await scene.lines(), events: await scene.events() })

function askContract(setup: Setup) {
  describe("a question to a person", () => {
    test("is read back as it was asked, with its audit line and its event", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const input = asking(scene, pass, { detail: { from: "alice", list: [1, null] } })
      expect(await scene.store.ask(input)).toEqual({ gate: input.gate, created: true })
      expect(await scene.store.gate(input.gate.gate_id)).toEqual(input.gate)
      expect(await scene.store.gate(scene.ids.make("gat"))).toBeUndefined()
      expect((await scene.lines()).at(-1)).toMatchObject({ action: "asked", pass_over_id: pass.id })
      expect((await scene.events()).at(-1)).toEqual(input.event)
    })

    test("that is no pass's has an event and no line", async () => {
      await using scene = await createScene(setup)
      const gate = gateOf(scene, { run_id: "run_1" })
      const told = event(scene.pass(), "gate.asked", scene.clock.now())
      expect(await scene.store.ask({ gate, event: told })).toEqual({ gate, created: true })
      expect(await left(scene)).toEqual({ lines: [], events: [told] })
    })

    test("that is asked again is found as it stands by now, and told of no second time", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const { gate_id, key } = await asked(scene, pass)
      await store.answerGate(answering(scene, pass, { gate_id }, { note: "not now", verdict: "reject" }))
      const before = await left(scene)
      const stands = await store.gate(gate_id)
      expect(stands).toMatchObject({ status: "rejected", note: "not now" })
      const again = await store.ask(asking(scene, pass, { key, question: "Once more?" }))
      expect(again).toEqual({ gate: stands!, created: false })
      expect(await store.gates({})).toHaveLength(1)
      expect(await left(scene)).toEqual(before)
    })

    test("that many ask at once is one", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const all = await Promise.all(
        Array.from({ length: many }, () => scene.store.ask(asking(scene, pass, { key: "k" }))),
      )
      expect(all.filter(({ created }) => created)).toHaveLength(1)
      expect(new Set(all.map(({ gate }) => gate.gate_id)).size).toBe(1)
      expect((await scene.lines()).filter(({ action }) => action === "asked")).toHaveLength(1)
    })

    test("is not asked where its audit line cannot be written", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await left(scene)
      const input = asking(scene, pass)
      const unsigned = { ...input, note: { ...input.note, actor: "" } }
      await expect(scene.store.ask(unsigned)).rejects.toThrow()
      expect(await scene.store.gate(input.gate.gate_id)).toBeUndefined()
      expect(await left(scene)).toEqual(before)
      expect(await scene.store.ask(input)).toMatchObject({ created: true })
    })
  })

  describe("gates", () => {
    test("are found by each filter, and by several together, in the order in which they were asked", async () => {
      await using scene = await createScene(setup)
      const [pass, other] = [await scene.running(), await scene.running()]
      const made = [
        gateOf(scene, { pass_over_id: pass.id, kind: "confirmation" }),
        gateOf(scene, { pass_over_id: pass.id, session_id: "ses_other", status: "approved" }),
        gateOf(scene, { pass_over_id: other.id, directory: "/elsewhere", kind: "approval", status: "rejected" }),
        gateOf(scene, { run_id: "run_1", time_acted: 1, status: "withdrawn" }),
      ]
      const asks = made.map((gate) => ({ gate, event: event(pass, "gate.asked", 1) }))
      for (const input of asks.toReversed()) await scene.store.ask(input)
      const found = async (filter: GateFilter) => {
        const ids = (await scene.store.gates(filter)).map(({ gate_id }) => gate_id)
        return ids.map((id) => made.findIndex(({ gate_id }) => gate_id === id))
      }
      expect(await scene.store.gates({})).toEqual(made)
      const cases: [GateFilter, number[]][] = [
        [{ directory: "/project" }, [0, 1, 3]],
        [{ session_id: "ses_other" }, [1]],
        [{ pass_over_id: pass.id }, [0, 1]],
        [{ run_id: "run_1" }, [3]],
        [{ kind: "approval" }, [2]],
        [{ status: ["approved", "rejected"] }, [1, 2]],
        [{ status: [] }, []],
        [{ unacted: true }, [0, 1, 2]],
        [{ unacted: false, kind: undefined }, [0, 1, 2, 3]],
        [{ after: made[1]!.gate_id }, [2, 3]],
        [{ limit: 2 }, [0, 1]],
        [{ after: made[0]!.gate_id, limit: 2, directory: "/project" }, [1, 3]],
        [{ pass_over_id: pass.id, status: ["pending"] }, [0]],
      ]
      for (const [filter, expected] of cases) expect([filter, await found(filter)]).toEqual([filter, expected])
    })
  })
}

function answerContract(setup: Setup) {
  describe("an answer", () => {
    test.each([
      ["approve", "approved"],
      ["reject", "rejected"],
      ["question", "questioned"],
    ] as const)(
      "to %s it makes a question %s, with who gave it, where and with which words",
      async (verdict, status) => {
        await using scene = await createScene(setup)
        const pass = await scene.running()
        const gate = await asked(scene, pass)
        scene.clock.advance(50)
        const input = answering(scene, pass, gate, { verdict, note: "Look again" })
        const answered = {
          ...gate,
          status,
          note: "Look again",
          answered_by: "ada",
          surface: "panel",
          time_answered: input.at,
        }
        expect(await scene.store.answerGate(input)).toEqual({ first: true, gate: answered })
        expect(await scene.store.gate(gate.gate_id)).toEqual(answered)
        expect((await scene.lines()).at(-1)).toMatchObject({ action: "answered", pass_over_id: pass.id })
        expect((await scene.events()).at(-1)).toEqual(input.event)
      },
    )

    test("that comes second is shown the first, and leaves nothing", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const gate = await asked(scene, pass)
      const { gate: first } = await store.answerGate(answering(scene, pass, gate, { by: null, surface: "default" }))
      expect(first).toMatchObject({ answered_by: null, surface: "default" })
      const before = await left(scene)
      const late = answering(scene, pass, gate, { verdict: "reject" })
      expect(await store.answerGate(late)).toEqual({ first: false, gate: first })
      expect(await left(scene)).toEqual(before)
    })

    test("to what nobody asks, or asks any more, is none", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const nowhere = answering(scene, pass, { gate_id: scene.ids.make("gat") })
      expect(await store.answerGate(nowhere)).toEqual({ first: false, gate: undefined })
      const gate = await asked(scene, pass)
      await store.withdraw({ gate_id: gate.gate_id, at: scene.clock.now() })
      const before = await left(scene)
      expect(await store.answerGate(answering(scene, pass, gate))).toMatchObject({
        first: false,
        gate: { status: "withdrawn", answered_by: null },
      })
      expect(await left(scene)).toEqual(before)
    })

    test("that cannot be put on record leaves the question open", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const gate = await asked(scene, pass)
      const before = await left(scene)
      const input = answering(scene, pass, gate)
      await expect(scene.store.answerGate({ ...input, note: { ...input.note, actor: "" } })).rejects.toThrow()
      expect(await scene.store.gate(gate.gate_id)).toEqual(gate)
      expect(await left(scene)).toEqual(before)
      expect(await scene.store.answerGate(input)).toMatchObject({ first: true })
    })

    test("is carried out by one, once, and that changes nothing of what it says", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const gate = await asked(scene, pass)
      const { gate: answered } = await store.answerGate(answering(scene, pass, gate))
      const at = scene.clock.now() + 5
      expect(await store.actOn(gate.gate_id, at)).toBe(true)
      expect(await store.actOn(gate.gate_id, at + 1)).toBe(false)
      expect(await store.gate(gate.gate_id)).toEqual({ ...answered!, time_acted: at })
      expect(await store.gates({ unacted: true })).toEqual([])
      expect(await store.actOn(scene.ids.make("gat"), at)).toBe(false)
    })
  })
}

export function gateContract(setup: Setup) {
  askContract(setup)
  answerContract(setup)

  describe("overdue", () => {
    test("are questions whose time is over and that nobody has answered, of all projects", async () => {
      await using scene = await createScene(setup)
      const { store, clock } = scene
      const pass = await scene.running()
      const now = clock.now()
      const late = await asked(scene, pass, { time_expires: now + 10 })
      const elsewhere = await asked(scene, pass, { time_expires: now + 20, directory: "/elsewhere" })
      const answered = await asked(scene, pass, { time_expires: now + 10 })
      await store.answerGate(answering(scene, pass, answered))
      const withdrawn = await asked(scene, pass, { time_expires: now + 10 })
      await store.withdraw({ gate_id: withdrawn.gate_id, at: now })
      const overdue = async (at: number) =>
        (await store.overdue(at)).toSorted((a, b) => a.time_expires - b.time_expires)
      expect(await overdue(now + 9)).toEqual([])
      expect(await overdue(now + 10)).toEqual([late])
      expect(await overdue(now + 20)).toEqual([late, elsewhere])
    })
  })

  describe("withdraw", () => {
    test("takes a question back that nobody has answered, and says since when; no other is touched", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const [gate, other, answered] = [await asked(scene, pass), await asked(scene, pass), await asked(scene, pass)]
      const { gate: stands } = await store.answerGate(answering(scene, pass, answered))
      const at = scene.clock.now() + 5
      for (const gate_id of [gate.gate_id, answered.gate_id, scene.ids.make("gat")])
        await store.withdraw({ gate_id, at })
      const withdrawn = { ...gate, status: "withdrawn" as const, time_answered: at }
      expect(await store.gate(gate.gate_id)).toEqual(withdrawn)
      await store.withdraw({ gate_id: gate.gate_id, at: at + 5 })
      expect(await store.gates({})).toEqual([withdrawn, other, stands!])
    })
  })
}
