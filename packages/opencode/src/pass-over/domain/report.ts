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
})

const ReportedArtifact = z.discriminatedUnion("type", [
  FileModificationArtifact.extend({ old_content: z.string().default(""), confidence: Confidence.default("medium") }),
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
  auto_apply_allowed: z.boolean().default(false),
})
export type Report = z.infer<typeof Report>

type Reported = z.infer<typeof ReportedFinding>

const finding = (item: Reported | string): FindingArtifact => {
  if (typeof item === "string") return { type: "finding", severity: "warning", category: "general", message: item }
  const { path, line, column, suggested_fix, ...rest } = item
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
  const given = report.artifacts.map((artifact, index) =>
    artifact.type === "decision" ? { ...artifact, id: artifact.id ?? id(index) } : artifact,
  )
  return [...report.findings.map(finding), ...given]
}

/** "src/total.ts:12 sums the wrong column", one line a finding. */
export const findingLine = (item: FindingArtifact) => [place(item.location), item.message].filter(Boolean).join(" ")

const TELLS = {
  file_modification: ({ old_content, new_content }) => old_content !== new_content,
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
