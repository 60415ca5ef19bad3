import { createHash, randomBytes } from "node:crypto"
import { DEFAULTS, ORIGINATORS } from "./agent/agent"
import { headless, userName } from "./identity"
import { keep, type Keeper } from "./keeper"
import { databasePath } from "./paths"
import { createPassOver } from "./pass-over"
import { PassID } from "./pass-over/domain/id"
import type { Engine } from "./pass-over/service/engine"
import type { Clock, Ids, Log } from "./pass-over/service/port"
import { createNursery } from "./session/nursery"
import { runCommand } from "./session/run-command"
import { tokens } from "./session/tokens"
import { createTurns } from "./session/turns"
import { STANDBY } from "./standby/name"
import { sweepSurfaces } from "./surface"
import { createTrouble, type Trouble } from "./trouble"

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

/** opencode has one thread for all of its projects. */
export const turns = createTurns(clock)

export const nursery = createNursery()

const uuid = () => Bun.randomUUIDv7()

export const ids: Ids = {
  pass: () => PassID.parse(uuid()),
  make: (prefix) => `${prefix}_${uuid().replaceAll("-", "")}`,
  nonce: () => randomBytes(16).toString("hex"),
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

export { databasePath, globalConfigPath } from "./paths"

export type Runtime = { ok: true; engine: Engine; keeper: Keeper } | { ok: false; problem: string }

const opened = new Map<string, Runtime>()
const troubles = new Map<string, Trouble>()

/** What is wrong with the database of this process. */
export function troubleHere(path = databasePath()): Trouble {
  const known = troubles.get(path) ?? createTrouble(clock)
  troubles.set(path, known)
  return known
}

function open(path: string): Runtime {
  const made = createPassOver({
    path,
    health: troubleHere(path),
    clock,
    ids,
    tokens,
    hash,
    log,
    owner_id: ids.make("own"),
    user_id: userName(),
    // An opencode that was started for a pass alone has nobody before it either.
    headless: headless() || STANDBY !== undefined,
    run: runCommand,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  })
  return made.ok ? { ...made, keeper: keep(made.engine) } : made
}

/** By which names this process owns passes. */
export const owners = () => [...opened.values()].flatMap((each) => (each.ok ? [each.engine.owner_id] : []))

// Through whom opencode's log is reached: the engine outlives the project that it was made for.
const voices = { open: new Set<Log>(), last: undefined as Log | undefined }
const log: Log = (...line) => ([...voices.open].at(-1) ?? voices.last)?.(...line)

/** A project is closed. Nothing is logged through it any more, unless there is no other. */
export function silence(voice: Log) {
  voices.open.delete(voice)
  voices.last = voice
}

/** The engine of this process, shared by all the projects that it has open. What could not be opened is tried again. */
export function runtime(voice: Log): Runtime {
  voices.open.add(voice)
  const path = databasePath()
  const known = opened.get(path)
  if (known?.ok) return known
  const made = open(path)
  opened.set(path, made)
  sweepSurfaces()
  return made
}
