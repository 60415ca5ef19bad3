import { PHASE_BUDGET, type PhaseBudget, type PhaseRequest, type PhaseResponse, type ValidateFindings } from "./phase"
import { problem, unsummarised, vague, type Count, type Problem } from "./text"

/** The most that a `context_summary` may hold, counted exactly. */
export const SUMMARY_TOKENS = 500

/** What is wrong with a summary that goes on to the next phase. */
export function summaryProblems(summary: string, count: Count, path = "context_summary"): Problem[] {
  const tokens = count(summary)
  const copied = unsummarised(summary)
  return [
    ...(tokens > SUMMARY_TOKENS
      ? [problem(path, `${tokens} tokens, where ${SUMMARY_TOKENS} are the most; keep files, patterns and decisions`)]
      : []),
    ...(vague(summary) ? [problem(path, "it says nothing; name files, patterns and decisions")] : []),
    ...(copied ? [problem(path, copied)] : []),
  ]
}

function testProblems(checks: ValidateFindings["checks"]): Problem[] {
  const { tests } = checks
  if (!tests) return []
  const path = "findings.checks.tests"
  return [
    ...(tests.passed_count + tests.failed_count > tests.total
      ? [problem(path, `${tests.passed_count} passed and ${tests.failed_count} failed are more than ${tests.total}`)]
      : []),
    ...(tests.passed && tests.failed_count > 0 ? [problem(path, "passed, though tests failed")] : []),
  ]
}

/** A verdict that its own checks contradict would let broken work through. */
function validateProblems(findings: ValidateFindings): Problem[] {
  const failed = Object.entries(findings.checks).flatMap(([name, check]) => (check?.passed === false ? [name] : []))
  const wrong = findings.overall_passed && (failed.length > 0 || findings.blocking_issues.length > 0)
  return [
    ...testProblems(findings.checks),
    ...(wrong
      ? [
          problem(
            "findings.overall_passed",
            `true, though ${[...failed, ...findings.blocking_issues].join(", ")} did not pass`,
          ),
        ]
      : []),
  ]
}

/** Findings with which nobody may go on: `002`'s guidelines for PROCEED. */
export function obstacle(response: PhaseResponse): string | undefined {
  if (response.phase === "research" && response.findings.conflicts.some(({ severity }) => severity === "critical"))
    return "there is a critical conflict"
  if (response.phase === "validate" && !response.findings.overall_passed) return "the validation did not pass"
  if (response.phase === "parallel" && !response.findings.aggregation.overall_passed)
    return `the parallel phase did not pass by its rule (${response.findings.aggregation.rule})`
  if (response.status === "blocked") return "its own status is blocked"
  if (response.status === "partial" && (response.issues ?? []).length > 0)
    return "its own status is partial, and it names issues"
  return undefined
}

/** Everything that is wrong with a response, beyond its form; nothing where it may be acted on. */
export function responseProblems(request: PhaseRequest, response: PhaseResponse, count: Count): Problem[] {
  const why = response.decision === "PROCEED" ? obstacle(response) : undefined
  return [
    ...(response.task_id === request.task_id
      ? []
      : [problem("task_id", `"${response.task_id}" answers another task; this one is "${request.task_id}"`)]),
    ...(response.phase === request.phase
      ? []
      : [problem("phase", `it answers the phase ${response.phase}; this one is ${request.phase}`)]),
    ...summaryProblems(response.context_summary, count),
    ...(response.phase === "validate" ? validateProblems(response.findings) : []),
    ...(why ? [problem("decision", `PROCEED is not open: ${why}; say STOP or CLARIFY`)] : []),
  ]
}

/** The handoff's own tokens against its phase's budget: the text that goes in, and the findings that come out. */
export function budgetProblems(
  handoff: { request: PhaseRequest; response?: PhaseResponse },
  count: Count,
  budget: PhaseBudget = PHASE_BUDGET[handoff.request.phase],
): Problem[] {
  const over = (path: string, value: unknown, most: number) => {
    const tokens = count(JSON.stringify(value))
    return tokens > most ? [problem(path, `${tokens} tokens, where ${most} are the budget of this phase`)] : []
  }
  return [
    ...over("request", handoff.request, budget.input),
    ...(handoff.response ? over("response", handoff.response, budget.output) : []),
  ]
}
