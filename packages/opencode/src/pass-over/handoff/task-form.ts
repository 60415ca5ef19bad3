import type { ExpectedOutputType } from "../domain/request"
import type { Phase, PhaseOutput } from "./phase"

const FORMS: Record<Phase, string> = {
  research:
    '{"existing_implementations":[{"file":"","description":"","relevance":"high|medium|low"}],"conflicts":[{"type":"naming|pattern|dependency","description":"","severity":"critical|warning|info"}],"patterns_found":[{"file":"","pattern":"","recommendation":""}],"recommendations":[""]}',
  write:
    '{"files_created":[{"path":"","purpose":""}],"files_modified":[{"path":"","changes":""}],"tests_written":[{"path":"","test_count":0,"coverage_areas":[""]}],"implementation_notes":[""]}',
  validate:
    '{"checks":{"types":{"passed":true,"errors":[],"warnings":[]},"lint":{"passed":true,"errors":[],"warnings":[]},"tests":{"passed":true,"total":0,"passed_count":0,"failed_count":0,"coverage":0,"failures":[]},"security":{"passed":true,"issues":[]}},"overall_passed":true,"blocking_issues":[],"warnings":[]} (only the checks that you made)',
  parallel:
    '{"results":[{"task_id":"","type":"","passed":true,"summary":"","details":{}}],"aggregation":{"total":0,"passed":0,"failed":0,"rule":"","overall_passed":true}}',
}

const DECISION = [
  '- "decision": "PROCEED" if the work is complete and nothing stands in the way: no conflicts, tests and checks pass.',
  '  "STOP" if it is there already, would break something, opens a security hole, or tests fail that you cannot mend.',
  '  "CLARIFY" if the requirements are ambiguous, several ways are valid, or it is for the user to choose.',
]

/** How a child is to say what the next step has to know. */
export function answerForm(phase: Phase | undefined, critic: boolean): string[] {
  return [
    "Return with pass_over_return as always. What the next step has to know besides, put into `artifacts` as one",
    'message with role "internal" whose content is JSON: {"handoff": {…}} with any of these fields:',
    '- "context_summary": files, patterns and decisions for the next step, at most 500 tokens, no copied code',
    ...(phase ? [...DECISION, `- "findings": ${FORMS[phase]}`] : []),
    '- "artifacts": [{"path":"","type":"spec|code|doc|config","description":""}] for every file that you made',
    '- "open_questions": [{"question":"","priority":"high|medium|low"}]',
    '- "assumptions": [{"assumption":"","why":"","impact_if_wrong":""}]',
    `- "routing": {"recommendation":"CONTINUE|LOOP|DETOUR|ESCALATE",${critic ? '"can_further_iteration_help":true,' : ""}"reason":""}`,
    '- "acknowledgment": if the handoff cannot be worked with: {"received":true,"understood":"partial","blockers":[""],"action":"request_clarification"}; then return with status "partial" and nothing else',
  ]
}

export const CLARIFY =
  "An agent that took over from you, or a person, needs to know more before it can go on. Answer the questions in the data below: return the answer as context_summary. Change nothing."
export const REPAIR =
  "Your handoff cannot be passed on as it is; the reasons are in the data below. Your work stands: correct the handoff and return again."

export const EXPECTED = {
  structured_findings: "report",
  files_changed: "artifacts",
  validation_result: "decision",
  aggregated_results: "mixed",
} as const satisfies Record<PhaseOutput, ExpectedOutputType>
