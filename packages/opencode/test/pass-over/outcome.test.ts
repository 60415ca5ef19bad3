import { describe, expect, test } from "bun:test"
import { array, assert, constantFrom, option, property, record, string } from "fast-check"
import type { WorkArtifact } from "../../src/pass-over/domain/artifact"
import { PassOverErrorCode } from "../../src/pass-over/domain/errors"
import { blockers, findingsOf, fromReport, fromSalvage, type Ending } from "../../src/pass-over/domain/outcome"
import { WorkOutput } from "../../src/pass-over/domain/output"
import { Report } from "../../src/pass-over/domain/report"
import { finding, metadata, output, PASS, summary } from "./sample"

const TOOL: WorkArtifact = {
  type: "tool_result",
  tool_name: "bash",
  call_id: "call_1",
  input: { command: "bun test" },
  output: "1 fail",
  status: "success",
}
const EDIT: WorkArtifact = {
  type: "file_modification",
  path: "src/total.ts",
  old_content: "a",
  new_content: "b",
  reason: "edit by the agent",
  confidence: "high",
}
const DECISION: WorkArtifact = { type: "decision", id: "prt_1", question: "Split?", answer: "yes", reasoning: "long" }

const ending = (more: Partial<Ending> = {}): Ending => ({
  pass_over_id: PASS,
  originating_agent_id: "alice",
  subagent_id: "audit",
  observed: [],
  last_words: "",
  files_read: 0,
  metadata: metadata(),
  ...more,
})

const report = (input: unknown) => Report.parse(input)

describe("the outcome of a child that returned", () => {
  test("has a summary of some five hundred tokens, and in it the main thing first", () => {
    const message = `it subtracts ${"where it adds ".repeat(12)}`
    const findings = Array.from({ length: 9 }, (_, at) => ({ severity: "error", message: `${at} ${message}` }))
    const artifacts = Array.from({ length: 12 }, (_, at) => ({
      type: "decision",
      question: `Question ${at} ${"about it all ".repeat(10)}`,
      answer: "yes",
      reasoning: "因為".repeat(60),
    }))
    const { generated_summary = "" } = fromReport(ending(), report({ findings, artifacts })).summary
    expect(generated_summary).toStartWith(
      "The work brought 9 findings (9 errors).\nThe most serious is error: 0 it subtracts where it adds",
    )
    expect(generated_summary.length).toBeGreaterThan(1_900)
    expect(generated_summary.length).toBeLessThanOrEqual(2_000)
    expect(generated_summary).toEndWith("…")
  })

  test("is what it reported, with the traces of who asked whom", () => {
    const made = fromReport(
      ending({ files_read: 4 }),
      report({
        decision: "needs_modification",
        decision_reason: "one sum is wrong",
        findings: [{ severity: "error", message: "wrong sum", path: "src/total.ts", line: 12 }],
        recommendations: ["add a test"],
        auto_apply_allowed: true,
      }),
    )
    expect(made).toEqual({
      work_id: PASS,
      subagent_id: "audit",
      originating_agent_id: "alice",
      return_to: "alice",
      status: "completed",
      artifacts: [
        {
          type: "finding",
          severity: "error",
          category: "general",
          message: "wrong sum",
          location: { path: "src/total.ts", line: 12 },
        },
      ],
      summary: {
        decision: "needs_modification",
        decision_reason: "one sum is wrong",
        generated_summary:
          "The work brought 1 finding (1 error).\nThe most serious is error at src/total.ts:12: wrong sum.",
        findings: ["src/total.ts:12 wrong sum"],
        recommendations: ["add a test"],
        files_modified: 0,
        files_reviewed: 4,
        issues_found: 1,
        time_elapsed_ms: 41_000,
      },
      auto_apply_allowed: true,
      metadata: metadata(),
    })
  })

  test("has the child's word first and what it was seen doing after it", () => {
    const made = fromReport(ending({ observed: [TOOL, EDIT] }), report({ findings: ["said"] }))
    expect(made.artifacts.map(({ type }) => type)).toEqual(["finding", "tool_result", "file_modification"])
  })

  test("says no decision twice", () => {
    const said = { type: "decision", question: "Split?", answer: "no", reasoning: "on second thought" }
    const other: WorkArtifact = { ...DECISION, id: "prt_2", question: "Merge?" }
    const made = fromReport(ending({ observed: [DECISION, other] }), report({ artifacts: [said] }))
    expect(made.artifacts).toEqual([{ ...said, id: `${PASS}:1` } as WorkArtifact, other])
  })

  test("counts a file once, however often it was changed or proposed", () => {
    const proposed = { ...EDIT, new_content: "c" }
    const made = fromReport(
      ending({ observed: [EDIT, { ...EDIT, path: "src/b.ts" }] }),
      report({ artifacts: [proposed, proposed] }),
    )
    expect(made.summary.files_modified).toBe(2)
  })

  test("names the worst finding first and keeps the order among equals", () => {
    const made = fromReport(
      ending(),
      report({
        findings: [
          { severity: "info", message: "a" },
          { severity: "warning", message: "b" },
          { severity: "error", message: "c" },
          "d",
          { severity: "error", message: "e" },
        ],
      }),
    )
    expect(made.summary.findings).toEqual(["c", "e", "b", "d", "a"])
  })

  test("is a success only where something was said", () => {
    expect(fromReport(ending(), report({ decision: "approved" })).status).toBe("completed")
    expect(fromReport(ending(), report({})).status).toBe("failed")
    expect(fromReport(ending({ observed: [TOOL] }), report({})).status).toBe("partial")
    expect(fromReport(ending({ last_words: "done" }), report({})).status).toBe("partial")
    expect(fromReport(ending(), report({ artifacts: [{ type: "message", content: " " }] })).status).toBe("failed")
  })

  test("is partial or failed where the child says so", () => {
    expect(fromReport(ending(), report({ status: "partial", findings: ["x"] })).status).toBe("partial")
    expect(fromReport(ending({ observed: [TOOL] }), report({ status: "failed" })).status).toBe("failed")
  })
})

