import type { FindingArtifact, Severity, WorkArtifact } from "../domain/artifact"
import { findingsOf } from "../domain/outcome"
import type { OutputStatus, WorkOutput } from "../domain/output"
import { findingLine } from "../domain/report"
import type { Concern, ConcernLevel } from "./envelope"
import { carriesNote, noteOf, type Identity, type StepNote } from "./note"

/** What all views of a WorkOutput read out of it. */

export const LEVEL = { error: "HIGH", warning: "MEDIUM", info: "LOW" } as const satisfies Record<Severity, ConcernLevel>
export const SEVERITY = { HIGH: "error", MEDIUM: "warning", LOW: "info" } as const satisfies Record<
  ConcernLevel,
  Severity
>

type Of<T extends WorkArtifact["type"]> = Extract<WorkArtifact, { type: T }>

export const only = <T extends WorkArtifact["type"]>(output: WorkOutput, type: T): Of<T>[] =>
  output.artifacts.filter((artifact): artifact is Of<T> => artifact.type === type)

const unique = (lines: readonly string[]) => [...new Set(lines)]

/** Paths that a step changed or made: what it was seen doing, and what it names. */
export const produced = (output: WorkOutput, note: StepNote = noteOf(output).note) =>
  unique([
    ...(note.artifacts_produced ?? []),
    ...(note.artifacts ?? []).map(({ path }) => path),
    ...only(output, "file_modification").map(({ path }) => path),
  ])

/** Commands that a step was seen running. */
export const commands = (output: WorkOutput) =>
  unique(
    only(output, "tool_result").flatMap(({ tool_name, input }) =>
      tool_name === "bash" && typeof input["command"] === "string" ? [input["command"]] : [],
    ),
  )

/** The last thing that a step says to be read by people. */
const words = (output: WorkOutput) =>
  only(output, "message").findLast((message) => !carriesNote(message) && message.content.trim() !== "")?.content

/** What a step did and found, in the best words that there are. */
export const summaryOf = (output: WorkOutput, note: StepNote = noteOf(output).note): string =>
  [
    note.context_summary,
    output.summary.generated_summary,
    output.summary.decision_reason,
    words(output),
    findingsOf(output).map(findingLine).join("; "),
    output.completion_reason,
  ].find((text) => text !== undefined && text.trim() !== "") ?? ""

export const place = (location: FindingArtifact["location"]) =>
  location ? `${location.path}${location.line === undefined ? "" : `:${location.line}`}` : undefined

/** A finding as a concern. A category and a column have no place in it. */
export function concern(finding: FindingArtifact): Concern {
  const location = place(finding.location)
  return {
    severity: LEVEL[finding.severity],
    description: finding.message,
    ...(location ? { location } : {}),
    recommendation: finding.suggested_fix ?? "",
  }
}

export function locationOf(text: string | undefined): FindingArtifact["location"] {
  if (text === undefined) return undefined
  const [, path, line] = /^(.+):([1-9]\d{0,14})$/s.exec(text) ?? []
  return path && line ? { path, line: Number(line) } : { path: text }
}

export function finding({ severity, description, location, recommendation }: Concern): FindingArtifact {
  const at = locationOf(location)
  return {
    type: "finding",
    severity: SEVERITY[severity],
    category: "concern",
    message: description,
    ...(at ? { location: at } : {}),
    ...(recommendation === "" ? {} : { suggested_fix: recommendation }),
  }
}

const files = (artifacts: readonly WorkArtifact[]) =>
  new Set(artifacts.flatMap((artifact) => (artifact.type === "file_modification" ? [artifact.path] : []))).size

/** A WorkOutput around what a view holds. */
export function outputOf(
  identity: Identity,
  status: OutputStatus,
  artifacts: WorkArtifact[],
  summary: Partial<WorkOutput["summary"]>,
): WorkOutput {
  const found = artifacts.filter((artifact) => artifact.type === "finding")
  return {
    work_id: identity.work_id,
    subagent_id: identity.subagent_id,
    originating_agent_id: identity.originating_agent_id,
    status,
    artifacts,
    summary: {
      findings: found.map(findingLine),
      files_modified: files(artifacts),
      files_reviewed: 0,
      issues_found: found.length,
      time_elapsed_ms: identity.metadata.wall_time_ms,
      ...summary,
    },
    return_to: identity.originating_agent_id,
    auto_apply_allowed: false,
    metadata: identity.metadata,
  }
}

const LOSSES: readonly (readonly [string, (output: WorkOutput) => boolean])[] = [
  ["completion_reason", (output) => output.completion_reason !== undefined],
  ["auto_apply_allowed", (output) => output.auto_apply_allowed],
  ["summary.decision_reason", ({ summary }) => summary.decision_reason !== undefined],
  ["summary.generated_summary", ({ summary }) => summary.generated_summary !== undefined],
  ["summary.verdict", ({ summary }) => summary.verdict !== undefined],
  ["summary.evidence", ({ summary }) => (summary.evidence ?? []).length > 0],
  ["summary.change", ({ summary }) => summary.change !== undefined],
  ["summary.recommendations", ({ summary }) => (summary.recommendations ?? []).length > 0],
  ["summary.decision", ({ summary }) => summary.decision !== undefined],
  ["summary.files_reviewed", ({ summary }) => summary.files_reviewed > 0],
  ["artifacts.file_modification", (output) => only(output, "file_modification").length > 0],
  ["artifacts.tool_result", (output) => only(output, "tool_result").length > 0],
  ["artifacts.decision", (output) => only(output, "decision").length > 0],
  ["artifacts.message", (output) => only(output, "message").some((message) => !carriesNote(message))],
  ["artifacts.finding", (output) => only(output, "finding").length > 0],
  ["artifacts.finding.category", (output) => only(output, "finding").some(({ category }) => category !== "concern")],
  ["artifacts.finding.column", (output) => only(output, "finding").some((each) => each.location?.column !== undefined)],
]

/**
 * What an output has that a view cannot hold. `holds` names what the view keeps whole; what is kept in part is named by
 * the part that is lost. Who left it and when stands beside a view, never in it.
 */
export function lossOf(output: WorkOutput, holds: readonly string[]): string[] {
  return LOSSES.filter(([name, there]) => !holds.includes(name) && there(output)).map(([name]) => name)
}
