import { createHash } from "node:crypto"
import { DEFAULTS, ORIGINATORS } from "../../../src/agent/agent"
import { createPassOver, type PassOverOptions } from "../../../src/pass-over"
import type { Written } from "../../../src/pass-over/domain/config"
import { PassID } from "../../../src/pass-over/domain/id"
import { send, type Ask, type Caller } from "../../../src/pass-over/service/api-send"
import { createEngine, type Engine, type Project } from "../../../src/pass-over/service/engine"
import type { Ids, Log, Store } from "../../../src/pass-over/service/port"
import { createFakeClock, type FakeClock } from "./fake-clock"
import { createScriptedHost, type ScriptedHost } from "./scripted-host"

export type EngineWorld = {
  clock: FakeClock
  host: ScriptedHost
  engine: Engine
  project: Project
  preferences: Written[]
  logged: { level: string; message: string }[]
  ask(more?: Partial<Ask>, caller?: Partial<Caller>): ReturnType<typeof send>
} & Disposable

export type EngineWorldOptions = {
  path?: string
  owner?: string
  seed?: number
  headless?: boolean
  /** Where the ids of its host's sessions begin, for two hosts on one database. */
  serial?: number
  /** The store of another world: two processes on one database. */
  store?: Store
}

/** Ids that count, so that a test reads the same every time. */
export function countingIds(seed = 0): Ids {
  let serial = seed
  const hex = (width: number) => (++serial).toString(16).padStart(width, "0")
  return {
    pass: () => PassID.parse(`01900000-0000-7000-8000-${hex(12)}`),
    make: (prefix) => `${prefix}_${hex(32)}`,
    nonce: () => hex(32),
  }
}

/** The whole engine on a real database with a scripted host and a clock that waits. */
export function createEngineWorld(options: EngineWorldOptions = {}): EngineWorld {
  const clock = createFakeClock()
  const host = createScriptedHost({ after: clock.after, now: clock.now, serial: options.serial ?? 0 })
  const logged: EngineWorld["logged"] = []
  const deps = {
    clock,
    ids: countingIds(options.seed),
    tokens: async () => (text: string) => Math.ceil(text.length / 4),
    hash: (text: string) => createHash("sha256").update(text).digest("hex"),
    log: ((level, message) => void logged.push({ level, message })) as Log,
    owner_id: `own_${(options.owner ?? "1").padStart(32, "0")}` as const,
    user_id: "tester",
    headless: options.headless ?? false,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  } as const
  const engine = options.store
    ? createEngine({ ...deps, store: options.store })
    : opened({ ...deps, path: options.path ?? ":memory:" })
  host.join(engine)
  const preferences: Written[] = []
  const project: Project = { host, directory: "/project", written: async () => preferences, logged: () => {} }
  let calls = options.seed ?? 0
  return {
    clock,
    host,
    engine,
    project,
    preferences,
    logged,
    ask: (more = {}, caller = {}) =>
      send(
        engine,
        project,
        {
          agent: "alice",
          session_id: "ses_root",
          message_id: "msg_root",
          call_id: `call_root${++calls}`,
          by: "model",
          model: null,
          ...caller,
        },
        { subagent: "audit", objective: `Review part ${calls}`, reason: "code_review", ...more },
      ),
    [Symbol.dispose]: () => (options.store ? undefined : engine.store.close()),
  }
}

function opened(options: PassOverOptions): Engine {
  const made = createPassOver(options)
  if (!made.ok) throw new Error(made.problem)
  return made.engine
}
