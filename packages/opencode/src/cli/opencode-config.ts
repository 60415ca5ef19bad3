import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { globalConfigPath } from "../paths"
import { projectRoot, worktreeOf } from "./place"

/** The user's own configuration folder of opencode. */
export const globalFolder = () => dirname(globalConfigPath())

/** The folders from here up to the top of the work tree, the outermost first. */
function upwards(directory: string): string[] {
  const top = projectRoot(directory)
  const above = dirname(directory)
  return directory === top || above === directory || worktreeOf(directory) !== top
    ? [directory]
    : [...upwards(above), directory]
}

/** Where opencode looks for agents, plugins and configuration: the user's folders, then those of the project. */
export const configFolders = (directory: string): string[] => [
  globalFolder(),
  ...upwards(directory).map((folder) => join(folder, ".opencode")),
  join(homedir(), ".opencode"),
  ...(process.env.OPENCODE_CONFIG_DIR ? [process.env.OPENCODE_CONFIG_DIR] : []),
]

const both = (folder: string, name: string) => [join(folder, `${name}.json`), join(folder, `${name}.jsonc`)]

const there = (paths: readonly string[]) => [...new Set(paths)].filter((path) => existsSync(path))

/** The files of a kind that opencode reads for a project, in its order: later ones win. */
const files = (directory: string, name: string): string[] =>
  there([
    ...both(globalFolder(), name),
    ...upwards(directory).flatMap((folder) => both(folder, name)),
    ...configFolders(directory)
      .slice(1)
      .flatMap((folder) => both(folder, name)),
  ])

export const opencodeConfigs = (directory: string): string[] => [
  ...files(directory, "opencode"),
  ...(process.env.OPENCODE_CONFIG ? there([process.env.OPENCODE_CONFIG]) : []),
]

export const tuiConfigs = (directory: string): string[] => [
  ...files(directory, "tui"),
  ...(process.env.OPENCODE_TUI_CONFIG ? there([process.env.OPENCODE_TUI_CONFIG]) : []),
]

/** The file that a plugin is written into: the one that is there, else a new one in the folder. */
export const target = (folder: string, name: "opencode" | "tui"): string =>
  there(both(folder, name).toReversed())[0] ?? join(folder, `${name}.json`)
