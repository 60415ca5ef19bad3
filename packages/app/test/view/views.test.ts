import { describe, expect, test } from "bun:test"
import type { Gate } from "../../../opencode/src/pass-over/domain/gate"
import { OutputStatus, ReviewDecision } from "../../../opencode/src/pass-over/domain/output"
import { PassEvent } from "../../../opencode/src/pass-over/domain/pass"
import { AuditAction } from "../../../opencode/src/pass-over/domain/audit-log"
import { ReturnStatus } from "../../../opencode/src/pass-over/domain/return-context"
import type { PassSummary } from "../../../opencode/src/server/schema"
import { actionBadge, outcomeBadge, passBadge } from "../../src/components/badge-view"
import { deed, facts, moved, needsNote, otherwise, settled, withKept } from "../../src/components/pass-over-inbox-view"
import {
  diffLines,
  messageOf,
  placeOf,
  sorted,
  tabOf,
  timeline,
  untold,
  whyChanged,
} from "../../src/components/pass-over-pass-view"
import {
  badged,
  chainOf,
  deadline,
  idle,
  inLine,
  nodeIn,
  progress,
  spending,
  trees,
  treeSpending,
  waitsFor,
} from "../../src/components/pass-over-status-view"
import { bytes, countdown, duration, moment, money, shortPath, tokens } from "../../src/lib/format"
import { stale } from "../../src/lib/live-view"
import { readPlace, ticketIn, writePlace, type Page } from "../../src/lib/route-view"
import { WORDS } from "../../src/lib/words"

const NOW = Date.UTC(2026, 0, 1, 12)

const pass = (
  more: Omit<Partial<PassSummary>, "id" | "parent_pass_id"> & { id?: string; parent_pass_id?: string | null } = {},
) =>
  ({
    id: "a",
    parent_pass_id: null,
    originating_agent_id: "alice",
    subagent_id: "audit",
    ancestors: ["alice"],
    status: "waiting_for_return",
    wait: true,
    timeout_ms: 600_000,
    time_created: NOW,
    max_tokens: 0,
    max_cost: 0,
    result: null,
    live: null,
    ...more,
  }) as PassSummary

const live = (more: Partial<NonNullable<PassSummary["live"]>> = {}) =>
  ({
    pass_over_id: "a",
    phase: "working",
    step: 2,
    attempt: 1,
    tokens: 1_000,
    cost: 0.02,
    waits: 0,
    deadline_at: NOW + 60_000,
    idle_at: NOW + 120_000,
    time_updated: NOW,
    ...more,
  }) as NonNullable<PassSummary["live"]>

