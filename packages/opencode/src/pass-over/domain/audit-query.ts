import { z } from "zod"
import { AuditAction, type AuditLine } from "./audit-log"
import { OutputStatus, ReviewDecision } from "./output"
import { QueryTime } from "./time"

const Name = z.string().trim().min(1)

/** Each of one or several. */
const some = <T extends z.ZodType>(one: T) =>
  z.union([one, z.array(one)]).transform((value): z.output<T>[] => (Array.isArray(value) ? value : [value]))

/** What can be asked of the audit. Every field narrows; times are milliseconds, seconds or ISO 8601. */
export const AuditQuery = z.strictObject({
  directory: Name.optional(),
  session_id: Name.optional(),
  pass_over_id: Name.optional(),
  originating_agent: Name.optional(),
  subagent: Name.optional(),
  action: some(AuditAction).optional(),
  status: some(OutputStatus).optional(),
  decision: some(ReviewDecision).optional(),
  error_code: some(z.string().regex(/^E\d{3}$/, 'An error code is written "E010".')).optional(),
  start_time: QueryTime.optional(),
  end_time: QueryTime.optional(),
  /** Words that all have to occur, in summary, reason, agents or detail; "leak*" is every word that begins like it. */
  text: Name.max(500).optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(100),
  /** From the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}-\d{1,15}$/, "This is no cursor of ours.")
    .optional(),
})
export type AuditQueryInput = z.input<typeof AuditQuery>
export type AuditQuery = z.output<typeof AuditQuery>

/** A page of lines, the newest first. `cursor` leads to the next one, where there is one. */
export type AuditPage = { lines: AuditLine[]; cursor: string | null }

export const FORMATS = ["json", "jsonl", "csv"] as const
export type AuditFormat = (typeof FORMATS)[number]

/** A cell that no spreadsheet takes for a formula and no comma for two cells. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ""
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Lines as text, piece by piece: what stands at the beginning, each line, and what ends it. */
export const writers: Record<
  AuditFormat,
  { head: string; line: (line: AuditLine, columns: readonly string[], first: boolean) => string; tail: string }
> = {
  json: { head: "[\n", line: (line, _columns, first) => `${first ? "" : ",\n"}${JSON.stringify(line)}`, tail: "\n]\n" },
  jsonl: { head: "", line: (line) => `${JSON.stringify(line)}\n`, tail: "" },
  csv: {
    head: "",
    line: (line, columns, first) =>
      `${first ? `${columns.join(",")}\r\n` : ""}${columns.map((name) => cell(line[name as keyof AuditLine])).join(",")}\r\n`,
    tail: "",
  },
}
