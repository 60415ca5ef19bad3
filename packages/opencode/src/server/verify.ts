import { isAbsolute } from "node:path"
import { projectConfig } from "../cli/place"
import { openAudit } from "../pass-over"
import { resolveAudit } from "../pass-over/domain/config"
import { PassOverError, PassOverErrorCode } from "../pass-over/domain/errors"
import type { Verified } from "../pass-over/service/port-audit"
import { configFiles } from "../config-files"
import { HttpError } from "./failure"

/** Looks through the log files of a project, wherever its preferences put them. */
export async function verifyProject(path: string, directory: string): Promise<Verified> {
  if (!isAbsolute(directory)) throw new HttpError("BAD_REQUEST", "directory: the whole path of the project is needed.")
  const files = configFiles(() => projectConfig(directory))
  const { log_directory } = resolveAudit(files.read())
  const opened = openAudit({ path, directory, log_directory })
  if (!opened.ok) throw new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, opened.problem)
  try {
    return await opened.audit.verify()
  } finally {
    opened.audit.close()
  }
}