describe("running passes", () => {
  test("hang below the one that asked for them, in the order they began", () => {
    const roots = trees([
      pass({ id: "c", parent_pass_id: "b", time_created: NOW + 2 }),
      pass({ id: "d", time_created: NOW + 3 }),
      pass({ id: "b", parent_pass_id: "a", time_created: NOW + 1 }),
      pass({ id: "a" }),
    ])
    expect(roots.map((node) => node.id)).toEqual(["a", "d"])
    expect(roots[0]?.children[0]?.children[0]?.id).toBe("c")
  })

  test("whose originator has ended stand at the top, and one that names itself hangs nowhere", () => {
    expect(trees([pass({ id: "b", parent_pass_id: "gone" })]).map((node) => node.id)).toEqual(["b"])
    expect(trees([pass({ id: "a", parent_pass_id: "a" })])).toEqual([])
  })

  test("ask for a person only where the question is", () => {
    const [root] = trees([
      pass({ id: "a", live: live({ waits: 1 }) }),
      pass({ id: "b", parent_pass_id: "a", subagent_id: "inspector", live: live({ waits: 1 }) }),
    ])
    if (!root?.children[0]) throw new Error("no tree")
    expect([root.you, root.children[0].you]).toEqual([false, true])
    expect(waitsFor(root)).toBe("waits for inspector")
    expect(waitsFor(root.children[0])).toBe("Waiting for you")
    expect(passBadge(badged(root)).word).toBe("working")
    expect(passBadge(badged(root.children[0])).word).toBe("Waiting for you")
  })

  test("are found among those of their chain that are not over, and ask there only where the question is", () => {
    const chain = [
      pass({ id: "a", live: live({ waits: 1 }) }),
      pass({ id: "b", parent_pass_id: "a", live: live({ waits: 1 }) }),
      pass({ id: "c", parent_pass_id: "b", status: "returned", subagent_id: "gone" }),
    ]
    const found = ["a", "b"].map((id) => nodeIn(chain, id))
    expect(found.map((node) => node && passBadge(badged(node)).word)).toEqual(["working", "Waiting for you"])
    expect(found[0] && waitsFor(found[0])).toBe("waits for audit")
    expect(nodeIn(chain, "c")).toBeUndefined()
  })

  test("count down to their deadline, and to nothing while a person is asked", () => {
    expect(deadline(pass({ live: live() }), NOW)).toEqual({ text: "1:00 left", used: 0.9, short: true })
    expect(deadline(pass({ live: live({ deadline_at: null }) }), NOW)).toMatchObject({ used: undefined })
    expect(deadline(pass(), NOW + 300_000)).toEqual({ text: "5:00 left", used: 0.5, short: false })
    expect(deadline(pass(), NOW + 900_000).text).toBe("0:00 left")
    expect(idle(pass({ live: live() }), NOW)).toBeUndefined()
    expect(idle(pass({ live: live() }), NOW + 90_000)).toBe("given up in 0:30 if nothing moves")
    expect(idle(pass(), NOW)).toBeUndefined()
  })

  test("show what they use, and against what where there is a limit", () => {
    expect(spending(pass({ live: live() }))).toEqual({ text: "1,000 tokens · $0.02", used: undefined, short: false })
    expect(spending(pass({ live: live(), max_tokens: 1_100, max_cost: 1 }))).toEqual({
      text: "1,000 / 1,100 tokens · $0.02 / $1.00",
      used: 1_000 / 1_100,
      short: true,
    })
    expect(progress(pass({ live: live({ attempt: 2 }) }))).toEqual(["step 2", "attempt 2"])
    expect(progress(pass())).toEqual([])
    expect(chainOf(pass({ ancestors: ["alice", "scout"] }))).toEqual(["alice", "scout", "audit"])
    // Three agents make two passes.
    expect(WORDS.now.depth(2, 3)).toBe("pass 2 of at most 2 in its chain")
  })
})

describe("a pass in line", () => {
  test("says its place and why it waits; what runs says nothing", () => {
    expect(inLine(pass({ queue: null }))).toBeUndefined()
    expect(inLine(pass({ queue: { place: 2, what: "subagent", limit: 16 } }))).toBe(
      "place 2 in line: 16 of audit run already",
    )
    for (const what of ["running", "model", "provider", "line"] as const)
      expect(inLine(pass({ queue: { place: 1, what, limit: 4 } }))).toMatch(/^place 1 in line: ./)
  })

  test("belongs to a tree that says what it has used of what it may", () => {
    expect(treeSpending(pass({ tree: null }))).toBeUndefined()
    const tree = { passes: 3, tokens: 90_000, cost: 0.2, limits: { passes: 100, tokens: 100_000 } }
    expect(treeSpending(pass({ tree }))).toEqual({
      text: "whole tree: 3 / 100 passes · 90.0k / 100.0k tokens",
      used: 0.9,
      short: true,
    })
  })
})

describe("a badge", () => {
  const result = (more: object) =>
    ({ ...pass({ status: "returned" }), result: { status: "completed", decision: null, ...more } }) as PassSummary

  test("says in sign and word what it says in colour, for everything that can come", () => {
    const badges = [
      ...ReviewDecision.options.map((decision) => passBadge(result({ decision }))),
      ...OutputStatus.options.map((status) => passBadge(result({ status }))),
      ...OutputStatus.options.map(outcomeBadge),
      ...ReturnStatus.options.map((status) => passBadge(pass({ status }))),
      ...AuditAction.options.map(actionBadge),
    ]
    for (const badge of badges) {
      expect(badge.sign.length).toBeGreaterThan(0)
      expect(badge.word.length).toBeGreaterThan(0)
    }
  })

  test("prefers what was decided over how it ended, and how it ended over what it was", () => {
    expect(passBadge(result({ decision: "rejected" })).word).toBe("rejected")
    expect(passBadge(result({ status: "partial", decision: "approved" })).word).toBe("partial")
    expect(passBadge({ ...result({ status: "partial" }), status: "timed_out" }).word).toBe("timed out")
  })
})

