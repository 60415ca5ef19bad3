import type { PluginInput } from "@opencode-ai/plugin"
import { createOpencodeClient, type OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { z } from "zod"

export type Client = OpencodeClient

// The plugin gets a client of the older API. Its configuration carries the in-process fetch and the password header,
// which is all that the newer one needs; without it, a listening server can be reached by its address.
const Inner = z.object({
  _client: z.object({
    getConfig: z.function().optional(),
  }),
})

type Config = { baseUrl?: string; fetch?: typeof fetch; headers?: Headers }

function config(client: unknown): Config {
  if (!Inner.safeParse(client).success) return {}
  const inner = client as { _client: { getConfig?: () => Config } }
  return inner._client.getConfig?.() ?? {}
}

type Given = Pick<PluginInput, "client" | "serverUrl">

/** How opencode is reached from here. */
export type Reach = {
  baseUrl: string
  fetch?: typeof fetch
  headers?: Headers
  /** Whether it listens there. Else the client has an address where nobody is, or somebody else, and its own way in. */
  listens: boolean
}

// What the host gives for an address where it has none.
const NOWHERE = "http://localhost:4096/"

export function reach({ client, serverUrl }: Given): Reach {
  const { baseUrl = serverUrl.href, fetch, headers } = config(client)
  return {
    baseUrl,
    ...(fetch ? { fetch } : {}),
    ...(headers ? { headers } : {}),
    listens: fetch === undefined || serverUrl.href !== NOWHERE,
  }
}

/** A client of opencode's current API that talks to the instance this plugin runs in. */
export function connect(input: Given & Pick<PluginInput, "directory">): Client {
  const { headers, listens: _, ...known } = reach(input)
  return createOpencodeClient({
    ...known,
    directory: input.directory,
    ...(headers ? { headers: Object.fromEntries(headers.entries()) } : {}),
  })
}

/** What a call brought, or a sentence about why it brought nothing. */
export async function call<T>(what: string, request: Promise<{ data?: T; error?: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await request
  if (error !== undefined || data === undefined || data === null)
    throw new Error(`opencode could not ${what}: ${reason(error)}`)
  return data
}

const Told = z.object({ data: z.object({ message: z.string().min(1) }) })

/** What an answer of opencode's says went wrong. */
export function reason(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === "string") return error
  const told = Told.safeParse(error)
  if (told.success) return told.data.data.message
  return JSON.stringify(error) ?? "no answer"
}
