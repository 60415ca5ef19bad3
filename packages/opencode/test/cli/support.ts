import { mkdirSync } from "node:fs"
import { execute } from "../../src/cli/program"
import { createFolder, type Folder } from "../pass-over/support/folder"

export type Ran = { code: number; out: string; err: string; json: () => unknown }

export type Home = Disposable & {
  folder: Folder
  /** A git project in it. */
  project: string
  database: string
  /** Runs one command line in this process. */
  run(...argv: string[]): Promise<Ran>
  /** The same on a terminal that is so wide and may show colours. */
  on(terminal: { width: number; env?: Record<string, string>; now?: number }, ...argv: string[]): Promise<Ran>
}

const NAMES = [
  "HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "PASS_OVER_DB",
  "PASS_OVER_CONFIG_CONTENT",
  "PASS_OVER_SHELL",
  "PASS_OVER_OPENCODE",
  "OPENCODE_CONFIG_DIR",
] as const

export const NOW = Date.UTC(2026, 10, 18, 12)

/** A home folder of the test's own with an empty project, and nothing of the developer's in reach. */
export function createHome(): Home {
  const folder = createFolder()
  // A test may leave nothing on the PATH; the next one has it again.
  const before = [...NAMES, "PATH"].map((name) => [name, process.env[name]] as const)
  for (const name of NAMES) delete process.env[name]
  process.env.HOME = folder.at("home")
  process.env.XDG_CONFIG_HOME = folder.at("config")
  process.env.XDG_DATA_HOME = folder.at("data")
  process.env.PASS_OVER_DB = folder.at("pass-over.db")
  const project = folder.at("project")
  for (const path of [folder.at("home"), folder.at("config", "opencode"), folder.at("project", ".git")]) {
    mkdirSync(path, { recursive: true })
  }

  const on: Home["on"] = async ({ width, env = {}, now = NOW }, ...argv) => {
    const said = { out: "", err: "" }
    const code = await execute(argv, {
      directory: project,
      version: "1.2.3",
      env: { ...process.env, ...env },
      tty: width > 0,
      error_tty: false,
      width: width || undefined,
      now: () => now,
      write: (text) => void (said.out += text),
      writeError: (text) => void (said.err += text),
    })
    return { code, ...said, json: () => JSON.parse(said.out) as unknown }
  }
  return {
    folder,
    project,
    database: folder.at("pass-over.db"),
    on,
    run: (...argv) => on({ width: 0 }, ...argv),
    [Symbol.dispose]: () => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        if (value !== undefined) process.env[name] = value
      }
      folder[Symbol.dispose]()
    },
  }
}