describe("words", () => {
  test("are there for every event and action that can happen", () => {
    for (const type of PassEvent.shape.type.options)
      expect({ type, word: WORDS.event[type] }).toMatchObject({ word: expect.any(String) })
    for (const action of AuditAction.options)
      expect({ action, word: WORDS.action[action] }).toMatchObject({ word: expect.any(String) })
  })
})

describe("the inbox", () => {
  const press = (key: string, more: object = {}) =>
    deed({ key, ctrlKey: false, metaKey: false, altKey: false, repeat: false, typing: false, ...more })

  test("is worked by keys, but not by those that mean something else", () => {
    expect(["j", "J", "ArrowDown", "k", "ArrowUp", "a", "A", "r", "q", "x", "Enter"].map((key) => press(key))).toEqual([
      "next",
      "next",
      "next",
      "previous",
      "previous",
      "approve",
      "approve",
      "reject",
      "question",
      undefined,
      undefined,
    ])
    for (const more of [{ typing: true }, { ctrlKey: true }, { metaKey: true }, { altKey: true }, { repeat: true }])
      expect(press("a", more)).toBeUndefined()
  })

  test("goes from the question in hand to its neighbours, and from one that has gone to those around its place", () => {
    const ids = ["a", "b", "c"]
    const to = (id: string, at: number, by: 1 | -1) => moved(ids, { id, at }, by)?.id
    expect([to("a", 0, 1), to("c", 2, 1), to("a", 0, -1), to("c", 2, -1)]).toEqual(["b", "c", "a", "b"])
    // Its place is told by the list, not by where it was once.
    expect(to("c", 0, -1)).toBe("b")
    expect([to("gone", 1, 1), to("gone", 1, -1), to("gone", 3, 1), to("gone", 0, -1)]).toEqual(["b", "a", "c", "a"])
    expect([moved(ids, undefined, 1)?.id, moved(ids, undefined, -1)?.id, moved([], undefined, 1)]).toEqual([
      "a",
      "a",
      undefined,
    ])
  })

  test("keeps the place of the hand when those ahead of it go, and when it goes itself", () => {
    const at = (id: string, now: string[]) => settled({ id, at: 9 }, ["a", "b", "c", "d"], now).at
    expect([at("c", ["a", "b", "c"]), at("c", ["c", "d"]), at("c", ["b", "d"]), at("c", ["d"])]).toEqual([2, 0, 1, 0])
    expect(settled({ id: "gone", at: 2 }, ["a", "b", "c"], ["b", "c"])).toEqual({ id: "gone", at: 1 })
  })

  test("stays in its place while somebody writes to it, also when it does not wait any more", () => {
    const gate = (gate_id: string) => ({ gate_id }) as Gate
    const items = (ids: string[]) => withKept([], ids.map(gate), () => false)
    const now = withKept(items(["a", "b", "c"]), [gate("c"), gate("d")], (id) => id === "b")
    expect(now.map(({ gate_id, gone }) => [gate_id, gone])).toEqual([
      ["b", true],
      ["c", false],
      ["d", false],
    ])
    expect(withKept(now, [gate("d")], () => false)).toEqual(items(["d"]))
  })

  test("says what happens by itself, and asks for words where they are needed", () => {
    expect(otherwise({ default_action: "reject", time_expires: NOW + 120_000 }, NOW)).toBe(
      "rejected by itself in 2 min",
    )
    expect([needsNote("question", " "), needsNote("question", "why?"), needsNote("approve", "")]).toEqual([
      true,
      false,
      false,
    ])
    expect(facts({ question: "May it?", detail: { timeout_ms: 60_000, nothing: null, files: ["a"] } })).toEqual([
      { name: "timeout", value: "1 min" },
      { name: "files", value: '[\n "a"\n]' },
    ])
  })

  test("tells of a flow's question what was left, what to look at and what each answer does", () => {
    const options = { approve: "Continue", reject: "make is done again", question: "general is asked" }
    const context = { summary: "Made src/total.ts.", artifacts: [{ path: "src/total.ts" }, { path: "test/total.ts" }] }
    const handoff = { context, validation_request: { items: ["Is the total right?", "release"], options } }
    const detail = { why: "gate", options, package: { handoff }, strange: 1 }
    expect(facts({ question: "gated, check: release", detail })).toEqual([
      { name: "What there is", value: "Made src/total.ts." },
      { name: "Files", value: "src/total.ts\ntest/total.ts" },
      { name: "To look at", value: "Is the total right?" },
      { name: "approve", value: "Continue" },
      { name: "reject", value: "make is done again" },
      { name: "question", value: "general is asked" },
      { name: "strange", value: "1" },
    ])
    for (const other of [{ package: 1 }, { package: { handoff: { context: null } }, options: [] }])
      expect(facts({ question: "x", detail: other })).toEqual([])
  })
})

