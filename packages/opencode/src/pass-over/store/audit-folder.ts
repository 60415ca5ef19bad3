import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import { leavesProject } from "../domain/log-directory"
import { codeOf } from "./tree/barred"

const invalid = (log_directory: string, why: string) =>
  new PassOverError(
    PassOverErrorCode.CONFIG_INVALID,
    `audit.log_directory "${log_directory}" ${why}: the audit log stays inside the project.`,
    {
      suggestedAction: 'Name a folder below the project, such as ".opencode/pass-over-logs".',
      context: { log_directory },
    },
  )

const within = (folder: string, path: string) => {
  const way = relative(folder, path)
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Where a project's log lies. A way out of the project, also one over a link, is an E030. */
export function auditFolder(directory: string, log_directory: string): string {
  const problem = leavesProject(log_directory)
  if (problem) throw invalid(log_directory, problem)
  const folder = resolve(directory, log_directory)
  if (!within(directory, folder)) throw invalid(log_directory, "is not below the project")
  const real = existsSync(directory) ? realpathSync(directory) : directory
  // Piece by piece: the folder itself may not be there yet, and a link may be anywhere on the way.
  let at = directory
  for (const piece of relative(directory, folder).split(sep)) {
    at = join(at, piece)
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (!found) break
    if (found.isSymbolicLink() && (!existsSync(at) || !within(real, realpathSync(at)))) {
      throw invalid(log_directory, `leads out of the project over the link ${relative(directory, at)}`)
    }
  }
  return folder
}

/** Our folders inside a user's project never show up in its `git status`. */
export function ensureFolder(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ignore = join(folder, ".gitignore")
  if (existsSync(ignore)) return
  try {
    // Where a link lies that leads nowhere, nothing is made at its end.
    writeFileSync(ignore, "*\n", { flag: "wx" })
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
}

/** What lies in the place of a log file or of its folder, and is neither: nothing is written through it. */
export const strange = (path: string) =>
  new PassOverError(
    PassOverErrorCode.PERMISSION_DENIED,
    `${path} is a link or no plain file: the audit log is not written there.`,
    { suggestedAction: "Take it away; the lines are in the database and are written as soon as it is gone." },
  )

/** The folder of a month, made where it is missing. */
export function monthFolder(path: string) {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
    if (!lstatSync(path).isDirectory()) throw strange(path)
  }
}

/** Whether a log file and the folder of its month are what they seem. */
export const plainLog = (path: string) =>
  lstatSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() === true &&
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true

const MONTH = /^\d{4}-\d\d$/
const FILE = /^session-.+-passes\.jsonl$/

/** All log files of a folder, the oldest month first. Links are not followed: they are not ours. */
export function logFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  const months = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && MONTH.test(entry.name))
    .map((entry) => entry.name)
    .toSorted()
  return months.flatMap((month) =>
    readdirSync(join(folder, month), { withFileTypes: true })
      .filter((entry) => entry.isFile() && FILE.test(entry.name))
      .map((entry) => join(folder, month, entry.name))
      .toSorted(),
  )
}
