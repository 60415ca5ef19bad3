import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DEFAULTS, ORIGINATORS } from "../../../src/agent/agent"
import { createPassOver, openAudit } from "../../../src/pass-over"
import type { StartOrder } from "../../../src/pass-over/domain/start"
import type { Engine } from "../../../src/pass-over/service/engine"
import { createApp } from "../../../src/server/app"
import type { ServerDeps } from "../../../src/server/deps"
import { createFeed } from "../../../src/server/feed"
import type { Panel } from "../../../src/server/panel"
import { verifyProject } from "../../../src/server/verify"
import { createPanelKeys, createTickets, openSecret } from "../../../src/server/secret"
import { clock, ids } from "../../../src/runtime"

export const PORT = 4_097
export const BASE = "/api/pass-over"

export type TestServer = Disposable & {
  app: ReturnType<typeof createApp>
  deps: ServerDeps
  engine: Engine
  folder: string
  path: string
  logged: string[]
  /** What an opencode would have been started for. */
  summoned: StartOrder[]
  /** Runs that somebody was to carry. */
  carried: string[]
  /** Commands to do something again that an opencode would have been started for. */
  reworked: string[]
  /** Asks with the secret, as the panel would; whatever is given replaces that. */
  ask(path: string, init?: Asked): Promise<Response>
  get<T = Record<string, unknown>>(path: string): Promise<T>
}

export type Asked = Omit<RequestInit, "headers"> & { headers?: Record<string, string | undefined> }

export type TestServerOptions = { path?: string; panel?: Panel; poll_ms?: number; beat_ms?: number; now?: () => number }

/** The whole server but its socket, on a real database file. */
export function createTestServer(options: TestServerOptions = {}): TestServer {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-server-"))
  const path = options.path ?? join(folder, "pass-over.db")
  const logged: string[] = []
  const summoned: StartOrder[] = []
  const carried: string[] = []
  const reworked: string[] = []
  const made = createPassOver({
    path,
    clock: { ...clock, ...(options.now ? { now: options.now } : {}) },
    ids,
    tokens: async () => (text: string) => Math.ceil(text.length / 4),
    hash: (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    log: (_level, message, detail) => void logged.push(`${message} ${JSON.stringify(detail ?? {})}`),
    owner_id: `own_${"f".repeat(32)}`,
    user_id: "tester",
    headless: false,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
  })
  if (!made.ok) throw new Error(made.problem)
  const { engine } = made
  const audit = openAudit({ path, directory: folder, log_directory: "logs" })
  if (!audit.ok) throw new Error(audit.problem)
  const feed = createFeed({
    store: engine.store,
    poll_ms: options.poll_ms ?? 5,
    ...(options.beat_ms === undefined ? {} : { beat_ms: options.beat_ms }),
    failed: (error) => void logged.push(String(error)),
  })
  const secret = openSecret(join(folder, "pass-over"))
  const deps: ServerDeps = {
    engine,
    feed,
    audit: audit.audit,
    verify: (directory) => verifyProject(path, directory),
    summon: async (order) => void summoned.push(order),
    rework: async ({ command_id }) => void reworked.push(command_id),
    carry: async (run_id) => void carried.push(run_id),
    secret,
    tickets: createTickets(),
    panels: createPanelKeys(secret.read),
    port: () => PORT,
    database: path,
    version: "0.0.0-test",
    user: "tester",
  }
  const app = createApp(deps, options.panel)
  const ask: TestServer["ask"] = async (to, init = {}) => {
    const headers = {
      host: `127.0.0.1:${PORT}`,
      authorization: `Bearer ${secret.read()}`,
      ...(init.method === "POST" || init.method === "PUT" ? { "content-type": "application/json" } : {}),
      ...init.headers,
    }
    const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return app.request(`http://127.0.0.1:${PORT}${to}`, { ...init, headers: given })
  }
  return {
    app,
    deps,
    engine,
    folder,
    path,
    logged,
    summoned,
    carried,
    reworked,
    ask,
    get: async <T>(to: string) => (await (await ask(`${BASE}${to}`)).json()) as T,
    [Symbol.dispose]: () => {
      feed.stop()
      audit.audit.close()
      engine.store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
