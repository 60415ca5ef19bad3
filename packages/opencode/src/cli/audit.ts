import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { openAudit } from "../pass-over"
import { resolveAudit } from "../pass-over/domain/config"
import type { Audit, Fault } from "../pass-over/service/port-audit"
import { databasePath } from "../paths"
import { oneLine } from "./clean"
import { Stop } from "./command"
import { workedIn } from "./engine"
import { EXIT } from "./exit"
import type { Output } from "./output"
import { readConfig, upwards } from "./place"

/** The folder whose audit is meant: the nearest that has log files, else where opencode works. */
export async function auditedIn(directory: string): Promise<string> {
  const { log_directory } = resolveAudit(readConfig(directory))
  return upwards(directory).find((folder) => existsSync(resolve(folder, log_directory))) ?? workedIn(directory)
}

/** The audit of the project, for as long as one command; the log folder is the one that its preferences name. */
export async function withAudit<T>(directory: string, work: (audit: Audit) => Promise<T>): Promise<T> {
  const { log_directory } = resolveAudit(readConfig(directory))
  const opened = openAudit({ path: databasePath(), directory, log_directory })
  if (!opened.ok) throw new Stop(EXIT.database, opened.problem, "pass-over doctor says more.", "E014")
  try {
    return await work(opened.audit)
  } finally {
    opened.audit.close()
  }
}

export function printFaults(out: Output, faults: readonly Fault[]) {
  for (const { kind, message } of faults) out.line(`${out.paint("red", kind)} ${oneLine(message)}`)
}
