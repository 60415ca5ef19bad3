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

/** A client of opencode's current API that talks to the instance this plugin runs in. */
export function connect(input: Pick<PluginInput, "client" | "directory" | "serverUrl">): Client {
  const known = config(input.client)
  return createOpencodeClient({
    baseUrl: known.baseUrl ?? input.serverUrl.href,
    directory: input.directory,
    ...(known.fetch ? { fetch: known.fetch } : {}),
    ...(known.headers ? { headers: Object.fromEntries(known.headers.entries()) } : {}),
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
