import type { AuditLine, PassOverAuditEntry } from "../domain/audit-log"
import type { AuditFormat, AuditPage, AuditQueryInput } from "../domain/audit-query"
import type { UpTo } from "./port-retention"

export type Fault = {
  kind: "edited" | "removed" | "added" | "reordered" | "unreadable"
  /** "<file>:<line>" in the log folder, or "database: <session> line <seq>". */
  place: string
  path?: string
  line?: number
  session_id: string | null
  seq?: number
  message: string
}

export type Verified = {
  ok: boolean
  sessions: number
  lines: number
  files: number
  /** Lines that are in the database and have not been written to a file yet. */
  pending: number
  faults: Fault[]
}

export type Restored = {
  ok: boolean
  /** Why nothing was written. */
  refused?: Fault[]
  lines: number
  passes: number
  outcomes: number
  artifacts: number
  /** What the lines do not hold: contents of files, tool results, contexts. */
  omitted: number
}

export type Pruned = {
  lines: number
  files: number
  events: number
  /** Up to where the lines of each session went. */
  gone: UpTo[]
  kept: Fault[]
  /** Sessions that have something old which stays, for now or until somebody has looked after it. */
  left: string[]
}

export type Pruning = {
  retention_days: number
  now: number
  /** How many sessions are looked at; all of them where it is not given. Events go when none is left to look at. */
  most?: number
  /** Those that were looked at before, so that they do not keep the others from their turn. */
  without?: readonly string[]
  /** Only counts. */
  dry?: boolean
}

export type RecordInput = PassOverAuditEntry & { actor: string; error_code?: AuditLine["error_code"] }

/** The audit of one project, over a database and a folder alone: opencode need not run. */
export type Audit = {
  record(entry: RecordInput): Promise<AuditLine>
  query(query?: AuditQueryInput): Promise<AuditPage>
  /** Compares the files with the database and both with their chains; the first fault is the first bad line. */
  verify(): Promise<Verified>
  restore(options?: { force?: boolean }): Promise<Restored>
  /** Removes what is older than the retention: whole months of a session, and only what is in order. */
  prune(options: Pruning): Promise<Pruned>
  export(query: AuditQueryInput, format: AuditFormat, write: (text: string) => void | Promise<void>): Promise<number>
  /** Writes `audit-summary.json` beside the files. */
  summarize(now: number): Promise<void>
  close(): void
}

/** What the store of an engine answers about the audit of all projects; not to be asked in opencode's event loop. */
export type AuditStore = {
  queryAudit(query?: AuditQueryInput): Promise<AuditPage>
}
