import { homedir } from "node:os"
import { dirname, join } from "node:path"

const xdg = (name: string, fallback: string) => process.env[name] || join(homedir(), fallback)

/** Where our database lies: beside opencode's own, in a file of its own. */
export const databasePath = () =>
  process.env.PASS_OVER_DB || join(xdg("XDG_DATA_HOME", ".local/share"), "opencode", "pass-over.db")

/** The user's preferences for all projects. */
export const globalConfigPath = () => join(xdg("XDG_CONFIG_HOME", ".config"), "opencode", "pass-over.json")

const CONFIG_CONTENT = "PASS_OVER_CONFIG_CONTENT"

/** Preferences as text, from whoever starts the process. Nothing where the variable is empty, as a shell clears it. */
export function configContent() {
  const text = process.env[CONFIG_CONTENT]
  return text ? { path: CONFIG_CONTENT, text } : undefined
}

/** Small files of ours beside the database. */
export const dataFolder = () => join(dirname(databasePath()), "pass-over")

export const SURFACE = "terminal-"

/** There while the terminal of a process puts our questions itself; it says which process that is (`surface.ts`). */
export const surfacePath = (pid: number) => join(dataFolder(), `${SURFACE}${pid}`)
