import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { AuditLine } from "../domain/audit-log"

export const SUMMARY = "audit-summary.json"

// Whole chains stay verifiable from the files and the database; this is for their ends, and those of late are enough.
const MOST_HEADS = 200

const Counts = z.record(z.string(), z.number()).default({})
const Points = z.record(z.string(), z.object({ seq: z.int().nonnegative(), hash: z.string() })).default({})

/** §7.2: what the log of a project holds, for people and programs that do not want to read all of it. */
export const AuditSummary = z.object({
  updated_at: z.number().default(0),
  lines: z.number().default(0),
  passes: z.number().default(0),
  first_timestamp: z.number().nullable().default(null),
  last_timestamp: z.number().nullable().default(null),
  by_action: Counts,
  by_status: Counts,
  by_decision: Counts,
  by_originating_agent: Counts,
  by_subagent: Counts,
  by_error_code: Counts,
  /** Where chains begin whose oldest lines were removed. */
  anchors: Points,
  /** How far chains had come when they were written down. */
  heads: Points,
})
export type AuditSummary = z.infer<typeof AuditSummary>

/** The summary beside the files. One that was lost or damaged starts anew; it can always be made again. */
export function readSummary(folder: string): AuditSummary {
  try {
    const path = join(folder, SUMMARY)
    if (!lstatSync(path).isFile()) return AuditSummary.parse({})
    return AuditSummary.parse(JSON.parse(readFileSync(path, "utf8")))
  } catch {
    return AuditSummary.parse({})
  }
}

export function writeSummary(folder: string, summary: AuditSummary) {
  const path = join(folder, SUMMARY)
  const draft = `${path}.${process.pid}`
  // Whole or not at all, but not waited for: it can be made again.
  // What lies there is of a process that ended in between, or a link that is not ours to follow.
  rmSync(draft, { force: true })
  writeFileSync(draft, `${JSON.stringify(summary, undefined, 2)}\n`, { mode: 0o600, flag: "wx" })
  renameSync(draft, path)
}

const more = (counts: Record<string, number>, key: string | null) =>
  key === null ? counts : { ...counts, [key]: (counts[key] ?? 0) + 1 }

function add(summary: AuditSummary, line: AuditLine): AuditSummary {
  const { [line.session_id]: _before, ...heads } = summary.heads
  return {
    ...summary,
    updated_at: Math.max(summary.updated_at, line.timestamp),
    lines: summary.lines + 1,
    passes: summary.passes + (line.action === "requested" ? 1 : 0),
    first_timestamp: Math.min(summary.first_timestamp ?? line.timestamp, line.timestamp),
    last_timestamp: Math.max(summary.last_timestamp ?? line.timestamp, line.timestamp),
    by_action: more(summary.by_action, line.action),
    by_status: more(summary.by_status, line.status),
    by_decision: more(summary.by_decision, line.decision),
    by_originating_agent: more(summary.by_originating_agent, line.originating_agent),
    by_subagent: more(summary.by_subagent, line.subagent),
    by_error_code: more(summary.by_error_code, line.error_code),
    heads: { ...heads, [line.session_id]: { seq: line.seq, hash: line.hash } },
  }
}

/** Adds lines that were just appended. Whoever calls holds the write lock, so that nobody else does so meanwhile. */
export function addToSummary(folder: string, lines: readonly AuditLine[]) {
  if (lines.length === 0) return
  const summary = lines.reduce(add, readSummary(folder))
  const heads = Object.fromEntries(Object.entries(summary.heads).slice(-MOST_HEADS))
  writeSummary(folder, { ...summary, heads })
}
