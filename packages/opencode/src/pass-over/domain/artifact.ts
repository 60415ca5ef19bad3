import { z } from "zod"

const Text = z.string().max(4_000_000)

export const Confidence = z.enum(["high", "medium", "low"])
export type Confidence = z.infer<typeof Confidence>

/**
 * One file as it was and as it should be. Both contents are exact. An empty old content means that the file is new, and
 * `deleted` that it is to go; its change set knows both for certain.
 */
export const FileModificationArtifact = z.strictObject({
  type: z.literal("file_modification"),
  path: z.string().min(1),
  old_content: Text,
  new_content: Text,
  deleted: z.literal(true).optional(),
  reason: z.string(),
  confidence: Confidence,
})
export type FileModificationArtifact = z.infer<typeof FileModificationArtifact>

export const DecisionArtifact = z.strictObject({
  type: z.literal("decision"),
  id: z.string().min(1),
  question: z.string(),
  answer: z.enum(["yes", "no", "unknown"]),
  reasoning: Text,
  alternatives_considered: z.array(z.string()).optional(),
})
export type DecisionArtifact = z.infer<typeof DecisionArtifact>

export const MessageArtifact = z.strictObject({
  type: z.literal("message"),
  role: z.enum(["assistant", "internal"]),
  content: Text,
  visibility: z.enum(["originator_only", "user_visible"]),
})
export type MessageArtifact = z.infer<typeof MessageArtifact>

export const Severity = z.enum(["error", "warning", "info"])
export type Severity = z.infer<typeof Severity>

export const FindingArtifact = z.strictObject({
  type: z.literal("finding"),
  severity: Severity,
  category: z.string().min(1),
  message: z.string().min(1),
  location: z
    .strictObject({
      path: z.string().min(1),
      line: z.int().positive().optional(),
      column: z.int().positive().optional(),
    })
    .optional(),
  suggested_fix: Text.optional(),
})
export type FindingArtifact = z.infer<typeof FindingArtifact>

export const ToolResultArtifact = z.strictObject({
  type: z.literal("tool_result"),
  tool_name: z.string().min(1),
  call_id: z.string(),
  input: z.record(z.string(), z.unknown()),
  output: z.string(),
  status: z.enum(["success", "error"]),
})
export type ToolResultArtifact = z.infer<typeof ToolResultArtifact>

/** An individual result of a subagent's work. A new kind is added here; one that a child may return also in `report.ts`. */
export const WorkArtifact = z.discriminatedUnion("type", [
  FileModificationArtifact,
  DecisionArtifact,
  MessageArtifact,
  FindingArtifact,
  ToolResultArtifact,
])
export type WorkArtifact = z.infer<typeof WorkArtifact>

const ORDER = { error: 0, warning: 1, info: 2 } as const satisfies Record<Severity, number>

/** The worst first; among equals the order in which they were reported. */
export const bySeverity = (a: { severity: Severity }, b: { severity: Severity }) =>
  ORDER[a.severity] - ORDER[b.severity]

/** "src/total.ts:12:3", as editors and terminals understand it. */
export function place(location: FindingArtifact["location"]): string {
  if (!location) return ""
  return [location.path, location.line, location.line === undefined ? undefined : location.column]
    .filter((piece) => piece !== undefined)
    .join(":")
}
