import type { FindingArtifact } from "../domain/artifact"
import { findingsOf } from "../domain/outcome"
import type { OutputStatus, ReviewDecision, WorkOutput } from "../domain/output"
import { findingLine } from "../domain/report"
import { carry, noteOf, type Held, type Identity, type StepNote, type Viewed } from "./note"
import {
  FINDINGS,
  PhaseResponse,
  type Findings,
  type Phase,
  type PhaseDecision,
  type PhaseStatus,
  type ResearchFindings,
  type ValidateFindings,
  type WriteFindings,
} from "./phase"
import { obstacle, SUMMARY_TOKENS } from "./phase-rule"
import type { Count } from "./text"
import { within } from "./text"
import { lossOf, only, outputOf, summaryOf } from "./view"

const STATUS = {
  completed: "complete",
  partial: "partial",
  failed: "blocked",
  aborted: "blocked",
} as const satisfies Record<OutputStatus, PhaseStatus>

const TEST_FILE = /(?:^|\/)(?:tests?|__tests__|spec)\/|[._-](?:test|spec)\.[a-z]+$/i

const RELEVANCE = { error: "high", warning: "medium", info: "low" } as const

function research(output: WorkOutput): ResearchFindings {
  const found = findingsOf(output)
  const located = found.flatMap((each) => (each.location ? [{ ...each, location: each.location }] : []))
  return {
    existing_implementations: located.map(({ location, message, severity }) => ({
      file: location.path,
      description: message,
      relevance: RELEVANCE[severity],
    })),
    conflicts: found
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => ({ type: "pattern", description: message, severity: "critical" })),
    patterns_found: [],
    recommendations: output.summary.recommendations ?? [],
  }
}

const TEST = /^\s*(?:test|it|def test_\w+)\b/

function write(output: WorkOutput): WriteFindings {
  const files = only(output, "file_modification")
  return {
    files_created: files
      .filter(({ old_content }) => old_content === "")
      .map(({ path, reason }) => ({ path, purpose: reason })),
    files_modified: files
      .filter(({ old_content }) => old_content !== "")
      .map(({ path, reason }) => ({ path, changes: reason })),
    tests_written: files
      .filter(({ path }) => TEST_FILE.test(path))
      .map(({ path, new_content }) => ({
        path,
        test_count: new_content.split("\n").filter((line) => TEST.test(line)).length,
        coverage_areas: [],
      })),
    implementation_notes: output.summary.recommendations ?? [],
  }
}

function validate(output: WorkOutput): ValidateFindings {
  const lines = (severity: FindingArtifact["severity"]) =>
    findingsOf(output)
      .filter((each) => each.severity === severity)
      .map(findingLine)
  const { decision } = output.summary
  const blocking_issues = lines("error")
  return {
    checks: {},
    overall_passed:
      output.status === "completed" &&
      blocking_issues.length === 0 &&
      (decision === undefined || decision === "approved"),
    blocking_issues,
    warnings: lines("warning"),
  }
}

// A parallel phase is put together by the engine, out of its branches; what one agent says of it is only a claim.
const DERIVED: { [P in Phase]: (output: WorkOutput) => Findings[P] } = {
  research,
  write,
  validate,
  parallel: () => ({
    results: [],
    aggregation: { total: 0, passed: 0, failed: 0, rule: "all", overall_passed: false },
  }),
}

/** What an output decides that does not say PROCEED, STOP or CLARIFY itself. */
function decisionOf(output: WorkOutput, note: StepNote): PhaseDecision {
  const { decision } = output.summary
  const open =
    (note.open_questions ?? []).length > 0 || only(output, "decision").some(({ answer }) => answer === "unknown")
  if (decision === "rejected") return "STOP"
  if (decision === "blocked") return open ? "CLARIFY" : "STOP"
  if (output.status === "failed" || output.status === "aborted") return "STOP"
  return "PROCEED"
}

// The most that a response holds, in characters.
const LONGEST = 20_000

/**
 * What the agent itself sent as its summary is not cut to its tokens: its length is held against it. One that is blank
 * or that no response could hold is held against it too, and the view stays one that can be read.
 */
function summary(output: WorkOutput, note: StepNote, count: Count): string {
  const own = note.context_summary?.trim()
  if (own) return own.slice(0, LONGEST).toWellFormed()
  return within(summaryOf(output, note).trim(), SUMMARY_TOKENS, count) || output.status
}

export type PhaseFrame = { task_id: string; phase: Phase; count: Count }

/** An output as the response of a phase. Findings that the agent gave in another form than its phase's are derived. */
export function toPhase(output: WorkOutput, { task_id, phase, count }: PhaseFrame): Viewed<PhaseResponse> {
  const { note } = noteOf(output)
  const said = note.findings ? FINDINGS[phase].safeParse(note.findings) : undefined
  const read = PhaseResponse.parse({
    task_id,
    phase,
    status: note.status ?? STATUS[output.status],
    decision: note.decision ?? decisionOf(output, note),
    findings: said?.success ? said.data : DERIVED[phase](output),
    context_summary: summary(output, note, count),
    ...(note.tokens_used === undefined ? {} : { tokens_used: note.tokens_used }),
    issues: note.issues ?? (output.completion_reason ? [output.completion_reason] : []),
  })
  // An agent that did not decide cannot have meant to go on over what it found.
  const halts = note.decision === undefined && read.decision === "PROCEED" && obstacle(read) !== undefined
  return { view: halts ? { ...read, decision: "STOP" } : read, lost: lossOf(output, []) }
}

/** Why the findings that an agent gave are not those of its phase; nothing where they are, or where it gave none. */
export function findingsProblem(output: WorkOutput, phase: Phase): string | undefined {
  const { note } = noteOf(output)
  const read = note.findings ? FINDINGS[phase].safeParse(note.findings) : undefined
  if (!read || read.success) return undefined
  return read.error.issues.map((issue) => `findings.${issue.path.join(".")}: ${issue.message}`).join("; ")
}

const LEVEL = { critical: "error", warning: "warning", info: "info" } as const

function findings(response: PhaseResponse): FindingArtifact[] {
  const one = (severity: FindingArtifact["severity"], category: string, message: string): FindingArtifact[] =>
    message.trim() === "" ? [] : [{ type: "finding", severity, category, message }]
  if (response.phase === "research")
    return response.findings.conflicts.flatMap((each) => one(LEVEL[each.severity], each.type, each.description))
  if (response.phase !== "validate") return []
  return [
    ...response.findings.blocking_issues.flatMap((issue) => one("error", "validation", issue)),
    ...response.findings.warnings.flatMap((warning) => one("warning", "validation", warning)),
  ]
}

const ENDED = {
  complete: "completed",
  partial: "partial",
  blocked: "failed",
} as const satisfies Record<PhaseStatus, OutputStatus>

const DECIDED = {
  PROCEED: "approved",
  STOP: "rejected",
  CLARIFY: "blocked",
} as const satisfies Record<PhaseDecision, ReviewDecision>

/** The response of a phase as an output. Its task and its phase stand beside it. */
export function fromPhase(response: PhaseResponse, identity: Identity): Held {
  const { task_id: _task, phase: _phase, findings: said, ...rest } = response
  const note: StepNote = { ...rest, findings: said }
  const output = outputOf(identity, ENDED[response.status], [...findings(response), ...carry(note)], {
    generated_summary: response.context_summary,
    decision: DECIDED[response.decision],
  })
  return { output, lost: ["task_id", "phase"] }
}
