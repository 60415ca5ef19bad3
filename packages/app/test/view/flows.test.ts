import { describe, expect, test } from "bun:test"
import * as flows from "../../src/components/pass-over-flows-view"

describe("a run of a flow", () => {
  const box = (more: Partial<flows.Box> = {}): flows.Box => ({
    id: "write",
    kind: "pass",
    about: "audit",
    mark: "pending",
    conditional: false,
    critic: null,
    result: null,
    working: [],
    waiting: [],
    ...more,
  })
  const MARKS = ["done", "failed", "skipped", "active", "waiting", "pending"] as const
  const STATUS = ["running", "waiting", "paused", "completed", "stopped", "cancelled"] as const

  test("says in sign and word where it stands, and whether anybody carries it", () => {
    const words = STATUS.map((status) => flows.runBadge({ status, carried: true }))
    expect(new Set(words.map(({ sign, word }) => sign + word)).size).toBe(STATUS.length)
    expect(flows.runBadge({ status: "running", carried: false }).word).toBe("waiting for opencode")
    expect(new Set(MARKS.map((mark) => flows.boxBadge({ mark }).word)).size).toBe(MARKS.length)
  })

  test("is known in a list by what it was given", () => {
    expect(flows.aboutRun({ inputs: { what: "the  next\none", how: " " } })).toBe("the next one")
    expect(flows.aboutRun({ inputs: {} })).toBe("")
  })

  test("shows what it proposes until that is applied", () => {
    const of = (applied: boolean) => ({ pass_over_id: "p", agent: "general", files: ["a.ts"], applied })
    const proposed = [of(true), of(false)]
    expect(flows.waitingFiles({ status: "waiting", proposed })).toEqual([of(false)])
    expect(flows.waitingFiles({ status: "running", proposed })).toEqual([])
  })

  test("is asked only what makes sense just now", () => {
    expect(STATUS.map((status) => flows.orders({ status }).join())).toEqual([
      "pause,cancel",
      "pause,cancel",
      "resume,cancel",
      "",
      "",
      "",
    ])
    expect(MARKS.map((mark) => flows.stepOrders({ status: "running" }, box({ mark })).join())).toEqual([
      "retry",
      "retry",
      "retry",
      "retry,skip",
      "retry,skip",
      "skip",
    ])
    expect(flows.stepOrders({ status: "completed" }, box({ mark: "pending" }))).toEqual([])
  })

  test("tells of each step who works, who is waited for, and what it came to", () => {
    expect(flows.boxLines(box({ working: [{ agent: "audit", role: "critic", round: 2 }] }))).toEqual([
      "audit works (critic), round 2",
    ])
    expect(flows.boxLines(box({ waiting: [{ why: "gate", reason: "May it?" }] }))).toEqual([
      "waits for you (gate): May it?",
    ])
    const result = {
      status: "VERIFIED",
      reason: null,
      summary: "It adds",
      rounds: 2,
      tokens: 1_200,
      cost: 0.03,
      cached: false,
      pass_over_id: null,
    }
    expect(flows.boxLines(box({ result }))).toEqual(["It adds", "2 rounds · 1,200 tokens · $0.03"])
  })

  test("measures what it has used by what its flow allows", () => {
    const usage = { passes: 9, tokens: 1_000, cost: 0.5 }
    expect(flows.spending({ usage, budget: {} })).toEqual({
      text: "9 passes · 1,000 tokens · $0.50",
      used: undefined,
      short: false,
    })
    expect(flows.spending({ usage, budget: { passes: 10, cost: 2 } })).toEqual({
      text: "9 / 10 passes · 1,000 tokens · $0.50 / $2.00",
      used: 0.9,
      short: true,
    })
  })

  test("starts with what it needs, and hands on only what was filled in", () => {
    const inputs = [
      { name: "what", required: true },
      { name: "how", required: false },
    ]
    expect(flows.missing(inputs, { what: " " })).toEqual(["what"])
    expect(flows.missing(inputs, { what: "x" })).toEqual([])
    expect(flows.filled({ what: "x", how: " " })).toEqual({ what: "x" })
  })
})
