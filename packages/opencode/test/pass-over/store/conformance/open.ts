import { describe, expect, test } from "bun:test"
import { omit } from "remeda"
import { Pass } from "../../../../src/pass-over/domain/pass"
import { createScene, moved, type Setup } from "./scene"
import { accepted } from "../../support/world"

const many = 8

export function openContract(setup: Setup) {
  describe("open", () => {
    test("a pass can be found again with everything it was given", async () => {
      await using scene = await createScene(setup)
      const pass = scene.pass({
        background: "The sums were rewritten last week",
        model: "some/model",
        overrides: { timeout_ms: 5_000 },
        parent_pass_id: scene.ids.pass(),
        continues_pass_id: scene.ids.pass(),
        ancestors: ["alice", "scout"],
        originating_agent_id: "scout",
        chain_depth: 2,
        wait: false,
        message_id: null,
        user_id: null,
      })
      expect(await scene.store.open(scene.opening(pass))).toEqual({ pass, created: true, place: { state: "running" } })
      expect(await scene.store.find(pass.id)).toEqual(pass)
      expect(() => Pass.parse(pass)).not.toThrow()
    })

    test("the request and its manifest are read back as they were opened", async () => {
      await using scene = await createScene(setup)
      const input = scene.opening()
      await scene.store.open(input)
      expect(await scene.store.request(input.pass.id)).toEqual({ request: input.request, manifest: input.manifest })
    })

    test("what is answered is what will be read, also where text cannot be kept as it is", async () => {
      await using scene = await createScene(setup)
      const text = "\uFEFFcut off \ud83d here"
      const { pass } = accepted(await scene.store.open(scene.opening(scene.pass({ reason: text, background: text }))))
      expect(pass).toMatchObject({ reason: "cut off \ufffd here", background: "cut off \ufffd here" })
      expect(await scene.store.find(pass.id)).toEqual(pass)
    })

    test("opening leaves one audit line and one event", async () => {
      await using scene = await createScene(setup)
      const input = scene.opening()
      await scene.store.open(input)
      expect(await scene.lines()).toMatchObject([{ ...omit(input.note, ["detail"]), seq: 1 }])
      expect(await scene.events()).toEqual([input.event])
    })

    test("a pass is continued by one at a time, and by another when that has ended", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const first = await scene.returned()
      const on = () => scene.opening(scene.pass({ continues_pass_id: first.id }))
      const second = accepted(await store.open(on())).pass
      const before = await scene.traces(second)
      expect(await store.open(on())).toEqual({ continued_by: second.id })
      expect(await scene.traces(second)).toEqual(before)
      const running = moved(await store.commit(scene.commit(second, "waiting_for_return")))
      expect(await store.open(on())).toEqual({ continued_by: second.id })
      moved(await store.settle(scene.settled(running)))
      expect(accepted(await store.open(on())).created).toBe(true)
      // Another pass is nobody's concern.
      const other = scene.pass({ continues_pass_id: scene.ids.pass() })
      expect(accepted(await store.open(scene.opening(other))).created).toBe(true)
    })

    test("of many that want to continue one pass at once, one does", async () => {
      await using scene = await createScene(setup)
      const first = await scene.returned()
      const asks = Array.from({ length: many }, () => scene.opening(scene.pass({ continues_pass_id: first.id })))
      const opened = await Promise.all(asks.map((ask) => scene.store.open(ask)))
      expect(opened.filter((each) => "pass" in each)).toHaveLength(1)
      expect(opened.filter((each) => "continued_by" in each)).toHaveLength(many - 1)
      expect(await scene.store.list({ continues_pass_id: first.id })).toHaveLength(1)
    })

    test("the same objective of a pair is opened as often as it may be, in each tree of sessions", async () => {
      await using scene = await createScene(setup)
      const alike = (pass: Parameters<typeof scene.pass>[0] = {}) => scene.opening(scene.pass(pass), { repetitions: 3 })
      const first = accepted(await scene.store.open(alike({ call_id: "call_1" })))
      accepted(await scene.store.open(alike()))
      const third = accepted(await scene.store.open(alike({ session_id: "ses_nested", root_session_id: "ses_alice" })))
      const before = await scene.traces(third.pass)
      expect(await scene.store.open(alike())).toEqual({ repeated: 3 })
      expect(await scene.traces(third.pass)).toEqual(before)
      // A call that the host repeats is one of the three.
      expect(await scene.store.open(alike({ call_id: "call_1" }))).toMatchObject({ created: false, pass: first.pass })
      for (const other of [
        { objective: "Something else" },
        { subagent_id: "scout" },
        { originating_agent_id: "build" },
        { session_id: "ses_elsewhere" },
      ]) {
        expect(accepted(await scene.store.open(alike(other))).created).toBe(true)
      }
    })

    test("of many that ask a pair for the same at once, as many are opened as may be", async () => {
      await using scene = await createScene(setup)
      const asks = Array.from({ length: many }, () => scene.opening(scene.pass(), { repetitions: 3 }))
      const opened = await Promise.all(asks.map((ask) => scene.store.open(ask)))
      expect(opened.filter((each) => "repeated" in each)).toHaveLength(many - 3)
      expect(await scene.store.list({})).toHaveLength(3)
    })

    test("a tool call that the host repeats is one pass, and the second answer shows where it stands", async () => {
      await using scene = await createScene(setup)
      const first = await scene.running({ call_id: "call_1" })
      const before = await scene.traces(first)
      const again = await scene.store.open(scene.opening(scene.pass({ call_id: "call_1", reason: "Once more" })))
      expect(again).toEqual({ pass: first, created: false, place: { state: "running" } })
      expect(await scene.traces(first)).toEqual(before)
    })

    test("of many that open the same call at once exactly one creates the pass", async () => {
      await using scene = await createScene(setup)
      const results = await Promise.all(
        Array.from({ length: many }, async () =>
          accepted(await scene.store.open(scene.opening(scene.pass({ call_id: "call_1" })))),
        ),
      )
      expect(results.filter(({ created }) => created)).toHaveLength(1)
      expect(new Set(results.map(({ pass }) => pass.id)).size).toBe(1)
      expect(await scene.store.list({})).toHaveLength(1)
    })

    test("the same call id in another answer is another pass: some providers count from one in each", async () => {
      await using scene = await createScene(setup)
      const first = await scene.opened({ call_id: "call_1", message_id: "msg_1" })
      const second = await scene.opened({ call_id: "call_1", message_id: "msg_2" })
      expect(second.id).not.toBe(first.id)
      expect(await scene.store.byCall(first.session_id, "call_1")).toMatchObject({ id: second.id })
      const again = await scene.store.open(scene.opening(scene.pass({ call_id: "call_1", message_id: "msg_1" })))
      expect(again).toMatchObject({ created: false, pass: { id: first.id } })
    })

    test("the same call id in another session is another pass", async () => {
      await using scene = await createScene(setup)
      await scene.opened({ call_id: "call_1" })
      await scene.opened({ call_id: "call_1", session_id: "ses_other" })
      expect(await scene.store.list({})).toHaveLength(2)
    })

    test("passes that no tool call began are never taken for one another", async () => {
      await using scene = await createScene(setup)
      await scene.opened({ call_id: null })
      await scene.opened({ call_id: null })
      expect(await scene.store.list({})).toHaveLength(2)
    })

    test("an id that is taken is refused, and the pass that has it stays as it is", async () => {
      await using scene = await createScene(setup)
      const first = await scene.opened()
      const before = await scene.traces(first)
      const second = scene.opening(scene.pass({ id: first.id, call_id: "call_2", reason: "Another" }))
      await expect(scene.store.open(second)).rejects.toThrow()
      expect(await scene.traces(first)).toEqual(before)
    })

    test("a pass from an agent to itself leaves nothing behind", async () => {
      await using scene = await createScene(setup)
      const pass = scene.pass({ subagent_id: "alice" })
      const before = await scene.traces(pass)
      await expect(scene.store.open(scene.opening(pass))).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
    })

    test.each([
      { chain_depth: 3, max_chain_depth: 3 },
      { chain_depth: 0, max_chain_depth: 3 },
    ])(
      "a chain of $chain_depth passes where $max_chain_depth agents may take part leaves nothing behind",
      async (depth) => {
        await using scene = await createScene(setup)
        const pass = scene.pass(depth)
        const before = await scene.traces(pass)
        await expect(scene.store.open(scene.opening(pass))).rejects.toThrow()
        expect(await scene.traces(pass)).toEqual(before)
      },
    )

    test("when the audit line cannot be written there is no pass, and no event", async () => {
      await using scene = await createScene(setup)
      const input = scene.opening()
      const before = await scene.traces(input.pass)
      await expect(scene.store.open({ ...input, note: { ...input.note, actor: "" } })).rejects.toThrow()
      expect(await scene.traces(input.pass)).toEqual(before)
      expect(await scene.store.byCall("ses_alice", input.pass.call_id ?? "")).toBeUndefined()
      expect(await scene.store.open(input)).toMatchObject({ created: true })
    })

    test("when the event cannot be written there is no pass, and no audit line", async () => {
      await using scene = await createScene(setup)
      const input = scene.opening()
      const before = await scene.traces(input.pass)
      const event = { ...input.event, directory: null as never }
      await expect(scene.store.open({ ...input, event })).rejects.toThrow()
      expect(await scene.traces(input.pass)).toEqual(before)
    })
  })
}
