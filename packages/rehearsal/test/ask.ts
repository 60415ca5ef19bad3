import type { Model } from "../src/index"

export type Ask = {
  agent?: string
  session?: string
  text?: string
  messages?: unknown[]
  tools?: unknown[]
  stream?: boolean
  signal?: AbortSignal
}

export type Chunk = {
  choices: { delta: Delta; finish_reason: string | null }[]
  usage?: { prompt_tokens: number; completion_tokens: number }
}

export type Delta = {
  content?: string
  reasoning_content?: string
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
}

/** A plain client: what it received until the end or the break of the stream. */
export type Received = { status: number; headers: Headers; body: string; broken: boolean }

export async function ask(model: Model, input: Ask = {}): Promise<Received> {
  const response = await post(model, input)
  const decoder = new TextDecoder()
  const received = { status: response.status, headers: response.headers, body: "", broken: false }
  try {
    for await (const bytes of response.body ?? []) received.body += decoder.decode(bytes, { stream: true })
  } catch {
    received.broken = true
  }
  return received
}

export function post(model: Model, input: Ask = {}) {
  const { agent = "build", session = "ses_1", text = "hi" } = input
  return fetch(`${model.url}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-rehearsal-agent": encodeURIComponent(agent),
      "x-rehearsal-session": session,
    },
    body: JSON.stringify({
      model: "script",
      stream: input.stream ?? true,
      messages: input.messages ?? [{ role: "user", content: text }],
      tools: input.tools ?? [],
    }),
    ...(input.signal ? { signal: input.signal } : {}),
  })
}

const lines = (body: string) => body.split("\n\n").filter((line) => line.startsWith("data: "))

export const isComplete = (body: string) => lines(body).at(-1) === "data: [DONE]"

export const chunksOf = (body: string): Chunk[] =>
  lines(body)
    .filter((line) => line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice("data: ".length)))

export const deltasOf = (body: string) => chunksOf(body).flatMap((chunk) => chunk.choices.map((choice) => choice.delta))

export const textOf = (body: string) =>
  deltasOf(body)
    .map((delta) => delta.content ?? "")
    .join("")
