import { createHash } from "node:crypto"
import { join } from "node:path"
import { dataFolder } from "../paths"

/** How an opencode is told that it was started for a project's passes alone. */
export const STANDBY_NAME = "PASS_OVER_STANDBY"

/** The project that this opencode was started for, if it was. What it starts in turn is not told. */
export const STANDBY = process.env[STANDBY_NAME]
delete process.env[STANDBY_NAME]

const at = (directory: string, kind: string) =>
  join(dataFolder(), `standby-${createHash("sha256").update(directory).digest("hex").slice(0, 24)}.${kind}`)

/** One such opencode for each project: whoever holds this is it. */
export const standbyLock = (directory: string) => at(directory, "lock")

/** Who holds this is about to start it. */
export const standbyTurn = (directory: string) => at(directory, "turn")

/** What it prints; nothing, when all is well. */
export const standbyLog = (directory: string) => at(directory, "log")
