import { z } from "zod"
import {
  Confidence,
  DecisionArtifact,
  FileModificationArtifact,
  FindingArtifact,
  MessageArtifact,
  Severity,
  place,
  type WorkArtifact,
} from "./artifact"
import { Evidence } from "./evidence-schema"
import { withMerged } from "./finding"
import { ReviewDecision } from "./output"

const Line = z.string().trim().min(1).max(20_000)

/** A finding as a model writes it: flat, because models get nested objects wrong more often. */
const ReportedFinding = z.strictObject({
  severity: Severity.default("warning"),
  category: z.string().trim().min(1).max(200).default("general"),
  message: Line,
  path: z.string().trim().min(1).max(4_096).optional(),
  line: z.int().positive().optional(),
  column: z.int().positive().optional(),
  suggested_fix: z.string().max(200_000).optional(),
  /** What the fix takes the place of, word for word. With it the fix becomes a proposal. */
  replaces: z.string().min(1).max(200_000).optional(),
})

const ReportedArtifact = z.discriminatedUnion("type", [
  FileModificationArtifact.extend({
    old_content: z.string().max(4_000_000).optional(),
    new_content: z.string().max(4_000_000).optional(),
    edits: z
      .array(z.strictObject({ old_string: z.string().min(1), new_string: z.string() }))
      .max(1_000)
      .optional(),
    reason: z.string().max(20_000).default(""),
    confidence: Confidence.default("medium"),
  }),
  DecisionArtifact.partial({ id: true }),
  MessageArtifact.extend({
    role: MessageArtifact.shape.role.default("assistant"),
    visibility: MessageArtifact.shape.visibility.default("user_visible"),
  }),
  FindingArtifact,
])

/** What a child sends with `pass_over_return`. Unknown fields are refused, so that nothing is lost in silence. */
export const Report = z.strictObject({
  status: z.enum(["completed", "partial", "failed"]).default("completed"),
  decision: ReviewDecision.optional(),
  decision_reason: z.string().trim().max(20_000).optional(),
  findings: z
    .array(z.union([ReportedFinding, Line]))
    .max(1_000)
    .default([]),
  recommendations: z.array(Line).max(1_000).optional(),
  artifacts: z.array(ReportedArtifact).max(1_000).default([]),
  evidence: z.array(Evidence).max(500).optional(),
  auto_apply_allowed: z.boolean().default(false),
})
export type Report = z.infer<typeof Report>

type Reported = z.infer<typeof ReportedFinding>

const finding = (item: Reported | string): FindingArtifact => {
  if (typeof item === "string") return { type: "finding", severity: "warning", category: "general", message: item }
  const { path, line, column, suggested_fix, replaces: _replaces, ...rest } = item
  return {
    type: "finding",
    ...rest,
    ...(path ? { location: { path, ...(line ? { line } : {}), ...(column ? { column } : {}) } } : {}),
    ...(suggested_fix === undefined ? {} : { suggested_fix }),
  }
}

/** A report, or what is wrong with it in words that its writer can act on. */
export function readReport(value: unknown): { ok: true; report: Report } | { ok: false; problem: string } {
  const parsed = Report.safeParse(value)
  if (parsed.success) return { ok: true, report: parsed.data }
  return { ok: false, problem: z.prettifyError(parsed.error) }
}

/** The report's own artifacts: what the child says, as opposed to what it was seen doing. */
export function reported(report: Report, id: (index: number) => string): WorkArtifact[] {
  const given = report.artifacts.map((artifact, index): WorkArtifact => {
    if (artifact.type === "decision") return { ...artifact, id: artifact.id ?? id(index) }
    if (artifact.type !== "file_modification") return artifact
    const { edits: _edits, old_content = "", new_content = "", ...rest } = artifact
    return { ...rest, old_content, new_content }
  })
  return withMerged(report.findings.map(finding), given)
}

/** "src/total.ts:12 sums the wrong column", one line a finding. */
export const findingLine = (item: FindingArtifact) => [place(item.location), item.message].filter(Boolean).join(" ")

const TELLS = {
  file_modification: ({ old_content, new_content, edits, deleted }) =>
    deleted === true || (edits ?? []).length > 0 || (old_content ?? "") !== (new_content ?? ""),
  decision: ({ question, reasoning }) => `${question}${reasoning}`.trim() !== "",
  message: ({ content }) => content.trim() !== "",
  finding: ({ message }) => message.trim() !== "",
} as const satisfies { [T in Report["artifacts"][number] as T["type"]]: (artifact: T) => boolean }

const tells = (artifact: Report["artifacts"][number]) =>
  (TELLS[artifact.type] as (one: typeof artifact) => boolean)(artifact)

/** Whether there is anything that a reader could act on: a decision, a finding, an artifact, a reason, a recommendation. */
export const says = (report: Report) =>
  report.decision !== undefined ||
  Boolean(report.decision_reason) ||
  report.findings.length > 0 ||
  report.artifacts.some(tells) ||
  (report.recommendations ?? []).length > 0
