import { DEFAULTS } from "./agent/agent"
import { projectConfig, projectRoot, upwards } from "./cli/place"
import { configFiles } from "./config-files"
import { folderOf } from "./folder"
import { databasePath } from "./paths"
import { resolve, resolvePreference as resolveFrom, strongestFirst, type Written } from "./pass-over/domain/config"
import type { Effective, InlineOverride } from "./pass-over/domain/preference"
import { peekPreferences } from "./pass-over/store/peek"

/** The guide's other names (3.1), gathered from where they are at home. */
export { load } from "./pass-over/store/config-file"
export { validate } from "./pass-over/domain/config"

/** All the places that say something about a project, the strongest first; the project is the working directory. */
export function written(directory: string = process.cwd()): Written[] {
  const folder = folderOf(directory)
  const preferences = peekPreferences(databasePath(), upwards(folder), projectRoot(folder))
  const files = configFiles(() => projectConfig(folder)).read()
  return strongestFirst([{ origin: "stored", path: "the stored preferences", preferences }, ...files])
}

/**
 * The guide's entry (3.1): what holds for a pair in the project that is the working directory, by everything that says
 * something about it. Who has sources of their own hands them over, and then nothing else counts.
 */
export const resolvePreference = (
  from: string,
  to: string,
  override?: InlineOverride,
  sources?: Written[],
): Effective =>
  sources === undefined
    ? resolve(from, to, { written: written(), agents: DEFAULTS, inline: override }).values
    : resolveFrom(from, to, override, sources)

export * as PassOverConfig from "./preferences"
