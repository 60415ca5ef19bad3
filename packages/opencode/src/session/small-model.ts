import type { LanguageModel } from "ai"
import { MODEL_AGENT } from "../agent/agent"
import { parseModel } from "./host-model"
import { call, type Client } from "./client"

/**
 * The user's small model as the `ai` package knows models. opencode makes the request, in a session of its own that has
 * no tools and is deleted afterwards: no key is read here and no model is named.
 */
export type SmallModel = Extract<Exclude<LanguageModel, string>, { specificationVersion: "v3" }>

type Options = Parameters<SmallModel["doGenerate"]>[0]
type Answer = Awaited<ReturnType<SmallModel["doGenerate"]>>

const DENY_ALL = [{ permission: "*", pattern: "*", action: "deny" as const }]

/** A prompt of messages as one text: what is not text cannot be told to a session this way, and is named. */
export function flatten(prompt: Options["prompt"]): { system: string; text: string } {
  const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : []))
  const said = prompt.flatMap((message) => {
    if (message.role === "system") return []
    const text = message.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n")
    return [{ role: message.role, text }]
  })
  const text = said.length === 1 ? said[0]?.text : said.map((one) => `${one.role}: ${one.text}`).join("\n\n")
  return { system: system.join("\n\n"), text: text ?? "" }
}

async function ask(client: Client, { prompt, abortSignal }: Options) {
  const { system, text } = flatten(prompt)
  const config = await call("tell its configuration", client.config.get())
  const session = await call(
    "make a session",
    client.session.create({ title: "Pass Over: a small question", permission: DENY_ALL }),
  )
  const stop = () => void client.session.abort({ sessionID: session.id }).catch(() => {})
  abortSignal?.addEventListener("abort", stop, { once: true })
  try {
    abortSignal?.throwIfAborted()
    return await call(
      "ask its small model",
      client.session.prompt({
        sessionID: session.id,
        agent: MODEL_AGENT,
        ...parseModel(config.small_model ?? null),
        ...(system ? { system } : {}),
        parts: [{ type: "text", text }],
      }),
    )
  } finally {
    abortSignal?.removeEventListener("abort", stop)
    await client.session.delete({ sessionID: session.id }).catch(() => {})
  }
}

async function generate(client: Client, options: Options): Promise<Answer> {
  const { info, parts } = await ask(client, options)
  if (info.error) throw new Error(`the small model failed: ${JSON.stringify(info.error)}`)
  const text = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\n")
  const { input, output, reasoning, cache } = info.tokens
  return {
    content: [{ type: "text", text }],
    finishReason: { unified: info.finish === "length" ? "length" : "stop", raw: info.finish ?? undefined },
    usage: {
      inputTokens: {
        total: input + cache.read + cache.write,
        noCache: input,
        cacheRead: cache.read,
        cacheWrite: cache.write,
      },
      outputTokens: { total: output + reasoning, text: output, reasoning },
    },
    warnings:
      options.maxOutputTokens === undefined
        ? []
        : [{ type: "unsupported", feature: "maxOutputTokens", details: "opencode sets it from the model" }],
  }
}

const ID = "1"

/** A whole answer in the shape of a stream. */
function streamed({ content, finishReason, usage, warnings }: Answer) {
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("")
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "stream-start" as const, warnings })
      controller.enqueue({ type: "text-start" as const, id: ID })
      controller.enqueue({ type: "text-delta" as const, id: ID, delta: text })
      controller.enqueue({ type: "text-end" as const, id: ID })
      controller.enqueue({ type: "finish" as const, finishReason, usage })
      controller.close()
    },
  })
}

export const createSmallModel = (client: Client): SmallModel => ({
  specificationVersion: "v3",
  provider: "opencode",
  modelId: "small",
  supportedUrls: {},
  doGenerate: (options) => generate(client, options),
  doStream: async (options) => ({ stream: streamed(await generate(client, options)) }),
})

const PATIENCE_MS = 30_000
// Callers count exactly; this only keeps a model that does not stop from filling their hands.
const LONGEST_TOKEN = 16

/** What the small model says to a prompt. The package that asks it is loaded when it is first needed. */
export async function askSmallModel(client: Client, input: { prompt: string; max_tokens: number }): Promise<string> {
  const { generateText } = await import("ai")
  const { text } = await generateText({
    model: createSmallModel(client),
    prompt: input.prompt,
    // The length is not asked for as an option, which opencode cannot take and the package would warn of on the screen.
    maxRetries: 0,
    abortSignal: AbortSignal.timeout(PATIENCE_MS),
  })
  return text.slice(0, input.max_tokens * LONGEST_TOKEN)
}
