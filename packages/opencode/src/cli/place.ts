import { existsSync, lstatSync, realpathSync, statSync } from "node:fs"
import { dirname, join, parse, sep } from "node:path"
import type { Written } from "../pass-over/domain/config"
import { PassOverError } from "../pass-over/domain/errors"
import { configFiles } from "../config-files"
import { projectFile } from "../pass-over/store/config-place"
import { configContent, globalConfigPath } from "../paths"
import { Stop } from "./command"
import { EXIT, exitFor } from "./exit"
import { readText, type FileText } from "./read-text"

/** The top of the work tree as opencode sees it; the root of the disk where there is no git. */
export function worktreeOf(directory: string): string {
  if (existsSync(join(directory, ".git"))) return directory
  const above = dirname(directory)
  return above === directory ? parse(directory).root : worktreeOf(above)
}

/** Where the project's own settings belong: the top of the work tree, or the folder itself outside of git. */
export function projectRoot(directory: string): string {
  const worktree = worktreeOf(directory)
  return worktree === parse(worktree).root ? directory : worktree
}

/** A folder and those above it up to the project's own. */
export function upwards(directory: string): string[] {
  const root = projectRoot(directory)
  return directory === root || dirname(directory) === directory
    ? [directory]
    : [directory, ...upwards(dirname(directory))]
}

/** The preferences file of the project, whether it is there already or not. */
export function projectConfig(directory: string): string {
  const found = projectFile(directory, worktreeOf(directory))
  return existsSync(found) ? found : join(projectRoot(directory), ".opencode", "pass-over.json")
}

/** As opencode calls it: it compares folders as text, and links are looked through. */
export function real(directory: string): string {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found && !found.isDirectory())
    throw new Stop(EXIT.usage, `${directory} is a file, not a folder.`, "Check --directory.", "USAGE")
  try {
    return realpathSync(directory)
  } catch {
    throw new Stop(EXIT.usage, `There is no folder ${directory}.`, "Check --directory.", "USAGE")
  }
}

const nearest = (path: string): string => (lstatSync(path, { throwIfNoEntry: false }) ? path : nearest(dirname(path)))

/** Where a path really leads; a link that leads nowhere yet is followed by hand. */
function leads(path: string): string | undefined {
  try {
    return realpathSync(nearest(path))
  } catch {
    return undefined
  }
}

/**
 * A project that somebody cloned may hold links; what is written into a project stays in it. The user's own files may
 * be links to wherever they are kept.
 */
export function inProject(path: string, directory: string): string {
  const root = realpathSync(projectRoot(directory))
  const at = leads(path)
  if (at === root || at?.startsWith(root + sep)) return path
  throw new Stop(
    EXIT.failed,
    `${path} leads out of the project over a link${at ? `, to ${at}` : ""}; it is not written.`,
    "Take the link away, or edit the file itself.",
    "E013",
  )
}

export type ConfigPlace = { origin: "project" | "global"; path: string }

export const configPlaces = (directory: string): ConfigPlace[] => [
  { origin: "project", path: projectConfig(directory) },
  { origin: "global", path: globalConfigPath() },
]

export type ConfigText = { origin: Written["origin"]; path: string; file: FileText }

/** The texts that preferences are written in, the strongest first. */
export const configTexts = (directory: string): ConfigText[] => {
  const content = configContent()
  const files = configPlaces(directory).map(({ origin, path }) => ({ origin, path, file: readText(path) }))
  if (!content) return files
  return [{ origin: "environment", path: content.path, file: { state: "text", text: content.text } }, ...files]
}

/** What they say; one that is broken ends the command with its line. */
export function readConfig(directory: string): Written[] {
  const files = configFiles(() => projectConfig(directory))
  try {
    return files.read()
  } catch (error) {
    if (!(error instanceof PassOverError)) throw error
    throw new Stop(exitFor(error.code), error.message, "pass-over config validate names every fault.", error.code)
  }
}
