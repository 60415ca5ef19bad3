import { describe, expect, test } from "bun:test"
import type { PassID } from "../../../../src/pass-over/domain/id"
import { event } from "../../../../src/pass-over/domain/pass"
import type { PassFilter } from "../../../../src/pass-over/service/port"
import { createScene, moved, type Setup } from "./scene"

export function readContract(setup: Setup) {
  describe("reading", () => {
    test("what is not there is nothing, and no error", async () => {
      await using scene = await createScene(setup)
      const { id } = scene.pass()
      const { store } = scene
      expect(await store.find(id)).toBeUndefined()
      expect(await store.find("pass 7'; --" as PassID)).toBeUndefined()
      expect(await store.byChild("ses_child")).toBeUndefined()
      expect(await store.byCall("ses_alice", "call_1")).toBeUndefined()
      expect(await store.request(id)).toBeUndefined()
      expect(await store.staged(id)).toBeUndefined()
      expect(await store.outcome(id)).toBeUndefined()
      expect(await store.attempts(id)).toEqual([])
      expect(await store.list({})).toEqual([])
      expect(await store.audit({})).toEqual([])
      expect(await store.preferences("/project")).toEqual({})
    })

    test("a pass is found by its session and call", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened({ call_id: "call_1" })
      await scene.opened({ call_id: "call_2" })
      expect(await scene.store.byCall("ses_alice", "call_1")).toEqual(pass)
      expect(await scene.store.byCall("ses_other", "call_1")).toBeUndefined()
    })

    test("all passes of one call are found in the order of its asks, and those of no other call", async () => {
      await using scene = await createScene(setup)
      for (const call_id of ["call_1#10", "call_1", "call_1#2", "call_10", "call_10#2", "call_1:2", "call"])
        await scene.opened({ call_id })
      const found = async (call_id: string) =>
        (await scene.store.ofCall("ses_alice", call_id)).map((pass) => pass.call_id)
      expect(await found("call_1")).toEqual(["call_1", "call_1#2", "call_1#10"])
      expect(await found("call_10")).toEqual(["call_10", "call_10#2"])
      expect(await found("call_2")).toEqual([])
      expect(await scene.store.ofCall("ses_other", "call_1")).toEqual([])
    })

    test("a pass that no child was bound to is not found by any", async () => {
      await using scene = await createScene(setup)
      await scene.running()
      expect(await scene.store.byChild("")).toBeUndefined()
      expect(await scene.store.byChild("null")).toBeUndefined()
    })
  })

  describe("a transcript", () => {
    test("is what was said and done in one pass, a page at a time; what happened to the pass is told apart from it", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [pass, other] = [await scene.running(), await scene.running()]
      const said = (of: typeof pass, text: string) => event(of, "pass.said", scene.clock.now(), { kind: "said", text })
      const done = event(pass, "pass.artifact", scene.clock.now(), { tool: "read" })
      await store.announce(said(pass, "one"), said(other, "elsewhere"), done)
      await store.announce(said(pass, "two"))
      await store.announce()
      const told = async (after: number, limit: number) =>
        (await store.transcript(pass.id, { after, limit })).map(({ data }) => data.text ?? data.tool)
      expect(await told(0, 10)).toEqual(["one", "read", "two"])
      const [first] = await store.transcript(pass.id, { after: 0, limit: 1 })
      expect(first).toMatchObject({ type: "pass.said", pass_over_id: pass.id, data: { text: "one" } })
      expect(await told(first!.seq, 1)).toEqual(["read"])
      expect(await told(first!.seq, 10)).toEqual(["read", "two"])
      const happened = (await store.eventsOf(pass.id, 100)).events.map(({ type }) => type)
      expect(happened).toEqual(["pass.requested", "pass.dispatched", "pass.artifact"])
    })

    test("of a long pass leaves out the tools, keeps its beginning and its end, and says how much is missing", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const tools = Array.from({ length: 30 }, () => event(pass, "pass.artifact", scene.clock.now(), { tool: "read" }))
      await store.announce(...tools, event(pass, "pass.message", scene.clock.now(), { text: "the last word" }))
      const told = async (limit: number) => {
        const { events, left } = await store.eventsOf(pass.id, limit)
        return [...events.map(({ type }) => type), left]
      }
      expect(await told(10)).toEqual(["pass.requested", "pass.dispatched", "pass.message", 30])
      expect(await told(2)).toEqual(["pass.requested", "pass.message", 31])
      expect((await told(33)).at(-1)).toBe(0)
    })

    test("is written down all at once or not at all", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const said = event(pass, "pass.said", scene.clock.now(), { text: "one" })
      const broken = { ...said, directory: null } as never
      expect(await scene.store.announce(said, broken).catch(() => "refused")).toBe("refused")
      expect(await scene.store.transcript(pass.id, { after: 0, limit: 10 })).toEqual([])
    })
  })

  describe("list", () => {
    test("each filter narrows, and together they narrow further", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const a = await scene.opened({ session_id: "ses_a", root_session_id: "ses_root", directory: "/one" })
      const b = await scene.running({ session_id: "ses_b", root_session_id: "ses_root", directory: "/one" })
      const c = await scene.running({
        session_id: "ses_b",
        directory: "/two",
        parent_pass_id: b.id,
        continues_pass_id: a.id,
      })
      const d = moved(await store.commit(scene.commit(await scene.opened({ directory: "/two" }), "cancelled")))
      const ids = async (filter: PassFilter) => (await store.list(filter)).map(({ id }) => id)
      expect(await ids({})).toEqual([a.id, b.id, c.id, d.id])
      expect(await ids({ session_id: "ses_b" })).toEqual([b.id, c.id])
      expect(await ids({ root_session_id: "ses_root" })).toEqual([a.id, b.id])
      expect(await ids({ parent_pass_id: b.id })).toEqual([c.id])
      expect(await ids({ continues_pass_id: a.id })).toEqual([c.id])
      expect(await ids({ directory: "/two" })).toEqual([c.id, d.id])
      expect(await ids({ status: ["initial", "cancelled"] })).toEqual([a.id, d.id])
      expect(await ids({ status: [] })).toEqual([])
      expect(await ids({ session_id: "ses_b", directory: "/one" })).toEqual([b.id])
      expect(await ids({ status: ["waiting_for_return"], directory: "/two" })).toEqual([c.id])
      expect(await ids({ session_id: "ses_unknown" })).toEqual([])
      expect(await ids({ session_id: undefined, status: undefined })).toHaveLength(4)
    })

    test("passes come in the order in which they were made, as many as are asked for", async () => {
      await using scene = await createScene(setup)
      const passes = [scene.pass(), scene.pass(), scene.pass()]
      for (const pass of passes.toReversed()) await scene.store.open(scene.opening(pass))
      expect(await scene.store.list({})).toEqual(passes)
      expect(await scene.store.list({ limit: 2 })).toHaveLength(2)
    })
  })

  describe("repeated", () => {
    test("only the same pair with the same objective in the same tree of sessions counts", async () => {
      await using scene = await createScene(setup)
      const root_session_id = "ses_root"
      await scene.opened({ root_session_id })
      await scene.running({ root_session_id, session_id: "ses_nested" })
      await scene.returned({ root_session_id, reason: "For another reason" })
      await scene.opened({ root_session_id, objective: "Something else" })
      await scene.opened({ root_session_id, subagent_id: "scout" })
      await scene.opened({ root_session_id, originating_agent_id: "build" })
      await scene.opened({ root_session_id: "ses_elsewhere" })
      const { objective_hash } = scene.pass()
      const asked = { root_session_id, from: "alice", to: "audit", objective_hash }
      expect(await scene.store.repeated(asked)).toBe(3)
      expect(await scene.store.repeated({ ...asked, from: "audit", to: "alice" })).toBe(0)
    })
  })
}
