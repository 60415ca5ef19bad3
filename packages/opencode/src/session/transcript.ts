import type { Message, Part } from "@opencode-ai/sdk/v2"
import type { Stored } from "./message-v2"

/** What a watched session has said and done so far, put together from the event stream. */
export type Transcript = {
  message(info: Message): void
  author(messageID: string): Message | undefined
  part(part: Part): void
  delta(input: { messageID: string; partID: string; field: string; delta: string }): void
  removed(input: { messageID: string; partID?: string | undefined }): void
  /** All messages in order; nothing when there was more than we kept. */
  messages(): Stored[] | undefined
}

// A child that reads whole repositories must not fill our memory; the host has it all on disk.
const MOST_CHARACTERS = 16_000_000

const weight = (part: Part) => {
  if (part.type === "text" || part.type === "reasoning") return part.text.length
  if (part.type === "tool" && part.state.status === "completed") return part.state.output.length
  return 500
}

export function createTranscript(): Transcript {
  const infos = new Map<string, Message>()
  const parts = new Map<string, Map<string, Part>>()
  let characters = 0
  let whole = true

  const of = (messageID: string) => {
    const known = parts.get(messageID) ?? new Map<string, Part>()
    parts.set(messageID, known)
    return known
  }

  return {
    message: (info) => void infos.set(info.id, info),
    author: (messageID) => infos.get(messageID),

    part(part) {
      if (!whole) return
      const known = of(part.messageID)
      const before = known.get(part.id)
      characters += weight(part) - (before ? weight(before) : 0)
      known.set(part.id, part)
      if (characters <= MOST_CHARACTERS) return
      whole = false
      parts.clear()
    },

    delta({ messageID, partID, field, delta }) {
      const part = parts.get(messageID)?.get(partID)
      if (field !== "text" || !part || (part.type !== "text" && part.type !== "reasoning")) return
      characters += delta.length
      of(messageID).set(partID, { ...part, text: part.text + delta })
    },

    removed({ messageID, partID }) {
      if (partID === undefined) {
        infos.delete(messageID)
        parts.delete(messageID)
        return
      }
      parts.get(messageID)?.delete(partID)
    },

    // Ids of the host sort by the time they were made.
    messages: () =>
      whole
        ? [...infos.values()]
            .toSorted((a, b) => (a.id < b.id ? -1 : 1))
            .map((info) => ({
              info,
              parts: [...(parts.get(info.id)?.values() ?? [])].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
            }))
        : undefined,
  }
}