describe("a pass", () => {
  const event = (type: string, data: object = {}, at = NOW) =>
    ({ type, data, at, seq: 1, pass_over_id: "a", session_id: "s", directory: "/" }) as never

  test("opens where it has most to say", () => {
    expect([tabOf(undefined, true), tabOf(undefined, false), tabOf("context", false), tabOf("x", true)]).toEqual([
      "outcome",
      "work",
      "context",
      "outcome",
    ])
  })

  test("shows the worst finding first", () => {
    const finding = (severity: "info" | "error", message: string) =>
      ({ type: "finding", severity, category: "c", message }) as const
    expect(sorted([finding("info", "a"), finding("error", "b")]).findings.map((one) => one.message)).toEqual(["b", "a"])
    expect(placeOf({ path: "a.ts", line: 3, column: 4 })).toBe("a.ts:3:4")
    expect(placeOf({ path: "a.ts", column: 4 })).toBe("a.ts")
    expect(placeOf(undefined)).toBe("")
  })

  test("tells what was said, to whom, and how sure a proposal is", () => {
    const said = (content: string, more: object = {}) =>
      ({ type: "message", role: "assistant", content, visibility: "user_visible", ...more }) as const
    const { messages } = sorted([said("hello"), said("{}", { role: "internal", visibility: "originator_only" })])
    expect(messages.map(messageOf)).toEqual([{ text: "hello", left: 0, to: "" }])
    expect(messageOf(said("psst", { visibility: "originator_only" })).to).toBe("It noted for the agent that asked")
    expect(messageOf(said("x".repeat(20_005)))).toMatchObject({ left: 5 })
    const change = { type: "file_modification", path: "a", old_content: "", new_content: "b", reason: "why" } as const
    expect(whyChanged({ ...change, confidence: "low" })).toBe("why · not sure about it")
    expect(whyChanged({ ...change, confidence: "high" })).toBe("why")
  })

  test("tells its story with who did what", () => {
    const line = { action: "returned", actor: "audit" } as never
    const own = { action: "dispatched", actor: "own_1" } as never
    expect(timeline([event("pass.dispatched"), event("pass.returned"), event("of.tomorrow")], [line, own])).toEqual([
      { at: NOW, what: "Started", detail: "", by: "" },
      { at: NOW, what: "Returned", detail: "", by: "audit" },
      { at: NOW, what: "of.tomorrow", detail: "", by: "" },
    ])
  })

  test("tells its story in the order of time, and how much of it is left out", () => {
    const at = (type: string, at: number) => event(type, {}, at)
    const told = timeline([at("pass.requested", NOW), at("pass.returned", NOW + 9), at("pass.attempt", NOW + 5)], [])
    expect(told.map(({ what }) => what)).toEqual(["Asked for", "Attempt", "Returned"])
    const tools = Array.from({ length: 31 }, () => event("pass.artifact"))
    expect(timeline(tools, [])).toEqual([])
    expect(untold({ events: tools, events_left: 4 })).toBe(35)
    expect(untold({ events: tools.slice(1), events_left: 0 })).toBe(0)
  })

  test("shows what a change takes and gives, with a little around it", () => {
    expect(diffLines("a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nX\nf").map(({ sign, text }) => sign + text)).toEqual([
      " b",
      " c",
      " d",
      "-e",
      "+X",
      " f",
    ])
    expect(diffLines("", "a").map(({ sign, text }) => sign + text)).toEqual(["+a"])
    expect(diffLines("a\na", "a").map(({ sign, text }) => sign + text)).toEqual(["-a", " a"])
    expect(diffLines("x".repeat(9) + "\n".repeat(9_999), "")).toHaveLength(9_999)
    expect(diffLines("a", "a\n").map(({ sign, bare }) => [sign, bare])).toEqual([
      ["-", true],
      ["+", false],
    ])
  })
})

