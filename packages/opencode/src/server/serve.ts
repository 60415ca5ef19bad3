import { join } from "node:path"
import { createPassOver, openAudit } from "../pass-over"
import type { Log } from "../pass-over/service/port"
import { DEFAULTS, ORIGINATORS } from "../agent/agent"
import { userName } from "../identity"
import { clock, databasePath, ids } from "../runtime"
import { tokens } from "../session/tokens"
import { AUDIT_DEFAULTS } from "../pass-over/domain/preference"
import { runCommand } from "../session/run-command"
import { summonFor } from "../flow/summon"
import { callFor } from "../standby/call"
import { callForRework } from "../standby/rework"
import { folderOf, readAddress, writeAddress } from "./address"
import { createApp } from "./app"
import { createFeed } from "./feed"
import { takeLock } from "./lock"
import { enter } from "./presence"
import { loadPanel } from "./panel"
import { createPanelKeys, createTickets, openSecret } from "./secret"
import { verifyProject } from "./verify"
import { watchDatabase } from "./watch"

export type ServeOptions = {
  database?: string
  /** 0 for one that is free; the last one is taken again where it can be, so that open panels find back, and say that they need a link. */
  port?: number
  /** The folder of the panel's files. */
  panel: string | undefined
  idle_ms?: number
  version: string
  log: Log
}

export type Served =
  | { ok: true; url: string; port: number; stopped: Promise<"idle" | "asked">; stop(): Promise<void> }
  | { ok: false; reason: "running" | "database"; problem: string }

/** Nobody asked anything and no panel is open for so long: the process goes, and comes back when it is wanted. */
export const IDLE_MS = 15 * 60_000
const LOOKS = 10

const ADDRESS = "127.0.0.1"

// What is too large is answered in our own words, and never read.
const HUGE = 1024 ** 3

type Fetch = (request: Request) => Response | Promise<Response>

function listen(fetch: Fetch, port: number, fallback: number) {
  const at = (port: number) => Bun.serve({ hostname: ADDRESS, port, fetch, idleTimeout: 0, maxRequestBodySize: HUGE })
  try {
    return at(port)
  } catch (error) {
    if (port === fallback) throw error
    return at(fallback)
  }
}

function makeCore(database: string, log: Log) {
  return createPassOver({
    path: database,
    clock,
    ids,
    tokens,
    hash: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    log,
    // It runs no passes: what it wants of one goes through a row to its owner. But it may be in the middle of an apply.
    owner_id: ids.make("own"),
    user_id: userName(),
    headless: false,
    run: runCommand,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  })
}

/** The core and the audit of all projects, each over a connection of its own. */
function openCore(database: string, log: Log) {
  const core = makeCore(database, log)
  if (!core.ok) return core
  const audit = openAudit({
    path: database,
    directory: folderOf(database),
    log_directory: AUDIT_DEFAULTS.log_directory,
  })
  if (audit.ok) return { ok: true as const, engine: core.engine, audit: audit.audit }
  core.engine.store.close()
  return audit
}

/** What lets a program in, and what a person. */
function doorOf(folder: string) {
  const secret = openSecret(folder)
  return { secret, tickets: createTickets(), panels: createPanelKeys(secret.read) }
}

/** Serves API and panel for this user until nobody wants them any more. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { database = databasePath(), idle_ms = IDLE_MS, log, version } = options
  const folder = folderOf(database)
  const lock = takeLock(join(folder, "serve.lock"))
  if (!lock) return { ok: false, reason: "running", problem: "Pass Over's server runs already." }
  const core = openCore(database, log)
  if (!core.ok) {
    lock.release()
    return { ok: false, reason: "database", problem: core.problem }
  }
  const { store } = core.engine
  const presence = await enter(core.engine)
  const feed = createFeed({
    store,
    watch: watchDatabase(database),
    failed: (error) => log("warn", "events could not be read", { error: String(error) }),
  })
  const app = createApp(
    {
      engine: core.engine,
      feed,
      audit: core.audit,
      verify: (directory) => verifyProject(database, directory),
      summon: (order) => callFor({ engine: core.engine, order }),
      rework: (wanted) => callForRework(core.engine, wanted),
      carry: (run_id) => summonFor(core.engine, { run_id }),
      ...doorOf(folder),
      port: () => state.port,
      database,
      version,
      user: userName() ?? "user",
    },
    options.panel === undefined ? undefined : loadPanel(options.panel),
  )
  const state = { port: 0, asked: performance.now() }
  const fetch: Fetch = (request) => {
    state.asked = performance.now()
    // Bun sends no body to a HEAD, and how long it would be; Hono would take the body away first, and say that it is empty.
    return app.fetch(request.method === "HEAD" ? new Request(request, { method: "GET" }) : request)
  }
  const wanted = options.port ?? 0
  const server = listen(fetch, wanted === 0 ? (readAddress(folder)?.port ?? 0) : wanted, wanted)
  state.port = server.port ?? 0
  writeAddress(folder, { port: state.port, pid: process.pid, version })

  const over = Promise.withResolvers<"idle" | "asked">()
  const end = async (why: "idle" | "asked") => {
    clearInterval(idle)
    feed.stop()
    await server.stop(true)
    await presence.leave()
    core.audit.close()
    store.close()
    lock.release()
    over.resolve(why)
  }
  const idle = setInterval(
    () => {
      if (feed.readers > 0) state.asked = performance.now()
      if (performance.now() - state.asked > idle_ms) void end("idle")
    },
    Math.max(10, idle_ms / LOOKS),
  )
  return {
    ok: true,
    url: `http://${ADDRESS}:${state.port}`,
    port: state.port,
    stopped: over.promise,
    stop: () => end("asked"),
  }
}
