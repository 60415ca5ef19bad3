/** Logs of other systems as the selection sees them; `src/context.ts` is the way in from outside. */
import { messageText } from "../brief"
import { byteLength } from "../bytes"
import type { ContextMessage } from "../context"
import { choose, type Ask, type Chosen } from "./choose"
import { PERSON } from "./shape"

export type LogMessage = {
  /** As in a chat: "user", "assistant", "system", "tool". Many systems call every agent "user". */
  role?: string | undefined
  agent?: string | undefined
  text: string
  id?: string | undefined
  /** Unix milliseconds, where they are known. */
  timestamp?: number | undefined
}

export type LogAsk = Omit<Ask, "count"> & { messages: readonly LogMessage[]; count: Ask["count"] }

export type LogChoice = {
  text: string
  tokens: number
  bytes: number
  /** One for each message, in order; `ref` is its id, or its place counted from 1. */
  items: Chosen[]
}

// A role is taken at its word only where no other name contradicts it: agents often speak as "user" to each other.
const isPerson = ({ role, agent }: LogMessage) => (agent ? PERSON.test(agent) : role === "user" || role === "human")

export const toContext = (messages: readonly LogMessage[]): ContextMessage[] =>
  messages.map((message, index) => {
    const person = isPerson(message)
    const name = message.agent ?? (person ? undefined : message.role)
    return {
      id: message.id ?? String(index + 1),
      role: person ? "user" : "assistant",
      ...(name ? { agent_name: name } : {}),
      timestamp: message.timestamp ?? index,
      parts: [{ id: String(index + 1), type: "text", text: message.text }],
    }
  })

export function chooseLog({ messages, ...ask }: LogAsk): LogChoice {
  const all = toContext(messages)
  const text = all.map(messageText).join("\n")
  const tokens = byteLength(text) <= ask.max_tokens * 16 ? ask.count(text) : Infinity
  if (tokens <= ask.max_tokens && byteLength(text) <= (ask.max_bytes ?? Infinity)) {
    const items = all.map((message): Chosen => {
      const said = messageText(message)
      return {
        ref: message.id,
        taken: "whole",
        why: "everything fits",
        tokens: ask.count(said),
        bytes: byteLength(said),
      }
    })
    return { text, tokens, bytes: byteLength(text), items }
  }
  const choice = choose(all, ask)
  return {
    text: choice.messages.map(messageText).join("\n"),
    tokens: choice.tokens,
    bytes: choice.bytes,
    items: choice.items,
  }
}