describe("an address", () => {
  test("leads there and back, whatever is in it", () => {
    const places = [
      { page: "pass" as Page, id: "019a0000-0000-7000-8000-000000000001", tab: "a/b c", query: {} },
      { page: "run" as Page, id: `run_${"0a".repeat(16)}`, query: {} },
      { page: "audit" as Page, query: { text: "a&b=c", agent: "ä" } },
      { page: "now" as Page, query: {} },
    ]
    for (const place of places) expect(readPlace(writePlace(place))).toEqual(place)
  })

  test("that cannot be read leads to the first page", () => {
    for (const hash of ["", "#", "#/nowhere", "#/pass", "#/%zz", "#/constructor"])
      expect(readPlace(hash).page).toBe("now")
    // The server has pages of these names.
    for (const hash of ["#/pass/audit", "#/pass/health", "#/pass/%00", "#/run/x"])
      expect(readPlace(hash).page).toBe("now")
  })

  test("may hold a ticket, and nothing else is one", () => {
    expect(ticketIn(`#ticket=${"a".repeat(43)}`)).toBe("a".repeat(43))
    for (const hash of ["#ticket=", "#ticket=a b", `#/now?ticket=${"a".repeat(43)}`])
      expect(ticketIn(hash)).toBeUndefined()
  })
})

describe("numbers", () => {
  test("are written for people", () => {
    expect([money(0), money(0.001), money(0.02), money(1.5)]).toEqual(["$0", "<$0.01", "$0.02", "$1.50"])
    expect([tokens(12), tokens(48_200), tokens(1_300_000)]).toEqual(["12", "48.2k", "1.3M"])
    expect([duration(-5), duration(41_000), duration(120_000), duration(125_000), duration(3_780_000)]).toEqual([
      "0 ms",
      "41 s",
      "2 min",
      "2 min 05 s",
      "1 h 03 min",
    ])
    expect([countdown(-1), countdown(249_000), countdown(3_723_000)]).toEqual(["0:00", "4:09", "1:02:03"])
    expect([shortPath("/home/ada/work/shop"), shortPath("/"), shortPath("C:\\a\\b\\c")]).toEqual([
      "work/shop",
      "/",
      "b/c",
    ])
    expect([bytes(9), bytes(1_500), bytes(2_500_000)]).toEqual(["9 B", "1.5 kB", "2.5 MB"])
    expect(moment(NOW - 1_000 * 60 * 60 * 24 * 40, NOW)).toContain("Nov 2025")
    const july = Date.UTC(2026, 6, 1, 12)
    expect(moment(july - 1_000 * 60 * 60 * 24 * 40, july)).toMatch(/^22 May, /)
    expect([money(12_345.678), tokens(999_949), tokens(999_960)]).toEqual(["$12,345.68", "999.9k", "1.0M"])
    expect([duration(86_400_000), duration(1_727_700_000), duration(86_399_000)]).toEqual([
      "1 d",
      "19 d 23 h",
      "23 h 59 min",
    ])
  })
})

describe("what an event makes old", () => {
  test("is what it is about, and no more", () => {
    const data = JSON.stringify({ pass_over_id: "019a-b" })
    expect(stale("pass.artifact", data)).toEqual(["pass 019a-b", "transcript 019a-b"])
    expect(stale("pass.said", data)).toEqual(["transcript 019a-b"])
    expect(stale("pass.returned", data)).toContain("passes")
    expect(stale("gate.asked", data)).toContain("inbox")
    expect([stale("live", "[]"), stale("ready", "{}"), stale("passed", "{}")]).toEqual([[], [], []])
  })
})
