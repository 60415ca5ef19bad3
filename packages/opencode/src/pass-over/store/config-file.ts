import { readFileSync, statSync } from "node:fs"
import type { Written } from "../domain/config"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import type { PassOverPreferences } from "../domain/preference"
import { parseConfig, type Fault } from "./config-text"

/** The guide's entry (3.1). A file that is not as it should be is a PassOverError that names file, line and column. */
export function load(path: string): PassOverPreferences {
  // A pipe or a device in its place would never end.
  if (!statSync(path).isFile())
    throw new PassOverError(PassOverErrorCode.CONFIG_INVALID, `${path} cannot be read: it is not a file`)
  return valid(path, readFileSync(path, "utf8"))
}

function valid(path: string, text: string): PassOverPreferences {
  const file = parseConfig(text)
  if (file.ok) return file.preferences
  throw faulty(path, file.faults)
}

export function faulty(path: string, faults: readonly Fault[]) {
  const [first, ...more] = faults.map((fault) => `${path}:${fault.line}:${fault.column} ${fault.message}`)
  const others = more.length > 0 ? ` (and ${more.length} more)` : ""
  const code = faults[0]?.code ?? PassOverErrorCode.CONFIG_INVALID
  return new PassOverError(code, `${first}${others}`, {
    context: { path, faults: [...faults] },
  })
}

type Read = { stamp: string; good?: PassOverPreferences; error?: PassOverError }
type Reading = { stamp: string; parse: () => PassOverPreferences; before: Read | undefined }

const ABSENT = "absent"

/** What changes whenever a file does. One that is there but cannot be looked at is not the same as none. */
function stampOf(path: string): string {
  try {
    const found = statSync(path)
    return `${found.mtimeMs} ${found.size} ${found.ino}`
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    return code === "ENOENT" || code === "ENOTDIR" ? ABSENT : String(code)
  }
}

export type ConfigFiles = {
  /** What the files say now. A broken file keeps its last good state in force; without one it is a refusal. */
  read(): Written[]
}

export type ConfigOptions = {
  project: () => string
  global: string
  /** Preferences that stand in no file, with what to call their place. */
  content?: { path: string; text: string } | undefined
  /** Told once for each broken state of a file. */
  warn: (message: string) => void
}

const NO_WORK = "Until it is corrected no work is passed on; opencode itself works as before."
const HOLDS_ON = "Until it is corrected, what held before holds on."

// Many end with what was meant: "did you mean `defaults`?"
const stopped = (text: string) => (/[.?!]$/.test(text) ? text : `${text}.`)

/** The two preferences files of a project, read again whenever they change, after what the environment says. */
export function createConfigFiles(options: ConfigOptions): ConfigFiles {
  const known = new Map<string, Read>()

  function current(path: string, stamp: string, parse: () => PassOverPreferences): Read {
    const before = known.get(path)
    if (before?.stamp === stamp) return before
    const now = stamp === ABSENT ? { stamp, good: {} } : read(path, { stamp, parse, before })
    if (now.error) options.warn(`${stopped(now.error.message)} ${before?.good ? HOLDS_ON : NO_WORK}`)
    known.set(path, now)
    return now
  }

  function read(path: string, { stamp, parse, before }: Reading): Read {
    try {
      return { stamp, good: parse() }
    } catch (error) {
      const problem =
        error instanceof PassOverError
          ? error
          : new PassOverError(PassOverErrorCode.CONFIG_INVALID, `${path} cannot be read: ${String(error)}`)
      return { stamp, error: problem, ...(before?.good ? { good: before.good } : {}) }
    }
  }

  const written = (origin: Written["origin"], path: string, { good, error }: Read): Written => {
    if (!good) throw error
    return { origin, path, preferences: good }
  }
  const file = (origin: Written["origin"], path: string) =>
    written(
      origin,
      path,
      current(path, stampOf(path), () => load(path)),
    )

  const environment = ({ path, text }: { path: string; text: string }) =>
    written(
      "environment",
      path,
      current(path, "set", () => valid(path, text)),
    )

  return {
    read: () => [
      ...(options.content ? [environment(options.content)] : []),
      file("project", options.project()),
      file("global", options.global),
    ],
  }
}
