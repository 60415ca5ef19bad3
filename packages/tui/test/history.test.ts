import { describe, expect, test } from "bun:test"
import { PassOverErrorCode } from "../../opencode/src/pass-over/domain/errors"
import { event, note, type Pass } from "../../opencode/src/pass-over/domain/pass"
import { openStore } from "../../opencode/test/pass-over/support/database"
import { createScene, type Scene } from "../../opencode/test/pass-over/store/conformance/scene"
import { createHistory } from "../src/history-source"
import { ERRORS } from "../../opencode/src/pass-over/domain/errors"
import { day, ending, entryOption, holds, passDetail, refusalDetail, searchable, type Ended } from "../src/history-view"

const scene = () =>
  createScene(async () => {
    const database = openStore(":memory:")
    return {
      store: database.store,
      events: async () => [],
      forgetLines: async () => {},
      dispose: async () => database[Symbol.dispose](),
    }
  })

const SENTENCE =
  "E004 DISABLED_PAIR: alice may not pass work to audit; enabled is false in a file. → Do it yourself → or not."

async function refuse({ store, pass }: Scene, at: number) {
  const refused = pass({ policy: "refused", time_started: null })
  await store.refuse(
    note(refused, {
      action: "refused",
      actor: "alice",
      at,
      error_code: PassOverErrorCode.DISABLED_PAIR,
      summary: SENTENCE,
    }),
    event(refused, "pass.refused", at, {}),
  )
}

describe("what has ended", () => {
  test("comes page by page, the latest first, every pass and every refusal once", async () => {
    await using box = await scene()
    const made: Pass[] = []
    for (let index = 0; index < 230; index += 1) {
      box.clock.advance(1_000)
      if (index % 10 === 0) await refuse(box, box.clock.now())
      box.clock.advance(1_000)
      made.push(await box.returned({ objective: `number ${index}`, time_created: box.clock.now() }))
    }
    await box.running({ objective: "not yet" })
    const history = createHistory(box, "/project")
    const seen: Ended[] = []
    for (let page = await history.page(); ; page = await history.page(page.next)) {
      seen.push(...page.entries)
      if (!page.next) break
    }
    expect(seen.filter((entry) => entry.kind === "pass").map((entry) => entry.id)).toEqual(
      made.map((pass) => pass.id as string).toReversed(),
    )
    expect(seen.filter((entry) => entry.kind === "refusal")).toHaveLength(23)
    expect(seen.map((entry) => entry.at)).toEqual(seen.map((entry) => entry.at).toSorted((a, b) => b - a))
    expect((await createHistory(box, "/elsewhere").page()).entries).toEqual([])
  })

  test("is told whole: asked for, what came of it, what it cost, what happened", async () => {
    await using box = await scene()
    const pass = await box.running({ objective: "Review the sums", reason: "before the release" })
    const output = box.output(pass, {
      artifacts: [
        { type: "finding", severity: "info", category: "x", message: "fine" },
        {
          type: "finding",
          severity: "error",
          category: "x",
          message: "it \u001b[31msubtracts",
          location: { path: "src/total.ts", line: 3 },
          suggested_fix: "add",
        },
        { type: "message", role: "assistant", content: "I looked\nat both", visibility: "originator_only" },
        { type: "message", role: "internal", content: "{}", visibility: "originator_only" },
      ],
    })
    const ended = await box.store.settle(
      box.settled(pass, {
        output: {
          ...output,
          summary: { ...output.summary, decision: "needs_modification", decision_reason: "wrong way" },
        },
      }),
    )
    if (ended === "stale") throw new Error("stale")
    const told = await createHistory(box, "/project").told(ended)
    const detail = passDetail(told, box.clock.now())
    const text = detail.sections.map(({ title, lines }) => [title, lines.map((line) => line.text)])
    expect(text).toEqual([
      ["Asked for", expect.arrayContaining(["Review the sums", "Reason: before the release"])],
      ["Outcome", ["wrong way"]],
      ["2 findings", ["error src/total.ts:3", "it subtracts", "Suggested fix: add", "info", "fine"]],
      ["What it said", ["I looked\nat both", "It noted for the agent that asked"]],
      ["Cost", [expect.stringMatching(/ · [\d,]+ tokens · \$/)]],
      ["What happened", [/requested by alice/, /started/, /returned/].map((what) => expect.stringMatching(what))],
    ])
    expect(detail.head).toStartWith("audit: needs_modification")
    const [wrong] = passDetail({ ...told, error_code: "E010" }, box.clock.now()).sections
    expect(wrong).toMatchObject({ title: "What went wrong", lines: [{ text: ERRORS.E010.user }, { tone: "muted" }] })
    expect([detail.child, detail.origin]).toEqual([ended.child_session_id, "ses_alice"])
  })
})

