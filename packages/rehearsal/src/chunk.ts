import type { Piece, Reply, Usage } from "./reply"

/** Fixed, so that a test which says nothing about tokens always sees the same ones. */
export const DEFAULT_USAGE: Usage = { input: 100, output: 10, reasoning: 0, cached: 0 }

/** What every chunk of one answer repeats. */
export type Stamp = { id: string; model: string; created: number }

const FLOOD_CHUNK = 64 * 1024

export const usageOf = (reply: Reply) => {
  const usage = { ...DEFAULT_USAGE, ...reply.usage }
  // The protocol counts cached tokens within the prompt and reasoning within the completion.
  const prompt_tokens = usage.input + usage.cached
  const completion_tokens = usage.output + usage.reasoning
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

export const finishOf = (reply: Reply) =>
  reply.finish ?? (reply.pieces.some((piece) => piece.type === "call") ? "tool_calls" : "stop")

const envelope = (stamp: Stamp) => ({ ...stamp, object: "chat.completion.chunk" })

export const deltaChunk = (stamp: Stamp, delta: object) => ({
  ...envelope(stamp),
  choices: [{ index: 0, delta, finish_reason: null }],
})

export const finishChunk = (stamp: Stamp, reply: Reply) => ({
  ...envelope(stamp),
  choices: [{ index: 0, delta: {}, finish_reason: finishOf(reply) }],
})

export const usageChunk = (stamp: Stamp, reply: Reply) => ({ ...envelope(stamp), choices: [], usage: usageOf(reply) })

export type Call = Extract<Piece, { type: "call" }>

export const argumentsOf = (call: Call) => (typeof call.input === "string" ? call.input : JSON.stringify(call.input))

/** The id of a call nobody named: unique as long as the answer's own id is. */
export const callID = (call: Call, stamp: Stamp, index: number) => call.id ?? `call_${stamp.id}_${index}`

function* split(text: string, size: number | undefined) {
  if (!size || text.length <= size) {
    yield text
    return
  }
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

/** The deltas of one piece; `index` is its place among the calls of the answer. */
export function* deltasOf(piece: Piece, size: number | undefined, stamp: Stamp, index: number): Generator<object> {
  if (piece.type === "text") {
    for (const content of split(piece.text, size)) yield { content }
  }
  if (piece.type === "reasoning") {
    for (const reasoning_content of split(piece.text, size)) yield { reasoning_content }
  }
  if (piece.type === "flood") {
    for (let left = piece.bytes; left > 0; left -= FLOOD_CHUNK)
      yield { content: "x".repeat(Math.min(left, FLOOD_CHUNK)) }
  }
  if (piece.type !== "call") return
  const opening = { index, id: callID(piece, stamp, index), type: "function" }
  yield { tool_calls: [{ ...opening, function: { name: piece.name, arguments: "" } }] }
  for (const text of split(argumentsOf(piece), size)) yield { tool_calls: [{ index, function: { arguments: text } }] }
}

/** The whole answer as one object, for clients that do not stream. */
export function completion(stamp: Stamp, reply: Reply) {
  const text = (type: "text" | "reasoning") =>
    reply.pieces.map((piece) => (piece.type === type ? piece.text : "")).join("")
  const flood = reply.pieces.map((piece) => (piece.type === "flood" ? "x".repeat(piece.bytes) : "")).join("")
  const tool_calls = reply.pieces
    .filter((piece) => piece.type === "call")
    .map((call, index) => ({
      id: callID(call, stamp, index),
      type: "function",
      function: { name: call.name, arguments: argumentsOf(call) },
    }))
  const message = {
    role: "assistant",
    content: text("text") + flood || null,
    ...(text("reasoning") ? { reasoning_content: text("reasoning") } : {}),
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  }
  return {
    ...stamp,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
  }
}
