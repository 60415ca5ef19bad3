import { describe, expect, test } from "bun:test"
import {
  badge,
  choicesOf,
  clock,
  gateOption,
  optionsOf,
  passOption,
  rows,
  sameRunning,
  sectionsOf,
  titleOf,
  type Seen,
} from "../src/view"

const seen = (
  over: Omit<Partial<Seen["pass"]>, "id"> & { id: string },
  live?: Partial<NonNullable<Seen["live"]>>,
): Seen =>
  ({
    pass: {
      originating_agent_id: "alice",
      subagent_id: "audit",
      parent_pass_id: null,
      child_session_id: "ses_child",
      status: "waiting_for_return",
      objective: "Look at it",
      time_ended: null,
      ...over,
    },
    live: live && { waits: 0, phase: "working", deadline_at: null, cost: 0, ...live },
  }) as Seen

describe("the passes of a session", () => {
  test("stand below the pass that made them", () => {
    const list = rows(
      [
        seen({ id: "b", parent_pass_id: "a" as never, originating_agent_id: "scout" }),
        seen({ id: "a", subagent_id: "scout" }),
        seen({ id: "c", parent_pass_id: "gone" as never }),
      ],
      0,
    )
    expect(list.map(({ id, depth, label }) => [id, depth, label])).toEqual([
      ["a", 0, "alice → scout"],
      ["b", 1, "scout → audit"],
      ["c", 0, "alice → audit"],
    ])
  })

  test("say what they do, how long they may, what they cost, and who is waited for", () => {
    const [working, waiting, queued, unseen] = rows(
      [
        seen({ id: "1" }, { deadline_at: 65_000, cost: 0.5 }),
        seen({ id: "2" }, { waits: 1, deadline_at: 65_000 }),
        seen({ id: "3", status: "initial", child_session_id: null }),
        seen({ id: "4" }),
      ],
      0,
    )
    expect(working).toMatchObject({ state: "working · 1:05 left $0.50", waits: false })
    expect(waiting).toMatchObject({ state: "waits for you", waits: true })
    expect(queued).toMatchObject({ state: "waits to start", waits: true, child: null })
    expect(unseen?.state).toBe("running")
  })
})

test("a list of what runs is drawn anew where somebody comes, goes or waits, and not with every step", () => {
  const one = [seen({ id: "1" }, { phase: "starting", cost: 0 })]
  expect(sameRunning(one, [seen({ id: "1" }, { phase: "working", cost: 1 })])).toBe(true)
  expect(sameRunning(one, [seen({ id: "1" }, { waits: 1 })])).toBe(false)
  expect(sameRunning(one, [seen({ id: "1", child_session_id: null })])).toBe(false)
  expect(sameRunning(one, [...one, seen({ id: "2" })])).toBe(false)
  expect(sameRunning(one, [])).toBe(false)
})

test("a countdown never shows less than nothing", () => {
  expect([clock(-5), clock(900), clock(61_000), clock(3_661_000)]).toEqual(["0:00", "0:01", "1:01", "1:01:01"])
})

test("the badge counts, and is silent where nothing waits", () => {
  expect([badge(0), badge(1), badge(2)]).toEqual(["", "◆ 1 waits for you · /inbox", "◆ 2 wait for you · /inbox"])
})

test("a gate and a pass each fit one line", () => {
  const gate = {
    gate_id: "gat_1",
    question: `May\n${"x".repeat(200)}`,
    kind: "confirmation",
    default_action: "reject",
    time_expires: 60_000,
  }
  const option = gateOption(gate as never, 0)
  expect(option.title).toHaveLength(70)
  expect(option.description).toBe("may it start? · no by itself in 1:00")
  expect(passOption(seen({ id: "1" }), 0, 120)).toMatchObject({
    title: "alice → audit",
    value: "1",
    category: "Running",
    description: "Look at it",
  })
})

test("what an answer does is said in the words of the question, where it has some", () => {
  const said = (detail: Record<string, unknown>) =>
    choicesOf({ detail }).map(({ title, description }) => [title, description])
  expect(said({})).toEqual([
    ["Yes", "let it go on"],
    ["No", "stop it here"],
    ["No, because …", "with a word to the agent"],
    ["Ask back …", "send it back with a question of yours"],
  ])
  const options = { approve: "Continue", reject: "make is done again", question: "general is\u001b[31m asked" }
  expect(said({ options })).toEqual([
    ["Yes", "Continue"],
    ["Yes, and …", "the same, with what you write"],
    ["No", "make is done again"],
    ["No, because …", "the same, with what you write"],
    ["Ask back …", "general is asked"],
  ])
})

test("reading on is offered where something stands behind a question, or its title was cut", () => {
  const offered = (question: string, detail = {}) =>
    optionsOf({ question, detail }).flatMap(({ title, value }) => (title === "Read on …" ? value : []))
  const all = "x".repeat(110)
  expect(offered("May it\u001b[31m\n  start?")).toEqual([])
  expect(offered(all)).toEqual([])
  expect(titleOf({ question: `${all}x` })).toHaveLength(110)
  expect(offered(`${all}x`)).toEqual([4])
  expect(offered("May it start?", { package: { handoff: { context: { summary: "It adds." } } } })).toEqual([4])
  // Its number is the first that no answer has.
  expect(offered("May it start?", { options: { approve: "Continue" } })).toEqual([5])
})

test("what is read on begins with the whole question, then what stands behind it, each with its name", () => {
  const question = `May it\u001b[31m start?\n${"x".repeat(200)}`
  const detail = { package: { handoff: { context: { summary: "It\u202e adds." } } } }
  const read = sectionsOf({ question, detail }).map(({ title, lines }) => [title, lines.map(({ text }) => text)])
  expect(read).toEqual([
    ["", [`May it start?\n${"x".repeat(200)}`]],
    ["What there is", ["It adds."]],
  ])
})