const NOW = new Date(2026, 10, 18, 12, 0).getTime()

const ended = (pass: object, result: object | null = { status: "completed", decision: "approved" }): Ended => ({
  kind: "pass",
  id: "1",
  at: NOW,
  pass: {
    originating_agent_id: "alice",
    subagent_id: "audit",
    objective: "Review\nthe sums of the whole report",
    reason: "before the release",
    policy: "alice->audit",
    status: "returned",
    ...pass,
  } as never,
  result: result as never,
})

const refusal: Ended = {
  kind: "refusal",
  id: "2",
  at: NOW,
  line: {
    originating_agent: "alice",
    subagent: "audit",
    reason: "before the release",
    summary: SENTENCE,
    error_code: "E004",
    session_id: "ses_1",
    timestamp: NOW,
  } as never,
}

describe("an ended pass in a list", () => {
  test("says how it ended", () => {
    const all = [
      ended({}),
      ended({}, { status: "completed", decision: "needs_modification" }),
      ended({}, { status: "completed", decision: null }),
      ended({}, { status: "failed", error_code: "E011" }),
      ended({ status: "timed_out" }, { status: "partial", error_code: "E010" }),
      ended({ status: "cancelled" }, null),
      refusal,
    ]
    expect(all.map(ending)).toEqual([
      "approved",
      "needs modification",
      "completed",
      "failed E011",
      "timed out",
      "cancelled",
      "refused E004",
    ])
  })

  test("is one row, with its time where there is room for it", () => {
    expect(entryOption(ended({}), NOW, 120)).toEqual({
      title: "alice → audit",
      value: "1",
      description: "Review the sums of the whole report",
      footer: "approved · 12:00",
      category: "Today",
    })
    const narrow = entryOption(ended({}), NOW, 60)
    expect([narrow.footer, narrow.description]).toEqual(["approved", "Review the sums of the wh…"])
    expect(entryOption(refusal, NOW, 120).description).toStartWith("alice may not pass work to audit; enabled")
  })

  test("is found by words in any order: who, what, how, why, when", () => {
    const { words } = searchable(ended({}), NOW)
    for (const query of ["", "  ", "AUDIT sums", "approved today", "12:00", "alice->audit", "release nov 2026"]) {
      expect([query, holds(words, query)]).toEqual([query, true])
    }
    expect([holds(words, "sums scout"), holds(words, "rejected")]).toEqual([false, false])
    expect(holds(searchable(refusal, NOW).words, "refused e004 enabled")).toBe(true)
  })

  test("stands below its day", () => {
    const hour = 60 * 60 * 1_000
    expect([day(NOW - hour, NOW), day(NOW - 13 * hour, NOW), day(NOW - 70 * hour, NOW)]).toEqual([
      "Today",
      "Yesterday",
      "15 Nov 2026",
    ])
  })
})

test("a refusal says why, and what can be done", () => {
  if (refusal.kind !== "refusal") throw new Error("no refusal")
  const detail = refusalDetail(refusal.line)
  expect(detail.sections.map(({ title, lines }) => [title, lines[0]?.text])).toEqual([
    ["Why", "E004 DISABLED_PAIR: alice may not pass work to audit; enabled is false in a file."],
    ["What the agent was told to do", "Do it yourself → or not."],
    ["Asked for", "Reason: before the release"],
    ["", expect.stringContaining("before it existed")],
  ])
  expect([detail.child, detail.origin]).toEqual([null, "ses_1"])
})
