import { describe, expect, test } from "bun:test"
import type { WorkOutput, WorkSummary } from "../../../../src/pass-over/domain/output"
import { event, note, type Pass } from "../../../../src/pass-over/domain/pass"
import { ReturnToContext } from "../../../../src/pass-over/domain/return-context"
import { NO_USAGE, type Usage } from "../../../../src/pass-over/domain/run"
import type { Settled } from "../../../../src/pass-over/service/port"
import type { PassQuery } from "../../../../src/pass-over/service/port-query"
import { createScene, gateOf, liveOf, moved, type Scene, type Setup } from "./scene"

const MINUTE = 60_000

type Ended = { summary?: Partial<WorkSummary>; output?: Partial<WorkOutput>; usage?: Partial<Usage> } & Pick<
  Partial<Settled>,
  "error_code" | "delivery"
>

/** A pass that has ended in a way that a test names. */
const ended = async (scene: Scene, overrides: Partial<Pass>, { summary, output, usage, ...more }: Ended = {}) => {
  const pass = await scene.running(overrides)
  const made = scene.output(pass, { artifacts: [], ...output })
  const input = scene.settled(pass, {
    output: { ...made, summary: { ...made.summary, ...summary } },
    usage: { ...NO_USAGE, ...usage },
    ...more,
  })
  return { pass: moved(await scene.store.settle(input)), output: input.output }
}

/** Four passes, a minute apart: two of them in another project, one of those at work. */
async function history(scene: Scene) {
  const next = () => scene.clock.advance(MINUTE)
  const a = await ended(
    scene,
    { session_id: "ses_a", objective: "Look at the Pears", background: "They are 100% ripe", reason: "because" },
    {
      summary: {
        decision: "approved",
        decision_reason: "sweet",
        verdict: { status: "VERIFIED", checked: 1, unresolved: [] },
      },
      usage: { input: 100, output: 20, reasoning: 3, cache_read: 1_000, cache_write: 1_000, cost: 0.25 },
    },
  )
  next()
  const b = await ended(
    scene,
    { session_id: "ses_b", originating_agent_id: "audit", subagent_id: "scout", trace_id: a.pass.id },
    {
      summary: { decision: "rejected", decision_reason: undefined, findings: ["Rotten core"], issues_found: 4 },
      output: { status: "failed", completion_reason: "the basket fell" },
      error_code: "E011",
      usage: { input: 7, cost: 0.5 },
    },
  )
  next()
  const c = await ended(
    scene,
    { directory: "/other", objective: "Look at the apples_pears" },
    { summary: { decision: undefined, decision_reason: undefined, recommendations: ["Eat it soon"] } },
  )
  next()
  const d = await scene.running({ directory: "/other", subagent_id: "scout", objective: "Look at the figs" })
  return { a: a.pass, b: b.pass, c: c.pass, d }
}

/** Which of the four each question finds, the newest first. */
const CASES: [string, (of: Awaited<ReturnType<typeof history>>) => Partial<PassQuery>, string][] = [
  ["everything", () => ({}), "dcba"],
  ["a session", () => ({ session_id: "ses_a" }), "a"],
  ["a project", () => ({ directory: "/other" }), "dc"],
  ["an agent on either side", () => ({ agent: "audit" }), "cba"],
  ["an originator", () => ({ originating_agent: "audit" }), "b"],
  ["a subagent", () => ({ subagent: "scout" }), "db"],
  ["a tree", ({ a }) => ({ trace_id: a.id }), "ba"],
  ["a status", () => ({ status: ["waiting_for_return"] }), "d"],
  ["several statuses", () => ({ status: ["waiting_for_return", "returned"] }), "dcba"],
  ["no status in particular", () => ({ status: [] }), "dcba"],
  ["an outcome", () => ({ outcome: ["failed", "aborted"] }), "b"],
  ["a decision", () => ({ decision: ["approved", "blocked"] }), "a"],
  ["a verdict", () => ({ verdict: ["VERIFIED"] }), "a"],
  ["a beginning", ({ c }) => ({ start_time: c.time_created }), "dc"],
  ["an end", ({ b }) => ({ end_time: b.time_created }), "ba"],
  ["a stretch", ({ b, c }) => ({ start_time: b.time_created, end_time: c.time_created }), "cb"],
  ["what comes after one", ({ c }) => ({ after: c.id }), "ba"],
  ["as many as are wanted", () => ({ limit: 3 }), "dcb"],
  ["a page in the middle", ({ d }) => ({ after: d.id, limit: 2 }), "cb"],
  ["two things at once", () => ({ directory: "/other", subagent: "scout" }), "d"],
  ["nothing", () => ({ session_id: "ses_a", directory: "/other" }), ""],
  ["a word of its objective, however it is written", () => ({ text: "pEARS" }), "ca"],
  ["all words, wherever they stand", () => ({ text: " ripe  pears because " }), "a"],
  ["words of which one is missing", () => ({ text: "pears figs" }), ""],
  ["a word of what was decided", () => ({ text: "sweet" }), "a"],
  ["a word of a finding", () => ({ text: "rotten" }), "b"],
  ["a word of a recommendation", () => ({ text: "soon" }), "c"],
  ["a word of why it ended", () => ({ text: "basket" }), "b"],
  ["its id", ({ b }) => ({ text: b.id }), "b"],
  ["a sign that is a pattern elsewhere", () => ({ text: "100%" }), "a"],
  ["another one", () => ({ text: "apples_" }), "c"],
  ["a pattern, which is only text", () => ({ text: "l%k" }), ""],
  ["no words", () => ({ text: "  " }), "dcba"],
]

