import { describe, expect, test } from "bun:test"
import { findingLine, Report, reported, says } from "../../src/pass-over/domain/report"
import { finding } from "./sample"

const id = (index: number) => `made:${index}`
const parsed = (input: unknown) => Report.parse(input)
const refused = (input: unknown) => !Report.safeParse(input).success

describe("a report", () => {
  test("needs nothing but what it says; the rest has its plain meaning", () => {
    expect(parsed({})).toEqual({ status: "completed", findings: [], artifacts: [], auto_apply_allowed: false })
  })

  test("keeps all that was given", () => {
    const whole = {
      status: "partial",
      decision: "needs_modification",
      decision_reason: "two sums are wrong",
      findings: [
        { severity: "error", category: "logic_error", message: "wrong sum", path: "a.ts", line: 3, column: 7 },
      ],
      recommendations: ["add a test"],
      artifacts: [],
      auto_apply_allowed: true,
    }
    expect(parsed(whole)).toEqual(whole as Report)
  })

  test("may not say that it was aborted: that is not the child's to say", () => {
    expect(refused({ status: "aborted" })).toBe(true)
    expect(["completed", "partial", "failed"].filter((status) => refused({ status }))).toEqual([])
  })

  test("takes the four decisions of the architecture and no other", () => {
    const decisions = ["approved", "rejected", "needs_modification", "blocked"]
    expect(decisions.filter((decision) => refused({ decision }))).toEqual([])
    expect(["yes", "APPROVED", "", null].filter((decision) => !refused({ decision }))).toEqual([])
  })

  test("loses nothing in silence: a field that nobody knows is refused", () => {
    expect(refused({ verdict: "approved" })).toBe(true)
    expect(refused({ findings: [{ message: "x", file: "a.ts" }] })).toBe(true)
    expect(refused({ artifacts: [{ type: "message", content: "x", text: "y" }] })).toBe(true)
  })

  test("takes no finding without words, no line zero and no empty path", () => {
    const findings = ["", "  ", { message: "" }, { message: "x", line: 0 }, { message: "x", path: "" }, {}, null, 7]
    expect(findings.filter((one) => !refused({ findings: [one] }))).toEqual([])
  })

  test("takes no artifact that only we can make", () => {
    const tool = { type: "tool_result", tool_name: "bash", call_id: "1", input: {}, output: "", status: "success" }
    expect(refused({ artifacts: [tool] })).toBe(true)
  })

  test("has a size that cannot hurt", () => {
    const many = Array.from({ length: 1_001 }, () => "x")
    expect(refused({ findings: many })).toBe(true)
    expect(refused({ recommendations: many })).toBe(true)
    expect(refused({ findings: ["x".repeat(20_001)] })).toBe(true)
    expect(refused({ decision_reason: "x".repeat(20_001) })).toBe(true)
  })
})

describe("what a report's artifacts are", () => {
  test("a finding in one line is a warning without a place", () => {
    expect(reported(parsed({ findings: ["  Missing null check "] }), id)).toEqual([
      { type: "finding", severity: "warning", category: "general", message: "Missing null check" },
    ])
  })

  test("a flat finding gets its place, as far as it names one", () => {
    const findings = [
      { severity: "error", category: "logic_error", message: "a", path: "a.ts", line: 3, column: 7 },
      { message: "b", path: "b.ts" },
      { message: "c", line: 5 },
      { message: "d", suggested_fix: "" },
    ]
    expect(reported(parsed({ findings }), id)).toEqual([
      {
        type: "finding",
        severity: "error",
        category: "logic_error",
        message: "a",
        location: { path: "a.ts", line: 3, column: 7 },
      },
      { type: "finding", severity: "warning", category: "general", message: "b", location: { path: "b.ts" } },
      { type: "finding", severity: "warning", category: "general", message: "c" },
      { type: "finding", severity: "warning", category: "general", message: "d", suggested_fix: "" },
    ])
  })

  test("findings come first, then what was given, in order", () => {
    const artifacts = [
      { type: "message", content: "for you" },
      { type: "file_modification", path: "a.ts", new_content: "1", reason: "new" },
      { type: "decision", question: "Split?", answer: "yes", reasoning: "long" },
      { type: "decision", id: "own", question: "Merge?", answer: "no", reasoning: "short" },
      finding(),
    ]
    expect(reported(parsed({ findings: ["first"], artifacts }), id)).toEqual([
      { type: "finding", severity: "warning", category: "general", message: "first" },
      { type: "message", role: "assistant", content: "for you", visibility: "user_visible" },
      {
        type: "file_modification",
        path: "a.ts",
        old_content: "",
        new_content: "1",
        reason: "new",
        confidence: "medium",
      },
      { type: "decision", id: "made:2", question: "Split?", answer: "yes", reasoning: "long" },
      { type: "decision", id: "own", question: "Merge?", answer: "no", reasoning: "short" },
      finding(),
    ])
  })

  test("contents are exact, with their blanks and line ends", () => {
    const artifact = {
      type: "file_modification",
      path: "a.ts",
      old_content: "\r\n a \n",
      new_content: "\tb\n\n",
      reason: "",
      confidence: "low",
    }
    expect(reported(parsed({ artifacts: [artifact] }), id)).toEqual([artifact as ReturnType<typeof reported>[number]])
  })
})

describe("whether a report says anything", () => {
  const SAYS: [string, unknown][] = [
    ["a decision", { decision: "approved" }],
    ["a reason", { decision_reason: "nothing to find" }],
    ["a finding", { findings: ["x"] }],
    ["a recommendation", { recommendations: ["x"] }],
    ["a message", { artifacts: [{ type: "message", content: "x" }] }],
    ["a change", { artifacts: [{ type: "file_modification", path: "a", new_content: "x", reason: "" }] }],
    [
      "a deletion",
      { artifacts: [{ type: "file_modification", path: "a", old_content: "x", new_content: "", reason: "" }] },
    ],
    ["an answer", { artifacts: [{ type: "decision", question: "Split?", answer: "yes", reasoning: "" }] }],
  ]
  for (const [what, report] of SAYS) {
    test(`${what} is something`, () => {
      expect(says(parsed(report))).toBe(true)
    })
  }

  const SILENT: [string, unknown][] = [
    ["nothing", {}],
    ["a status alone", { status: "completed", auto_apply_allowed: true }],
    ["a blank reason", { decision_reason: "  \n" }],
    ["empty lists", { findings: [], recommendations: [], artifacts: [] }],
    ["a message without words", { artifacts: [{ type: "message", content: " \n" }] }],
    [
      "a change that changes nothing",
      { artifacts: [{ type: "file_modification", path: "a", old_content: "x", new_content: "x", reason: "r" }] },
    ],
    ["an answer to no question", { artifacts: [{ type: "decision", question: "", answer: "yes", reasoning: " " }] }],
    ["a blank finding among the artifacts", { artifacts: [finding({ message: " " })] }],
  ]
  for (const [what, report] of SILENT) {
    test(`${what} is not`, () => {
      expect(says(parsed(report))).toBe(false)
    })
  }
})

test("a finding in a line begins with its place", () => {
  expect(findingLine(finding({ location: { path: "src/total.ts", line: 12 } }))).toBe(
    "src/total.ts:12 sums the wrong column",
  )
  expect(findingLine(finding())).toBe("sums the wrong column")
})
