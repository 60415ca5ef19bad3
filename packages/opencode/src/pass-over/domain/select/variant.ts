import type { ContextMessage, MessagePart } from "../context"
import { clip } from "../clip"
import { condense, type Known } from "./condense"
import { cut } from "./cut"

/** A message as it may go along: whole, condensed, or cut to its head, its tail and what matches. */
export type Variant = { message: ContextMessage; lost: number; cut: boolean }

// A tool's answer longer than this is cut inside, where not everything fits.
export const TOOL_TOKENS = 300
const INPUT = 400

const ROOM = (tokens: number) => tokens * 3.5

function lean(value: unknown, room: number): unknown {
  if (typeof value === "string") return clip(value, room + 1)
  if (typeof value !== "object" || value === null) return value
  const text = JSON.stringify(value)
  return text.length > room * 2 ? clip(text, room * 2 + 1) : value
}

const leanInput = (input: Record<string, unknown>, room: number) =>
  Object.fromEntries(
    Object.entries(input)
      .slice(0, 40)
      .map(([key, value]) => [key, lean(value, room)]),
  )

function tool(part: MessagePart, tokens: number, query: ReadonlySet<number>): { part: MessagePart; cut: boolean } {
  const { tool_output: output, tool_error: error, tool_input: input } = part
  const long = (text: string | undefined) => text !== undefined && text.length > ROOM(tokens)
  return {
    part: {
      ...part,
      ...(input ? { tool_input: leanInput(input, INPUT) } : {}),
      ...(output === undefined ? {} : { tool_output: cut(output, tokens, query) }),
      ...(error === undefined ? {} : { tool_error: cut(error, tokens, query) }),
    },
    cut: long(output) || long(error),
  }
}

/** As much of a message as reads like all of it. What the user said stays word for word. */
export function whole(message: ContextMessage, query: ReadonlySet<number>, may: number, known?: Known): Variant {
  let lost = 0
  let shortened = false
  const parts = message.parts.map((part): MessagePart => {
    if (part.type === "tool") {
      const made = tool(part, TOOL_TOKENS, query)
      shortened ||= made.cut
      return made.part
    }
    if (part.text === undefined) return part
    const made = condense(part.text, query, may, known)
    lost = Math.max(lost, made.lost)
    return { ...part, text: made.text }
  })
  return { message: { ...message, parts }, lost, cut: shortened }
}

/** What a message is about, in so many tokens. */
export function view(message: ContextMessage, query: ReadonlySet<number>, tokens: number): Variant {
  const each = Math.max(8, Math.floor(tokens / Math.max(1, message.parts.length)))
  const parts = message.parts.slice(0, 12).map((part): MessagePart => {
    if (part.type === "tool") {
      const { tool_input: input, ...rest } = tool(part, each, query).part
      return { ...rest, ...(input ? { tool_input: leanInput(input, 80) } : {}) }
    }
    return part.text === undefined ? part : { ...part, text: cut(part.text, each, query) }
  })
  return { message: { ...message, parts }, lost: 1, cut: true }
}
