import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Pass } from "../pass-over/domain/pass"
import type { Outcome } from "../pass-over/service/port"
import { Stop } from "./command"
import { EXIT } from "./exit"
import { sarif } from "./sarif"

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Stops a command whose result could not be written in the end, before anything is paid for it. */
export function writable(path: string) {
  const fresh = !existsSync(path)
  try {
    mkdirSync(dirname(path), { recursive: true })
    closeSync(openSync(path, "a"))
    if (fresh) rmSync(path)
  } catch (error) {
    throw new Stop(EXIT.usage, `${path} cannot be written: ${why(error)}.`, "Name another file with --sarif.", "USAGE")
  }
}

/** Writes the findings of a pass, or says why that went wrong. */
export function writeSarif(path: string, pass: Pass, outcome: Outcome): string | undefined {
  try {
    writeFileSync(path, `${JSON.stringify(sarif(pass, outcome), undefined, 2)}\n`)
    return undefined
  } catch (error) {
    return `${path} cannot be written: ${why(error)}.`
  }
}
