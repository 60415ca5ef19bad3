import { describe, expect, test } from "bun:test"
import { omit } from "remeda"
import type { WorkArtifact } from "../../../../src/pass-over/domain/artifact"
import { GateKind, type Gate } from "../../../../src/pass-over/domain/gate"
import { event, type Pass } from "../../../../src/pass-over/domain/pass"
import type { Settled } from "../../../../src/pass-over/service/port"
import { createScene, gateOf, moved, type Setup } from "./scene"

const many = 8

const EACH_KIND: WorkArtifact[] = [
  {
    type: "tool_result",
    tool_name: "bash",
    call_id: "call_9",
    input: { command: "ls" },
    output: "a",
    status: "success",
  },
  { type: "message", role: "assistant", content: "Here is what I saw", visibility: "user_visible" },
  { type: "decision", id: "d1", question: "Is it safe?", answer: "no", reasoning: "It is not" },
  {
    type: "file_modification",
    path: "src/total.ts",
    old_content: "\uFEFFone\r\n",
    new_content: "two\u0000\ud83d",
    reason: "exactly so",
    confidence: "low",
  },
  { type: "finding", severity: "info", category: "style", message: "could be shorter", suggested_fix: "" },
]

export function settleContract(setup: Setup) {
  describe("settle", () => {
    test("a pass ends with the outcome that it was given", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      scene.clock.advance(1_500)
      const input = scene.settled(pass)
      const ended = moved(await scene.store.settle(input))
      expect(ended).toEqual({ ...pass, status: "returned", revision: 2, time_ended: input.at })
      expect(await scene.store.find(pass.id)).toEqual(ended)
      expect(await scene.store.outcome(pass.id)).toEqual({
        output: input.output,
        usage: input.usage,
        error_code: null,
        transcript: "read",
      })
      expect((await scene.lines()).at(-1)).toMatchObject({
        ...omit(input.note, ["detail"]),
        artifacts_count: 2,
        // It has not reached anybody yet.
        returned: false,
      })
      expect((await scene.events()).at(-1)).toEqual(input.event)
    })

    test("an outcome that failed says with which code and why", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const output = scene.output(pass, { status: "aborted", completion_reason: "its time was up", artifacts: [] })
      await scene.store.settle(scene.settled(pass, { to: "timed_out", output, error_code: "E010" }))
      expect(await scene.store.outcome(pass.id)).toMatchObject({ output, error_code: "E010" })
      expect(await scene.store.find(pass.id)).toMatchObject({ status: "timed_out" })
    })

    test("artifacts of every kind come back whole and in their order", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const artifacts = [...EACH_KIND, ...EACH_KIND.toReversed(), ...EACH_KIND]
      const output = scene.output(pass, { artifacts })
      const input = scene.settled(pass, { output })
      // Ids that sort the other way round must not decide about the order.
      const shuffled = input.artifacts.map(({ artifact }, index) => ({
        artifact_id: `art_${(0xff - index).toString(16).padStart(32, "0")}` as const,
        artifact,
      }))
      await scene.store.settle({ ...input, artifacts: shuffled })
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(artifacts)
    })

    test("an outcome with more artifacts than one statement can carry is kept whole", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const artifacts: WorkArtifact[] = Array.from({ length: 10_000 }, (_, index) => ({
        type: "finding",
        severity: "info",
        category: "style",
        message: `number ${index}`,
      }))
      await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts }) }))
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(artifacts)
    })

    test("what was asked while it ran is asked no more; what is asked about its result stays", async () => {
      await using scene = await createScene(setup)
      const [pass, other, again] = [await scene.running(), await scene.running(), await scene.running()]
      const ask = (of: Pass, kind: GateKind, more: Partial<Gate> = {}) => {
        const gate = gateOf(scene, { pass_over_id: of.id, kind, ...more })
        return scene.store.ask({ gate, event: event(of, "gate.asked", scene.clock.now()) })
      }
      for (const kind of GateKind.options) await ask(pass, kind)
      await ask(pass, "question", { status: "approved" })
      await ask(other, "confirmation")
      await ask(again, "confirmation")
      const stands = async (of: Pass) =>
        (await scene.store.gates({ pass_over_id: of.id })).map(({ kind, status }) => `${kind} ${status}`)
      const before = await stands(pass)
      expect(await scene.store.settle(scene.settled({ ...pass, fence: 0 }))).toBe("stale")
      expect(await stands(pass)).toEqual(before)
      await scene.store.settle(scene.settled(pass))
      expect(await stands(pass)).toEqual([
        "confirmation withdrawn",
        "delivery pending",
        "approval pending",
        "question withdrawn",
        "escalation withdrawn",
        "question approved",
      ])
      expect(await stands(other)).toEqual(["confirmation pending"])
      await scene.store.settleMany([scene.settled(again)])
      expect(await stands(again)).toEqual(["confirmation withdrawn"])
    })

    test("a second outcome is stale and the first stands", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const first = scene.settled(pass)
      await scene.store.settle(first)
      const before = await scene.traces(pass)
      const output = scene.output(pass, { status: "failed", artifacts: EACH_KIND })
      expect(await scene.store.settle(scene.settled(pass, { output }))).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("of many outcomes at once exactly one is kept", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const results = await Promise.all(
        Array.from({ length: many }, (_, index) =>
          scene.store.settle(
            scene.settled(pass, { output: scene.output(pass, { completion_reason: `outcome ${index}` }) }),
          ),
        ),
      )
      const winner = results.findIndex((result) => result !== "stale")
      expect(results.filter((result) => result !== "stale")).toHaveLength(1)
      expect(await scene.store.outcome(pass.id)).toMatchObject({
        output: { completion_reason: `outcome ${winner}`, artifacts: { length: 2 } },
      })
    })

    test("an owner that lost its pass settles nothing", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running({ fence: 2 })
      const before = await scene.traces(pass)
      expect(await scene.store.settle(scene.settled({ ...pass, fence: 1 }))).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("a pass that was cancelled gets no outcome afterwards", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.commit(scene.commit(pass, "cancelled"))
      expect(await scene.store.settle(scene.settled(pass))).toBe("stale")
      expect(await scene.store.outcome(pass.id)).toBeUndefined()
    })

    test("the attempt that ends with a pass is closed with it", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const begun = scene.attempt(pass)
      await scene.store.bind({ pass, attempt: begun, event: scene.commit(pass, "returned").event })
      const attempt = { ...begun, time_ended: scene.clock.now() }
      await scene.store.settle(scene.settled(pass, { attempt }))
      expect(await scene.store.attempts(pass.id)).toEqual([attempt])
    })

    const delivery: Settled["delivery"][] = [
      { mode: "tool", status: "pending" },
      { mode: "message", status: "held" },
    ]
    test.each(delivery)("a result that goes back by $mode is $status until it is delivered", async (delivery) => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.settle(scene.settled(pass, { delivery }))
      expect(await scene.store.deliveries("ses_alice")).toMatchObject([
        { pass_over_id: pass.id, session_id: "ses_alice", message_id: null, ...delivery },
      ])
    })

    test("when the audit line cannot be written there is no outcome, no move and nothing to deliver", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const begun = scene.attempt(pass)
      await scene.store.bind({ pass, attempt: begun, event: scene.commit(pass, "returned").event })
      const before = await scene.traces(pass)
      const input = scene.settled(pass, { attempt: { ...begun, time_ended: scene.clock.now() } })
      await expect(scene.store.settle({ ...input, note: { ...input.note, actor: "" } })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
      expect(await scene.store.settle(input)).toMatchObject({ status: "returned" })
    })

    test("when one artifact cannot be written there is no outcome at all", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await scene.traces(pass)
      const input = scene.settled(pass)
      const twice = input.artifacts.map(({ artifact }) => ({ artifact_id: scene.ids.make("art"), artifact }))
      const same = twice.map((one) => ({ ...one, artifact_id: twice[0]?.artifact_id ?? one.artifact_id }))
      await expect(scene.store.settle({ ...input, artifacts: same })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
    })
  })
}
