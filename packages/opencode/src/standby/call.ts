import { randomBytes } from "node:crypto"
import { closeSync, openSync, readFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { alive } from "../identity"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import type { StartOrder } from "../pass-over/domain/start"
import type { Engine } from "../pass-over/service/engine"
import { refuseStart, startSettled } from "../pass-over/service/start"
import { takeLock } from "../server/lock"
import { opencodeBinary } from "./binary"
import { STANDBY_NAME, standbyLock, standbyLog, standbyTurn } from "./name"

// An opencode that has the project open looks four times a second, where nothing else keeps it busy.
const GRACE_MS = 2_000
const START_MS = 30_000
const LOAD_MS = 20_000
const LOOK_MS = 100

const INSTALL = "Install opencode (https://opencode.ai), or name its binary with PASS_OVER_OPENCODE."

async function freePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

/** What an opencode is wanted for. */
export type Wanted = {
  directory: string
  /** Whether nobody has taken it up yet. */
  pending(): Promise<boolean>
  /** Nobody will. */
  refuse(refusal: Refusal): Promise<unknown>
}

type Calling = { engine: Engine; wanted: Wanted; env?: Readonly<Record<string, string | undefined>> }

const pending = ({ wanted }: Calling) => wanted.pending()

/** Whether an opencode is there that may have the project open. */
async function anybody({ engine }: Calling): Promise<boolean> {
  const owners = await engine.store.owners()
  return owners.some((owner) => !("lost" in owner) && owner.owner_id !== engine.owner_id && alive(owner) !== "dead")
}

const pause = () => Bun.sleep(LOOK_MS)

/** Waits until the order is taken up, if it is. */
async function taken(calling: Calling, patience_ms: number, gone: () => boolean = () => false): Promise<boolean> {
  const until = performance.now() + patience_ms
  while (await pending(calling)) {
    if (gone() || performance.now() > until) return false
    await pause()
  }
  return true
}

type Child = { pid: number; url: string; password: string; log: string; gone(): boolean }

/** A request that comes before opencode says that it listens is never answered. */
async function listens({ log, gone }: Child): Promise<boolean> {
  const until = performance.now() + START_MS
  while (performance.now() < until && !gone()) {
    if (readFileSync(log, "utf8").includes("listening on")) return true
    await pause()
  }
  return false
}

async function ask({ url, password }: Child, path: string, directory: string): Promise<unknown> {
  const answer = await fetch(`${url}${path}?directory=${encodeURIComponent(directory)}`, {
    headers: { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` },
    redirect: "error",
    signal: AbortSignal.timeout(START_MS),
  })
  return answer.ok ? answer.json() : undefined
}

/**
 * Makes opencode open the project: it loads a project, and its plugins, with the first request for it. Whether there is
 * anybody in it who will take up what is waiting can be seen by its tools; one that does not tell them may have us.
 */
async function opens(child: Child, directory: string): Promise<boolean> {
  const agents = await ask(child, "/agent", directory).catch(() => undefined)
  const tools = await ask(child, "/experimental/tool/ids", directory).catch(() => undefined)
  return agents !== undefined && (!Array.isArray(tools) || tools.includes("pass_over"))
}

async function spawn({ wanted, env = process.env }: Calling, binary: string): Promise<Child> {
  const port = await freePort()
  const password = randomBytes(24).toString("base64url")
  const log = standbyLog(wanted.directory)
  const output = openSync(log, "w", 0o600)
  // What runs this may be opencode's own binary told to be Bun; what is started here has to be opencode.
  const { BUN_BE_BUN: _bun, ...rest } = env
  const child = Bun.spawn([binary, "serve", "--hostname", "127.0.0.1", "--port", String(port)], {
    cwd: wanted.directory,
    env: {
      ...rest,
      OPENCODE_SERVER_USERNAME: "opencode",
      OPENCODE_SERVER_PASSWORD: password,
      [STANDBY_NAME]: wanted.directory,
    },
    stdio: ["ignore", output, output],
    detached: true,
  })
  closeSync(output)
  child.unref()
  const gone = () => child.exitCode !== null || child.signalCode !== null
  return { pid: child.pid, url: `http://127.0.0.1:${port}`, password, log, gone }
}

/** The child with all that it has started: opencode may be behind a script of its installer. */
function kill({ pid, gone }: Child) {
  if (gone()) return
  try {
    process.kill(-pid, "SIGTERM")
  } catch {
    // It was faster.
  }
}

/** Starts an opencode for the project alone. It ends itself when its passes have ended. */
async function start(calling: Calling, binary: string): Promise<boolean> {
  const child = await spawn(calling, binary)
  const opened = (await listens(child)) && (await opens(child, calling.wanted.directory))
  if (opened && (await taken(calling, LOAD_MS, child.gone))) return true
  // Without our plugin in it nobody would ever end it.
  kill(child)
  return !(await pending(calling))
}

const no = (message: string, suggestion: string) =>
  refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, message, { suggestion })

async function startOne(calling: Calling) {
  const { wanted, env } = calling
  const binary = opencodeBinary(env)
  if (binary === undefined) {
    const none = no("No opencode has this project open, and none is found to start.", INSTALL)
    return void (await wanted.refuse(none))
  }
  if (await start(calling, binary)) return
  const message = `${binary} was started in ${wanted.directory}, but Pass Over did not load there.`
  const advice = "Run pass-over init there, and pass-over doctor to see what is wrong."
  await wanted.refuse(no(message, advice))
}

const held = (path: string) => {
  const lock = takeLock(path)
  lock?.release()
  return lock === undefined
}

async function answer(calling: Calling): Promise<void> {
  const { directory } = calling.wanted
  if ((await anybody(calling)) && (await taken(calling, GRACE_MS))) return
  while (await pending(calling)) {
    const turn = takeLock(standbyTurn(directory))
    try {
      // One that was started for this project takes the order up, or is about to go.
      if (turn && !held(standbyLock(directory))) return await startOne(calling)
    } finally {
      turn?.release()
    }
    await pause()
  }
}

/** Sees to it that something is taken up: by an opencode that has the project open, or by one that is started for it. */
export async function summon(calling: Calling): Promise<void> {
  if (!calling.engine.projects.has(calling.wanted.directory)) await answer(calling)
}

type Ordered = { engine: Engine; order: StartOrder; env?: Calling["env"] }

/** Sees to it that an order is taken up. Comes back when it was dealt with, one way or the other. */
export async function callFor({ engine, order, env }: Ordered): Promise<StartOrder> {
  const { start_id, directory } = order
  const wanted: Wanted = {
    directory,
    pending: async () => (await engine.store.start(start_id))?.state === "pending",
    refuse: (refusal) => refuseStart(engine, start_id, refusal),
  }
  await summon({ engine, wanted, ...(env ? { env } : {}) })
  return startSettled(engine, start_id, LOAD_MS)
}
