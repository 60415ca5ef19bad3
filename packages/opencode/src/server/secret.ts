import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The user's one secret. Whoever can read the file is the user. */
export type Secret = {
  /** As it is now: rotated by another process, it counts from the next request on. */
  read(): string
  rotate(): string
}

const digest = (text: string) => createHash("sha256").update(text).digest()

/** In the same time wherever the two differ. */
export const equal = (a: string, b: string) => timingSafeEqual(digest(a), digest(b))

const sign = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("base64url")

/** The secret in its file, which is made when it is first needed and never readable for others. */
export function openSecret(folder: string): Secret {
  const path = join(folder, "secret")
  let known: { stamp: string; value: string } | undefined

  function write(): string {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const value = randomBytes(32).toString("base64url")
    const fresh = `${path}.${process.pid}.new`
    writeFileSync(fresh, value, { mode: 0o600 })
    renameSync(fresh, path)
    return value
  }

  const stampOf = () => {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
    if (!stat) return
    // A file that was copied here by hand may be open to everybody; from now on it is not.
    if (process.platform !== "win32" && (stat.mode & 0o077n) !== 0n) chmodSync(path, 0o600)
    return `${stat.ino} ${stat.mtimeNs} ${stat.size}`
  }

  function read(): string {
    const stamp = stampOf()
    if (stamp === undefined) {
      write()
      return read()
    }
    if (known?.stamp !== stamp) known = { stamp, value: readFileSync(path, "utf8").trim() }
    // An empty file must not become the empty secret that everybody knows.
    if (known.value.length < 32) {
      write()
      return read()
    }
    return known.value
  }

  return { read, rotate: write }
}

const PANEL_DAYS = 7

/** Keys of panels. */
export type PanelKeys = {
  /** A key of a panel's own: it says until when it holds at most. */
  make(now: number): { key: string; expires_at: number }
  holds(key: string, now: number): boolean
}

/**
 * Keys that nothing but the secret and this process can make or check. When the server has stopped, somebody else may get
 * its port, and a page that is still open shows them its key: by then it opens nothing any more, wherever the next server
 * listens.
 */
export function createPanelKeys(secret: () => string): PanelKeys {
  const own = randomBytes(32).toString("base64url")
  const signed = (body: string) => sign(secret(), `panel:${own}:${body}`)
  return {
    make(now) {
      const expires_at = now + PANEL_DAYS * 24 * 60 * 60 * 1000
      const body = `${expires_at}.${randomBytes(16).toString("base64url")}`
      return { key: `${body}.${signed(body)}`, expires_at }
    },
    holds(key, now) {
      const [expires, random, signature, ...more] = key.split(".")
      if (!expires || !random || !signature || more.length > 0) return false
      if (!equal(signature, signed(`${expires}.${random}`))) return false
      return Number(expires) > now
    },
  }
}

export type Identity = "user" | "panel"

type Known = { secret: () => string; panels: Pick<PanelKeys, "holds"> }

/** Who shows this header, if anybody whom we know. */
export function identify({ secret, panels }: Known, header: string | null, now: number): Identity | undefined {
  const given = /^Bearer ([\w.~+/=-]{1,512})$/i.exec(header ?? "")?.[1]
  if (given === undefined) return
  if (equal(given, secret())) return "user"
  return panels.holds(given, now) ? "panel" : undefined
}

/** What only the right server can answer to a nonce. The port is in it, so that nobody can pass on another's answer. */
export const proof = (secret: string, nonce: string, port: number) => sign(secret, `server:${port}:${nonce}`)

export type Tickets = {
  issue(now: number): { ticket: string; expires_at: number }
  /** Each is good once, and not for long: it stands in a link. */
  redeem(ticket: string, now: number): boolean
}

const TICKET_MS = 60_000
const MOST_TICKETS = 100

export function createTickets(): Tickets {
  const open = new Map<string, number>()
  const name = (ticket: string) => digest(ticket).toString("base64url")
  return {
    issue(now) {
      for (const [key, until] of open) if (until <= now || open.size >= MOST_TICKETS) open.delete(key)
      const ticket = randomBytes(32).toString("base64url")
      const expires_at = now + TICKET_MS
      open.set(name(ticket), expires_at)
      return { ticket, expires_at }
    },
    redeem(ticket, now) {
      const key = name(ticket)
      const until = open.get(key)
      open.delete(key)
      return until !== undefined && until > now
    },
  }
}
