import { describe, expect, test } from "bun:test"
import { ACTION, PhaseRequest, PhaseResponse, PHASE_BUDGET } from "../../../src/pass-over/handoff/phase"
import { budgetProblems, responseProblems, summaryProblems } from "../../../src/pass-over/handoff/phase-rule"
import { within } from "../../../src/pass-over/handoff/text"
import { tokens } from "../../../src/session/tokens"

const count = await tokens()

// The documents' own examples, word for word.
const request = {
  task_id: "auth-001",
  phase: "research",
  context: {
    feature: "jwt-authentication",
    spec_path: "specs/auth/requirements.md",
    relevant_files: ["src/lib/", "src/server/routers/"],
    constraints: ["no breaking changes", "follow existing patterns"],
  },
  instructions: "Find existing auth code and patterns for the new JWT feature",
  expected_output: "structured_findings",
}
const SUMMARY =
  "Existing auth at src/lib/auth.ts (sessions). Pattern: src/server/routers/user.ts. No conflicts. Extend auth.ts with JWT, create auth router."
const response = {
  task_id: "auth-001",
  phase: "research",
  status: "complete",
  decision: "PROCEED",
  findings: {
    existing_implementations: [{ file: "src/lib/auth.ts", description: "Basic session utils", relevance: "high" }],
    conflicts: [] as unknown[],
    patterns_found: [
      { file: "src/server/routers/user.ts", pattern: "tRPC router with Zod", recommendation: "Follow this" },
    ],
    recommendations: ["Extend auth.ts", "Create auth router"],
  },
  context_summary: SUMMARY,
  tokens_used: 847,
  issues: [],
}
const write = {
  task_id: "auth-001",
  phase: "write",
  context: {
    feature: "jwt-authentication",
    spec_path: "specs/auth/requirements.md",
    relevant_files: ["src/lib/auth.ts", "src/server/routers/user.ts"],
    constraints: ["TDD", "30 line functions"],
    previous_findings: SUMMARY,
  },
  instructions: "Implement JWT authentication with login/logout using TDD",
  expected_output: "files_changed",
}

const GOOD =
  "Existing auth at src/lib/auth.ts (session-based). Follow src/server/routers/user.ts pattern for new router. No naming conflicts. Recommend extending auth.ts with JWT, creating auth router."
const BAD =
  "I searched through the codebase and found several files. The first file I looked at was src/lib/auth.ts which contains the following code: [500 lines of code]. Then I looked at..."

const checked = (value: unknown, asked: unknown = request) =>
  responseProblems(PhaseRequest.parse(asked), PhaseResponse.parse(value), count).map(({ path }) => path)

const validation = {
  task_id: "auth-001",
  phase: "validate",
  status: "complete",
  decision: "PROCEED",
  findings: {
    checks: {
      types: { passed: true, errors: [], warnings: [] },
      lint: { passed: true, errors: [], warnings: [] },
      tests: { passed: true, total: 4, passed_count: 4, failed_count: 0, coverage: 91.5, failures: [] as string[] },
      security: { passed: true, issues: [] },
    },
    overall_passed: true,
    blocking_issues: [] as string[],
    warnings: [],
  },
  context_summary: "Types, lint, 4 tests and the security check pass; coverage is 91.5 %.",
}
const asksValidation = { ...request, phase: "validate", expected_output: "validation_result" }

describe("the examples of the document", () => {
  test("the complete research → write handoff is taken as it stands", () => {
    expect(PhaseRequest.parse(request)).toEqual(request as PhaseRequest)
    expect(PhaseRequest.parse(write)).toEqual(write as PhaseRequest)
    expect(PhaseResponse.parse(response)).toEqual(response as PhaseResponse)
    expect(checked(response)).toEqual([])
  })

  test("the good summary is taken and the bad one refused with the reason", () => {
    expect(summaryProblems(GOOD, count)).toEqual([])
    expect(summaryProblems(SUMMARY, count)).toEqual([])
    expect(summaryProblems(BAD, count).map(({ message }) => message)).toEqual([
      "it copies instead of summarising; name the file and say what matters in it",
    ])
    expect(summaryProblems("I searched for it. Then I looked at src/a.ts.", count)[0]?.message).toContain("retells")
  })

  test("each decision is what the engine does", () => {
    expect(ACTION).toEqual({ PROCEED: "continue", STOP: "halt", CLARIFY: "ask" })
  })

  test("the budget table is the document's", () => {
    expect(PHASE_BUDGET).toMatchObject({
      research: { input: 500, output: 1_000 },
      write: { input: 1_000, output: 1_500 },
      validate: { input: 500, output: 800 },
    })
    expect(
      budgetProblems({ request: PhaseRequest.parse(request), response: PhaseResponse.parse(response) }, count),
    ).toEqual([])
    const large = { ...request, instructions: "Look at every router in turn. ".repeat(100) }
    expect(budgetProblems({ request: PhaseRequest.parse(large) }, count)[0]?.message).toMatch(/^\d+ tokens, where 500/)
  })
})

