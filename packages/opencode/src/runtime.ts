import { createHash, randomBytes } from "node:crypto"
import { homedir, hostname } from "node:os"
import { join } from "node:path"
import { DEFAULTS, ORIGINATORS } from "./agent/agent"
import { processStart, userName } from "./identity"
import { createPassOver, type PassOver } from "./pass-over"
import { PassID } from "./pass-over/domain/id"
import type { Clock, Ids, Log } from "./pass-over/service/port"
import { tokens } from "./session/tokens"

const HEARTBEAT_MS = 5_000

export const clock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    // A pass alone does not keep a process alive that wants to end.
    timer.unref()
    return () => clearTimeout(timer)
  },
}

const uuid = () => Bun.randomUUIDv7()

export const ids: Ids = {
  pass: () => PassID.parse(uuid()),
  make: (prefix) => `${prefix}_${uuid().replaceAll("-", "")}`,
  nonce: () => randomBytes(16).toString("hex"),
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

const xdg = (name: string, fallback: string) => process.env[name] || join(homedir(), fallback)

/** Where our database lies: beside opencode's own, in a file of its own. */
export const databasePath = () =>
  process.env.PASS_OVER_DB || join(xdg("XDG_DATA_HOME", ".local/share"), "opencode", "pass-over.db")

/** The user's preferences for all projects. */
export const globalConfigPath = () => join(xdg("XDG_CONFIG_HOME", ".config"), "opencode", "pass-over.json")

const opened = new Map<string, PassOver>()

/** The engine of this process, shared by all the projects that it has open. */
export function runtime(log: Log): PassOver {
  const path = databasePath()
  const known = opened.get(path)
  if (known?.ok) return known
  const owner_id = ids.make("own")
  const made = createPassOver({
    path,
    clock,
    ids,
    tokens,
    hash,
    log,
    owner_id,
    user_id: userName(),
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  })
  opened.set(path, made)
  if (made.ok) keepAlive(made.engine.store, owner_id, log)
  return made
}

type Owners = Pick<Extract<PassOver, { ok: true }>["engine"]["store"], "enter" | "beat">

function keepAlive(store: Owners, owner_id: `own_${string}`, log: Log) {
  const failed = (error: unknown) => log("warn", "the owner's heartbeat could not be written", { error: String(error) })
  const owner = {
    owner_id,
    pid: process.pid,
    process_start: processStart() ?? String(Math.round(Date.now() - performance.now())),
    host: hostname(),
  }
  store.enter(owner, Date.now()).catch(failed)
  setInterval(() => void store.beat(owner_id, Date.now()).catch(failed), HEARTBEAT_MS).unref()
}
