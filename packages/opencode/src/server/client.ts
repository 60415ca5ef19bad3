import { randomBytes } from "node:crypto"
import { hc } from "hono/client"
import { readAddress } from "./address"
import type { Routes } from "./app"
import { equal, openSecret, proof } from "./secret"

export type Found = { url: string; secret: string; api: ReturnType<typeof hc<Routes>> }

const QUICK_MS = 2_000

/** Whether it is really our server that listens there. The secret is not sent to anybody who cannot prove to know it. */
async function proven(port: number, secret: string): Promise<boolean> {
  const nonce = randomBytes(24).toString("base64url")
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/pass-over/hello`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ nonce }),
      redirect: "error",
      signal: AbortSignal.timeout(QUICK_MS),
    })
    const said: unknown = await answer.json()
    if (typeof said !== "object" || said === null || !("proof" in said) || typeof said.proof !== "string") return false
    return equal(said.proof, proof(secret, nonce, port))
  } catch {
    return false
  }
}

/** The server of this user, if it is there. */
export async function findServer(folder: string): Promise<Found | undefined> {
  const address = readAddress(folder)
  if (!address) return
  const secret = openSecret(folder).read()
  if (!(await proven(address.port, secret))) return
  const url = `http://127.0.0.1:${address.port}`
  return { url, secret, api: hc<Routes>(url, { headers: { authorization: `Bearer ${secret}` } }) }
}

export type Starting = {
  folder: string
  /** Starts the process and returns at once. */
  start: () => void
  patience_ms?: number
}

/** The server of this user, started where there is none. */
export async function reachServer({ folder, start, patience_ms = 10_000 }: Starting): Promise<Found | undefined> {
  const known = await findServer(folder)
  if (known) return known
  start()
  const until = performance.now() + patience_ms
  while (performance.now() < until) {
    const found = await findServer(folder)
    if (found) return found
    await Bun.sleep(50)
  }
  return undefined
}

/** Starts `command` on its own: it outlives us, and its output goes nowhere. opencode's binary is a whole Bun when told. */
export function detach(command: readonly string[], env: Record<string, string | undefined> = process.env) {
  Bun.spawn([...command], {
    env: { ...env, BUN_BE_BUN: "1" },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  }).unref()
}

/** A link that opens the panel signed in, once and within a minute. The ticket is in the fragment: it is in no log. */
export async function panelLink({ url, api }: Found): Promise<string> {
  const answer = await api.api["pass-over"].tickets.$post({}, { headers: { "content-type": "application/json" } })
  const { ticket } = await answer.json()
  return `${url}/#ticket=${ticket}`
}
