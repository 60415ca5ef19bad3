import { configFiles } from "./config-files"
import { openAudit } from "./pass-over"
import type { AuditLine } from "./pass-over/domain/audit-log"
import type { AuditQueryInput } from "./pass-over/domain/audit-query"
import { resolveAudit } from "./pass-over/domain/config"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"
import type { Audit, RecordInput } from "./pass-over/service/port-audit"
import { projectFile } from "./pass-over/store/config-place"
import { userName } from "./identity"
import { databasePath } from "./paths"

export type AuditOf = {
  /** The project; the working directory where it is not given. */
  directory?: string
  path?: string
}

/** The audit of a project for as long as `work` takes. For the command line, scripts and other plugins. */
export async function withAudit<T>(of: AuditOf, work: (audit: Audit) => Promise<T>): Promise<T> {
  const { directory = process.cwd(), path = databasePath() } = of
  const files = configFiles(() => projectFile(directory, directory))
  const { log_directory } = resolveAudit(files.read())
  const opened = openAudit({ path, directory, log_directory })
  if (!opened.ok) throw new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, opened.problem)
  try {
    return await work(opened.audit)
  } finally {
    opened.audit.close()
  }
}

/** The guide's entry (6.1): writes an entry at the end of its session's chain. */
export const record = (entry: Omit<RecordInput, "actor"> & { actor?: string }, of: AuditOf = {}): Promise<AuditLine> =>
  withAudit(of, (audit) => audit.record({ actor: userName() ?? "script", ...entry }))

/** The guide's entry (6.1): entries that fit, the newest first. */
export const query = async (filters: AuditQueryInput = {}, of: AuditOf = {}): Promise<AuditLine[]> =>
  (await withAudit(of, (audit) => audit.query(filters))).lines

export * as AuditLog from "./audit-log"
