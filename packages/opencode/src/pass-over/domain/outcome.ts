import type { FindingArtifact, WorkArtifact } from "./artifact"
import { bySeverity } from "./artifact"
import { PassOverErrorCode } from "./errors"
import type { AgentID, PassID } from "./id"
import type { OutputStatus, PassOverMetadata, WorkOutput, WorkSummary } from "./output"
import { findingLine, reported, says, type Report } from "./report"
import type { Failure } from "./retry"
import { SUMMARY_TOKENS, summarise } from "./summary"

/** What is known of a pass when it ends, whoever ended it. */
export type Ending = {
  pass_over_id: PassID
  originating_agent_id: AgentID
  subagent_id: AgentID
  /** What the child was seen doing: tool results, file modifications, decisions. */
  observed: readonly WorkArtifact[]
  /** The last thing the child said, for when nothing else is left of it. */
  last_words: string
  files_read: number
  metadata: PassOverMetadata
}

const files = (artifacts: readonly WorkArtifact[]) =>
  new Set(artifacts.flatMap((artifact) => (artifact.type === "file_modification" ? [artifact.path] : []))).size

function summary(ending: Ending, artifacts: readonly WorkArtifact[], more: Partial<WorkSummary>): WorkSummary {
  const findings = artifacts.filter((artifact) => artifact.type === "finding").toSorted(bySeverity)
  // Counting tokens is slow, and this is made for every pass: four letters are about one.
  const max_length = 4 * SUMMARY_TOKENS
  const told = summarise(
    { artifacts: [...artifacts], style: "narrative", focus: "high_level", max_length },
    (text) => text.length,
  )
  return {
    ...(told ? { generated_summary: told } : {}),
    findings: findings.map(findingLine),
    files_modified: files(artifacts),
    files_reviewed: ending.files_read,
    issues_found: findings.length,
    time_elapsed_ms: ending.metadata.wall_time_ms,
    ...more,
  }
}

// The child's own word comes first, what it was seen doing after it; nothing that it said is said twice.
function joined(said: readonly WorkArtifact[], observed: readonly WorkArtifact[]): WorkArtifact[] {
  const known = new Set(said.flatMap((artifact) => (artifact.type === "decision" ? [artifact.question] : [])))
  const found = said.some((artifact) => artifact.type === "finding")
  return [
    ...said,
    ...observed.filter((artifact) => {
      if (artifact.type === "finding") return !found
      return artifact.type !== "decision" || !known.has(artifact.question)
    }),
  ]
}

const base = (ending: Ending, artifacts: WorkArtifact[]) => ({
  work_id: ending.pass_over_id,
  subagent_id: ending.subagent_id,
  originating_agent_id: ending.originating_agent_id,
  artifacts,
  return_to: ending.originating_agent_id,
  metadata: ending.metadata,
})

/** Nothing of the child's work is left, or at least some of it. */
const anything = (ending: Ending) => ending.observed.length > 0 || ending.last_words.length > 0

// A return without content is refused before it is staged. One that comes here all the same is no success.
function reportedStatus(ending: Ending, report: Report): OutputStatus {
  if (report.status !== "completed" || says(report)) return report.status
  return anything(ending) ? "partial" : "failed"
}

/** The outcome of a pass whose child returned. */
export function fromReport(ending: Ending, report: Report): WorkOutput {
  const artifacts = joined(
    reported(report, (index) => `${ending.pass_over_id}:${index + 1}`),
    ending.observed,
  )
  return {
    ...base(ending, artifacts),
    status: reportedStatus(ending, report),
    summary: summary(ending, artifacts, {
      ...(report.decision ? { decision: report.decision } : {}),
      ...(report.decision_reason ? { decision_reason: report.decision_reason } : {}),
      ...(report.recommendations ? { recommendations: report.recommendations } : {}),
    }),
    auto_apply_allowed: report.auto_apply_allowed,
  }
}

function salvagedStatus(failure: Failure, some: boolean): OutputStatus {
  if (failure.code === PassOverErrorCode.CANCELLED || failure.code === PassOverErrorCode.DECLINED) return "aborted"
  if (failure.code === PassOverErrorCode.SUBAGENT_TIMEOUT || failure.code === PassOverErrorCode.BUDGET_EXCEEDED) {
    return some ? "partial" : "aborted"
  }
  if (failure.code === PassOverErrorCode.INVALID_WORK_OUTPUT) return some ? "partial" : "failed"
  return "failed"
}

/** The outcome of a pass whose child did not return: all that it had done, and what is missing. Never a success. */
export function fromSalvage(ending: Ending, failure: Failure): WorkOutput {
  const words: WorkArtifact[] = ending.last_words
    ? [{ type: "message", role: "assistant", content: ending.last_words, visibility: "originator_only" }]
    : []
  const artifacts = [...words, ...ending.observed]
  const kept = anything(ending)
    ? `what it had done until then was kept (${artifacts.length} artifact${artifacts.length === 1 ? "" : "s"})`
    : "nothing of its work could be kept"
  return {
    ...base(ending, artifacts),
    status: salvagedStatus(failure, anything(ending)),
    completion_reason: `${failure.code}: ${failure.message}; missing: its own decision and findings; ${kept}`,
    summary: summary(ending, artifacts, {}),
    auto_apply_allowed: false,
  }
}

export const findingsOf = (output: WorkOutput): FindingArtifact[] =>
  output.artifacts.filter((artifact) => artifact.type === "finding").toSorted(bySeverity)

/** Something that must not pass a human by: a blocked or rejected decision, an error, an outcome that is not whole. */
export const blockers = (output: WorkOutput) =>
  output.status !== "completed" ||
  output.summary.decision === "rejected" ||
  output.summary.decision === "blocked" ||
  findingsOf(output).some((finding) => finding.severity === "error")
