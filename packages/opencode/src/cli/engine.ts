import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { DEFAULTS, ORIGINATORS } from "../agent/agent"
import { userName } from "../identity"
import { createPassOver } from "../pass-over"
import type { Engine } from "../pass-over/service/engine"
import { databasePath } from "../paths"
import { clock, ids } from "../runtime"
import { runCommand } from "../session/run-command"
import { tokens } from "../session/tokens"
import { Stop } from "./command"
import { EXIT } from "./exit"
import { projectRoot, upwards } from "./place"

/** Who acts on this command line, as the audit names them. */
export const actor = () => userName() ?? "user"

/** The core over the user's database. It runs no passes, so it is no owner of any. */
export const openOutside = () =>
  createPassOver({
    path: databasePath(),
    clock,
    ids,
    tokens,
    hash: (text) => createHash("sha256").update(text).digest("hex"),
    log: () => {},
    owner_id: ids.make("own"),
    user_id: userName(),
    headless: true,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
    run: runCommand,
  })

/** The same, for as long as one command. */
export async function withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const made = openOutside()
  if (!made.ok) throw new Stop(EXIT.database, made.problem, "pass-over doctor says more.", "E014")
  try {
    return await work(made.engine)
  } finally {
    made.engine.store.close()
  }
}

/** For what only reads: where there is no database yet, there is nothing to read, and none is made. */
export const withHistory = async <T>(empty: T, work: (engine: Engine) => Promise<T>): Promise<T> =>
  existsSync(databasePath()) ? withEngine(work) : empty

/**
 * The folder that opencode works in, seen from one inside of it: the nearest that a pass is known of, because opencode
 * may have been opened below the top of the project, else the top.
 */
export async function workedIn(directory: string): Promise<string> {
  const known = await withHistory([], ({ store }) => store.directories())
  const found = upwards(directory).find((folder) => known.some((one) => one.directory === folder))
  return found ?? projectRoot(directory)
}