describe("the outcome of a child that did not return", () => {
  const failure = (code: PassOverErrorCode) => ({ code, message: "it did not work" })

  // By hand: what each failure means with something to keep, and with nothing.
  const STATUSES: Record<PassOverErrorCode, [some: string, none: string]> = {
    E010: ["partial", "aborted"],
    E016: ["aborted", "aborted"],
    E017: ["aborted", "aborted"],
    E021: ["partial", "failed"],
    E001: ["failed", "failed"],
    E002: ["failed", "failed"],
    E003: ["failed", "failed"],
    E004: ["failed", "failed"],
    E011: ["failed", "failed"],
    E012: ["failed", "failed"],
    E013: ["failed", "failed"],
    E014: ["failed", "failed"],
    E015: ["partial", "aborted"],
    E020: ["failed", "failed"],
    E022: ["failed", "failed"],
    E030: ["failed", "failed"],
    E031: ["failed", "failed"],
    E040: ["failed", "failed"],
    E041: ["failed", "failed"],
    E042: ["failed", "failed"],
  }
  for (const code of Object.values(PassOverErrorCode)) {
    const [some, none] = STATUSES[code]
    test(`after ${code} is ${some} with its work and ${none} without, and never a success`, () => {
      expect(fromSalvage(ending({ observed: [TOOL] }), failure(code)).status).toBe(some as WorkOutput["status"])
      expect(fromSalvage(ending({ last_words: "so far" }), failure(code)).status).toBe(some as WorkOutput["status"])
      expect(fromSalvage(ending(), failure(code)).status).toBe(none as WorkOutput["status"])
    })
  }

  test("keeps its last words and all that it was seen doing", () => {
    const made = fromSalvage(
      ending({ observed: [TOOL, EDIT], last_words: "I was about to", files_read: 2 }),
      failure("E010"),
    )
    expect(made.artifacts).toEqual([
      { type: "message", role: "assistant", content: "I was about to", visibility: "originator_only" },
      TOOL,
      EDIT,
    ])
    expect(made.summary).toEqual(
      summary({
        files_modified: 1,
        files_reviewed: 2,
        generated_summary: "The work brought no findings.\nIt changes 1 file: src/total.ts.",
      }),
    )
  })

  test("says why, what is missing and what was kept", () => {
    const reason = (more: Partial<Ending>) => fromSalvage(ending(more), failure("E010")).completion_reason
    expect(reason({})).toBe(
      "E010: it did not work; missing: its own decision and findings; nothing of its work could be kept",
    )
    expect(reason({ observed: [TOOL] })).toEndWith("what it had done until then was kept (1 artifact)")
    expect(reason({ observed: [TOOL], last_words: "x" })).toEndWith(
      "what it had done until then was kept (2 artifacts)",
    )
  })

  test("has no decision of the child's and may not be applied by itself", () => {
    const made = fromSalvage(ending({ observed: [EDIT, DECISION] }), failure("E011"))
    expect(made.summary.decision).toBeUndefined()
    expect(made.auto_apply_allowed).toBe(false)
  })
})

test("whatever a child leaves, the outcome is whole, belongs to its pass and is no success without content", () => {
  const observed = array(constantFrom(TOOL, EDIT, DECISION), { maxLength: 4 })
  const said = record({
    decision: option(constantFrom("approved", "blocked"), { nil: undefined }),
    decision_reason: option(string(), { nil: undefined }),
    findings: array(
      string({ minLength: 1 }).filter((text) => text.trim() !== ""),
      { maxLength: 3 },
    ),
    status: constantFrom("completed", "partial", "failed"),
  })
  const codes = constantFrom(...Object.values(PassOverErrorCode))
  assert(
    property(observed, string(), said, option(codes), (observed, last_words, said, code) => {
      const end = ending({ observed, last_words })
      const made = code ? fromSalvage(end, { code, message: "x" }) : fromReport(end, report(said))
      expect(WorkOutput.parse(made)).toEqual(made)
      expect(made).toMatchObject({ work_id: PASS, return_to: "alice", originating_agent_id: "alice" })
      if (made.status !== "completed") return
      expect(code).toBeNull()
      expect(made.summary.decision ?? made.summary.decision_reason ?? made.summary.findings[0]).toBeTruthy()
    }),
    { numRuns: 2_000 },
  )
})

describe("a blocker", () => {
  test("is anything that must not pass a person by", () => {
    expect(blockers(output())).toBe(false)
    expect(blockers(output({ summary: summary({ decision: "approved" }) }))).toBe(false)
    expect(blockers(output({ summary: summary({ decision: "needs_modification" }) }))).toBe(false)
    expect(blockers(output({ artifacts: [finding({ severity: "warning" })] }))).toBe(false)
    expect(blockers(output({ artifacts: [finding({ severity: "error" })] }))).toBe(true)
    for (const decision of ["rejected", "blocked"] as const) {
      expect(blockers(output({ summary: summary({ decision }) }))).toBe(true)
    }
    for (const status of ["failed", "aborted", "partial"] as const) expect(blockers(output({ status }))).toBe(true)
  })
})

test("findings are told worst first", () => {
  const [info, error] = [finding({ severity: "info" }), finding({ severity: "error" })]
  expect(findingsOf(output({ artifacts: [info, TOOL, error] }))).toEqual([error, info])
})