function passesContract(setup: Setup) {
  describe("passes are found, the newest first, by", () => {
    test.each(CASES)("%s", async (_what, query, expected) => {
      await using scene = await createScene(setup)
      const of = await history(scene)
      const rows = await scene.store.passes({ limit: 10, ...query(of) })
      const named = Object.entries(of)
      expect(rows.map(({ pass }) => named.find(([, { id }]) => id === pass.id)?.[0]).join("")).toBe(expected)
    })
  })

  describe("a pass in a list", () => {
    test("stands with how it ended, and with nothing as long as it has not", async () => {
      await using scene = await createScene(setup)
      const { a, b, c, d } = await history(scene)
      const rows = await scene.store.passes({ limit: 10 })
      expect(rows.map(({ pass }) => pass)).toEqual([d, c, b, a])
      const plain = {
        decision: null,
        verdict: null,
        decision_reason: null,
        completion_reason: null,
        files_modified: 1,
        tokens: 0,
        cost: 0,
        error_code: null,
      }
      expect(rows.map(({ result }) => result)).toEqual([
        null,
        { ...plain, status: "completed", issues_found: 1 },
        {
          ...plain,
          status: "failed",
          decision: "rejected",
          completion_reason: "the basket fell",
          issues_found: 4,
          tokens: 7,
          cost: 0.5,
          error_code: "E011",
        },
        {
          ...plain,
          status: "completed",
          decision: "approved",
          verdict: "VERIFIED",
          decision_reason: "sweet",
          issues_found: 1,
          // What came from a cache is not new.
          tokens: 123,
          cost: 0.25,
        },
      ])
    })
  })
}

function sumsContract(setup: Setup) {
  describe("statistics", () => {
    test("are sums over everything that was asked for, and over what it is narrowed to", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { a, b, c } = await history(scene)
      const refused = scene.pass({ directory: "/other" })
      const at = scene.clock.now()
      await store.refuse(
        note(refused, { action: "refused", actor: "alice", at, error_code: "E003" }),
        event(refused, "pass.refused", at),
      )
      const all = await store.statistics({})
      expect(all).toMatchObject({ passes: 4, running: 1, refused: 1, tokens: 130, cost: 0.75 })
      expect(all.by_status).toEqual({ completed: 2, failed: 1 })
      expect(all.by_decision).toEqual({ approved: 1, rejected: 1, none: 1 })
      expect(all.by_verdict).toEqual({ VERIFIED: 1, none: 2 })
      const other = await store.statistics({ directory: "/other" })
      expect(other).toMatchObject({
        passes: 2,
        running: 1,
        refused: 1,
        tokens: 0,
        cost: 0,
        by_status: { completed: 1 },
      })
      const early = await store.statistics({ start_time: a.time_created, end_time: b.time_created })
      expect(early).toMatchObject({ passes: 2, running: 0, refused: 0, by_status: { completed: 1, failed: 1 } })
      expect(await store.statistics({ start_time: c.time_created, directory: "/project" })).toEqual({
        passes: 0,
        running: 0,
        refused: 0,
        tokens: 0,
        cost: 0,
        by_status: {},
        by_decision: {},
        by_verdict: {},
        pairs: [],
      })
    })

    test("tell of each pair how often, how well, at what price and for how long, the busiest first", async () => {
      await using scene = await createScene(setup)
      for (const [status, ms] of [
        ["completed", 1_000],
        ["partial", 3_000],
      ] as const) {
        const pass = await scene.running({ subagent_id: "scout" })
        scene.clock.advance(ms)
        const output = scene.output(pass, { status, artifacts: [] })
        await scene.store.settle(scene.settled(pass, { output, usage: { ...NO_USAGE, cost: 0.25 } }))
      }
      await scene.running()
      expect((await scene.store.statistics({})).pairs).toEqual([
        { from: "alice", to: "scout", passes: 2, completed: 1, cost: 0.5, duration_ms: 2_000 },
        { from: "alice", to: "audit", passes: 1, completed: 0, cost: 0, duration_ms: null },
      ])
    })
  })

  describe("directories", () => {
    test("are the projects that have passes, the one with the latest first", async () => {
      await using scene = await createScene(setup)
      expect(await scene.store.directories()).toEqual([])
      const { b, d } = await history(scene)
      expect(await scene.store.directories()).toEqual([
        { directory: "/other", passes: 2, latest: d.time_created },
        { directory: "/project", passes: 2, latest: b.time_created },
      ])
      scene.clock.advance(MINUTE)
      await scene.opened()
      expect((await scene.store.directories()).map(({ directory }) => directory)).toEqual(["/project", "/other"])
    })
  })
}