describe("every required field and every enum", () => {
  const REQUIRED: [Record<string, unknown>, "request" | "response", string[]][] = [
    [request, "request", ["task_id", "phase", "context", "instructions", "expected_output"]],
    [response, "response", ["task_id", "phase", "status", "decision", "findings", "context_summary"]],
  ]
  for (const [value, name, fields] of REQUIRED) {
    const schema = name === "request" ? PhaseRequest : PhaseResponse
    test(`a ${name} without one of its required fields is refused, and so is one with a field too many`, () => {
      for (const field of fields) {
        const { [field]: _left, ...rest } = value
        expect(schema.safeParse(rest).success).toBe(false)
      }
      expect(schema.safeParse({ ...value, mood: "good" }).success).toBe(false)
    })
  }

  test("values that no enum has are refused", () => {
    const wrong = [
      { ...request, phase: "deploy" },
      { ...request, expected_output: "poem" },
      { ...request, context: {} },
    ]
    for (const value of wrong) expect(PhaseRequest.safeParse(value).success).toBe(false)
    for (const value of [
      { ...response, status: "done" },
      { ...response, decision: "MAYBE" },
      { ...response, phase: "write" },
      {
        ...response,
        findings: { ...response.findings, conflicts: [{ type: "taste", description: "", severity: "info" }] },
      },
    ])
      expect(PhaseResponse.safeParse(value).success).toBe(false)
  })

  test("what is optional may be left out, and the spec's path may be null", () => {
    const { context, ...rest } = request
    expect(
      PhaseRequest.safeParse({
        ...rest,
        context: { feature: context.feature, spec_path: null, previous_findings: null },
      }).success,
    ).toBe(true)
    const { tokens_used: _used, issues: _issues, ...least } = response
    expect(PhaseResponse.safeParse(least).success).toBe(true)
  })
})

describe("the rules", () => {
  test("500 tokens are the most, counted exactly", () => {
    const words = "router ".repeat(600)
    const exact = within(words, 500, count)
    expect(count(exact)).toBeLessThanOrEqual(500)
    expect(count(exact)).toBeGreaterThan(497)
    const fits = `Auth lives in src/lib/auth.ts. ${"alpha beta ".repeat(300)}`
    const full = within(fits, 500, count)
    expect(summaryProblems(full, count)).toEqual([])
    expect(summaryProblems(`${full} gamma delta epsilon zeta`, count)[0]?.message).toMatch(
      /^5\d\d tokens, where 500 are the most/,
    )
  })

  test("a summary that says nothing is refused", () => {
    for (const text of ["It's done", "Everything is finished.", "All good, task completed successfully", "ok"])
      expect(summaryProblems(text, count).map(({ message }) => message)).toContain(
        "it says nothing; name files, patterns and decisions",
      )
  })

  test("an answer to another task or phase is refused", () => {
    expect(checked({ ...response, task_id: "auth-002" })).toEqual(["task_id"])
    expect(checked(response, asksValidation)).toContain("phase")
  })

  test("PROCEED is not open with work that is partial and names issues", () => {
    expect(checked({ ...response, status: "partial", issues: ["half of it is not done"] })).toEqual(["decision"])
    expect(checked({ ...response, status: "partial", issues: ["half of it"], decision: "CLARIFY" })).toEqual([])
    expect(checked({ ...response, status: "partial", issues: [] })).toEqual([])
    expect(checked({ ...response, status: "complete", issues: ["a warning"] })).toEqual([])
  })

  test("PROCEED is not open with a critical conflict, a failed validation, a failed phase or a blocked status", () => {
    const conflict = { type: "dependency", description: "two routers own /login", severity: "critical" }
    const critical = { ...response, findings: { ...response.findings, conflicts: [conflict] } }
    expect(checked(critical)).toEqual(["decision"])
    expect(checked({ ...critical, decision: "STOP" })).toEqual([])
    expect(checked({ ...response, status: "blocked" })).toEqual(["decision"])
    const failed = { ...validation, findings: { ...validation.findings, overall_passed: false } }
    expect(checked(failed, asksValidation)).toEqual(["decision"])
    expect(checked({ ...failed, decision: "CLARIFY" }, asksValidation)).toEqual([])
  })

  test("a validation that contradicts itself is refused", () => {
    expect(checked(validation, asksValidation)).toEqual([])
    const { checks } = validation.findings
    const broken = { ...checks, tests: { ...checks.tests, failed_count: 2, passed_count: 4 } }
    expect(checked({ ...validation, findings: { ...validation.findings, checks: broken } }, asksValidation)).toEqual([
      "findings.checks.tests",
      "findings.checks.tests",
    ])
    const security = { ...checks, security: { passed: false, issues: ["a secret in the log"] } }
    expect(checked({ ...validation, findings: { ...validation.findings, checks: security } }, asksValidation)).toEqual([
      "findings.overall_passed",
    ])
  })
})
