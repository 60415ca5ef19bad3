import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Where everything of one sandbox lies. */
export type Layout = Record<"root" | "home" | "data" | "config" | "state" | "cache" | "tmp" | "bin" | "project", string>

const ROOMS = ["home", "data", "config", "state", "cache", "tmp", "bin", "project"] as const

/** Makes the directories, and a `bin` with the given programs for the PATH. */
export function createLayout(programs: Record<string, string>): Layout {
  // Real, because opencode compares directories as text and the temporary one is a link on some systems.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "rehearsal-")))
  const rooms = ROOMS.map((name) => [name, join(root, name)] as const)
  for (const [, path] of rooms) mkdirSync(path, { recursive: true })
  const layout = { root, ...Object.fromEntries(rooms) } as Layout
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(layout.bin, name))
  return layout
}

/**
 * Makes a config directory look as if opencode had already installed its plugin package there.
 * Without this, opencode runs npm in it at its first request, and waits.
 */
export function seed(directory: string, version: string) {
  mkdirSync(join(directory, "node_modules"), { recursive: true })
  const lock = { packages: { "": { dependencies: { "@opencode-ai/plugin": version } } } }
  writeFileSync(join(directory, "package-lock.json"), JSON.stringify(lock))
}
