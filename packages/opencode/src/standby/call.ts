import { randomBytes } from "node:crypto"
import { closeSync, openSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { once } from "node:events"
import { alive } from "../identity"
import { PassOverErrorCode, refuse } from "../pass-over/domain/errors"
import type { StartOrder } from "../pass-over/domain/start"
import type { Engine } from "../pass-over/service/engine"
import { refuseStart, startSettled } from "../pass-over/service/start"
import { takeLock } from "../server/lock"
import { opencodeBinary } from "./binary"
import { STANDBY_NAME, standbyLock, standbyLog } from "./name"

// An opencode that has the project open looks four times a second.
const GRACE_MS = 1_000
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

type Calling = { engine: Engine; order: StartOrder; env?: Readonly<Record<string, string | undefined>> }

const pending = async ({ engine, order }: Calling) => (await engine.store.start(order.start_id))?.state === "pending"

/** Whether an opencode is there that may have the project open. */
async function anybody({ engine }: Calling): Promise<boolean> {
  const owners = await engine.store.owners()
  return owners.some((owner) => !("lost" in owner) && owner.owner_id !== engine.owner_id && alive(owner) !== "dead")
}

/** Waits until the order is taken up, if it is. */
async function taken(calling: Calling, patience_ms: number, gone: () => boolean = () => false): Promise<boolean> {
  const until = performance.now() + patience_ms
  while (await pending(calling)) {
    if (gone() || performance.now() > until) return false
    await Bun.sleep(LOOK_MS)
  }
  return true
}

/** Makes opencode open the project: it loads a project, and its plugins, with the first request for it. */
async function knock(url: string, directory: string, password: string, gone: () => boolean): Promise<boolean> {
  const headers = { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` }
  const until = performance.now() + START_MS
  while (performance.now() < until && !gone()) {
    const answer = await fetch(`${url}/agent?directory=${encodeURIComponent(directory)}`, {
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(START_MS),
    }).catch(() => undefined)
    if (answer?.ok) return true
    await Bun.sleep(LOOK_MS)
  }
  return false
}

/** Starts an opencode for the project alone. It ends itself when its passes have ended. */
async function start(calling: Calling, binary: string): Promise<boolean> {
  const { order, env = process.env } = calling
  const port = await freePort()
  const log = openSync(standbyLog(order.directory), "w", 0o600)
  const password = randomBytes(24).toString("base64url")
  // What runs this may be opencode's own binary told to be Bun; what is started here has to be opencode.
  const { BUN_BE_BUN: _bun, ...rest } = env
  const child = Bun.spawn([binary, "serve", "--hostname", "127.0.0.1", "--port", String(port)], {
    cwd: order.directory,
    env: {
      ...rest,
      OPENCODE_SERVER_USERNAME: "opencode",
      OPENCODE_SERVER_PASSWORD: password,
      [STANDBY_NAME]: order.directory,
    },
    // opencode does not get ready with its output in /dev/null.
    stdio: ["ignore", log, log],
    detached: true,
  })
  closeSync(log)
  child.unref()
  const gone = () => child.exitCode !== null || child.signalCode !== null
  const opened = await knock(`http://127.0.0.1:${port}`, order.directory, password, gone)
  if (opened && (await taken(calling, LOAD_MS, gone))) return true
  // Without our plugin in it nobody would ever end it.
  if (!gone()) child.kill()
  return !(await pending(calling))
}

/** Waits as long as an opencode is there that was started for this project: it takes the order up, or is about to go. */
async function answered(calling: Calling): Promise<boolean> {
  const until = performance.now() + START_MS
  while (performance.now() < until) {
    const lock = takeLock(standbyLock(calling.order.directory))
    lock?.release()
    if (lock) break
    if (await taken(calling, LOOK_MS)) return true
  }
  return !(await pending(calling))
}

async function answer(calling: Calling): Promise<void> {
  const { engine, order, env } = calling
  if ((await anybody(calling)) && (await taken(calling, GRACE_MS))) return
  if (await answered(calling)) return
  const binary = opencodeBinary(env)
  if (binary === undefined) {
    const message = "No opencode has this project open, and none is found to start."
    const no = refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, message, { suggestion: INSTALL })
    return void (await refuseStart(engine, order.start_id, no))
  }
  // The second of two that start one at the same time finds its own gone again.
  if ((await start(calling, binary)) || (await answered(calling))) return
  const message = `${binary} was started in ${order.directory}, but Pass Over did not load there.`
  const no = refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, message, {
    suggestion: "Run pass-over init there, and pass-over doctor to see what is wrong.",
  })
  await refuseStart(engine, order.start_id, no)
}

/**
 * Sees to it that an order is taken up: by an opencode that has the project open, or by one that is started for it.
 * Comes back when it was dealt with, one way or the other.
 */
export async function callFor(calling: Calling): Promise<StartOrder> {
  const { engine, order } = calling
  if (!engine.projects.has(order.directory)) await answer(calling)
  return startSettled(engine, order.start_id, LOAD_MS)
}
