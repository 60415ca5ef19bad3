import { resolve } from "node:path"
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

const projectOf = ({ directory = process.cwd() }: AuditOf) => resolve(directory)

/** The audit of a project for as long as `work` takes. For the command line, scripts and other plugins. */
export async function withAudit<T>(of: AuditOf, work: (audit: Audit) => Promise<T>): Promise<T> {
  const { path = databasePath() } = of
  const directory = projectOf(of)
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

// As many lines at a time as the audit gives.
const PAGE = 10_000

/** All that fit, page by page; as many as are asked for where somebody says how many. */
async function every(audit: Audit, filters: AuditQueryInput): Promise<AuditLine[]> {
  if (filters.limit !== undefined) return (await audit.query(filters)).lines
  const lines: AuditLine[] = []
  for (let { cursor } = filters; ;) {
    const page = await audit.query({ ...filters, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    lines.push(...page.lines)
    if (page.cursor === null) return lines
    cursor = page.cursor
  }
}

/** The guide's entry (6.1): entries that fit, the newest first; of the project, or of the one that `directory` names. */
export const query = (filters: AuditQueryInput = {}, of: AuditOf = {}): Promise<AuditLine[]> => {
  const directory = filters.directory ?? projectOf(of)
  return withAudit(of, (audit) => every(audit, { ...filters, directory }))
}

export * as AuditLog from "./audit-log"