function returnsContract(setup: Setup) {
  const only = async (scene: Scene) => (await scene.store.returns({ limit: 10 }))[0]!

  describe("a return context", () => {
    test("stands as its pass does, with when it has to be back as long as that runs", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const input = scene.opening(scene.pass({ ancestors: ["alice", "scout"], originating_agent_id: "scout" }))
      await store.open(input)
      const initial = {
        session_id: input.pass.session_id,
        return_id: input.return_id,
        originating_agent_id: "scout",
        subagent_id: "audit",
        pass_over_id: input.pass.id,
        auto_return_enabled: true,
        auto_apply_enabled: false,
        chain_depth: 1,
        max_chain_depth: 3,
        ancestors: ["alice", "scout"],
        status: "initial" as const,
        created_at: input.pass.time_created,
        revision: 0,
      }
      expect(await only(scene)).toEqual(initial)
      const pass = moved(await store.commit(scene.commit(input.pass, "waiting_for_return")))
      const live = liveOf(scene, pass)
      await store.live(live)
      const waiting = { ...initial, status: "waiting_for_return" as const, revision: 1 }
      expect(await only(scene)).toEqual({ ...waiting, return_deadline: live.deadline_at! })
      await store.live({ ...live, deadline_at: null })
      expect(await only(scene)).toEqual(waiting)
      expect(ReturnToContext.safeParse(await only(scene)).success).toBe(true)
    })

    test("has the result while that is on its way, as it will arrive, and no longer", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      scene.clock.advance(50)
      const input = scene.settled(pass)
      await store.settle(input)
      const context = await only(scene)
      expect(context).toMatchObject({ status: "returned", returned_at: input.at, revision: 2 })
      expect(context.pending_work_output).toEqual(input.output)
      expect(context).not.toHaveProperty("return_deadline")
      await scene.deliver({ pass_over_id: pass.id, message_id: null, at: scene.clock.now() })
      expect(await only(scene)).not.toHaveProperty("pending_work_output")
    })

    test("of a result that is held has until when a person may let it go; what is kept back never arrives", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { pass, output } = await ended(scene, {}, { delivery: { mode: "tool", status: "held" } })
      const gate = gateOf(scene, { pass_over_id: pass.id, kind: "delivery" })
      await store.ask({ gate, event: event(pass, "gate.asked", scene.clock.now()) })
      expect(await only(scene)).toMatchObject({ return_deadline: gate.time_expires, pending_work_output: output })
      await store.withdraw({ gate_id: gate.gate_id, at: scene.clock.now() })
      expect(await only(scene)).not.toHaveProperty("return_deadline")
      await store.redirect({ pass_over_id: pass.id, mode: "none" })
      expect(await only(scene)).not.toHaveProperty("pending_work_output")
    })

    test("tells what went wrong on the way, an attempt at a time, and what its outcome names", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      for (const [attempt, error_code, error_message] of [
        [2, "E013", null],
        [1, "E011", "the connection was reset"],
        [3, null, null],
      ] as const) {
        const one = scene.attempt(pass, { attempt, error_code, error_message })
        await scene.store.attempt({ attempt: one, event: event(pass, "pass.attempt", scene.clock.now()) })
      }
      const { summary } = scene.output(pass)
      const errors = [{ code: "E020", message: "a tool failed", suggested_action: "" }] as const
      const output = scene.output(pass, { summary: { ...summary, errors: [...errors] } })
      await scene.store.settle(scene.settled(pass, { output }))
      expect((await only(scene)).processing_errors).toEqual([
        "E011 the connection was reset",
        "E013",
        "E020 a tool failed",
      ])
    })

    test("is found by its session and by how it stands, the newest first, a page at a time", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const { a, b, c, d } = await history(scene)
      const ids = async (query: Omit<Parameters<typeof store.returns>[0], "limit">, limit = 10) =>
        (await store.returns({ ...query, limit })).map(({ pass_over_id }) => pass_over_id)
      expect(await ids({})).toEqual([d.id, c.id, b.id, a.id])
      expect(await ids({ session_id: "ses_b" })).toEqual([b.id])
      expect(await ids({ status: ["waiting_for_return"] })).toEqual([d.id])
      expect(await ids({ status: [] })).toHaveLength(4)
      expect(await ids({}, 2)).toEqual([d.id, c.id])
      expect(await ids({ after: c.id })).toEqual([b.id, a.id])
      expect(await ids({ after: d.id, status: ["returned"] }, 2)).toEqual([c.id, b.id])
    })
  })
}

export function queryContract(setup: Setup) {
  passesContract(setup)
  sumsContract(setup)
  returnsContract(setup)
}
