import { hc } from "hono/client"
import { createSignal } from "solid-js"
import type { Routes } from "../../../opencode/src/server/app"
import { WORDS } from "./words"

const KEY = "pass-over-key"

// For this tab alone, and for the server that gave it: another program that gets its port one day finds a key that opens
// nothing any more.
const [key, setKey] = createSignal(sessionStorage.getItem(KEY))
export const signedIn = () => key() !== null
/** Whether the server has said that it does not know our key any more. */
const [signedOut, setSignedOut] = createSignal(false)
export { signedOut }

export function keep(value: string | null) {
  if (value === null) sessionStorage.removeItem(KEY)
  if (value !== null) sessionStorage.setItem(KEY, value)
  setKey(value)
}

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly suggestion?: string,
  ) {
    super(message)
  }
}

/** The server gave no answer at all: it is away, or the way to it is. What the browser calls it helps nobody. */
export class Unreachable extends Error {
  constructor() {
    super(WORDS.state.unreachable)
  }
}

type Said = { error?: { code?: string; message?: string; suggestion?: string } }

const ours: typeof fetch = Object.assign(
  async (input: RequestInfo | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers)
    const secret = key()
    if (secret !== null) headers.set("authorization", `Bearer ${secret}`)
    if (init?.method !== undefined && init.method !== "GET") headers.set("content-type", "application/json")
    const answer = await fetch(input, { ...init, headers }).catch((caught: unknown) => {
      throw init?.signal?.aborted ? caught : new Unreachable()
    })
    if (answer.ok) return answer
    if (answer.status === 401 && secret !== null && secret === key()) {
      setSignedOut(true)
      keep(null)
    }
    const said = (await answer.json().catch(() => ({}))) as Said
    throw new ApiError(
      said.error?.code ?? String(answer.status),
      said.error?.message ?? answer.statusText,
      said.error?.suggestion,
    )
  },
  { preconnect: () => {} },
)

export const api = hc<Routes>(location.origin, { fetch: ours }).api["pass-over"]
export const request = ours

/** Exchanges the ticket of a link for a key of this tab's own. */
export async function signIn(ticket: string) {
  const answer = await api["sign-in"].$post({ json: { ticket } })
  const { key } = await answer.json()
  setSignedOut(false)
  keep(key)
}
