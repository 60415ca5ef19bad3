import { messageText } from "../domain/brief"
import { byteLength } from "../domain/bytes"
import type { ContextMessage } from "../domain/context"
import { latest, select } from "../domain/history-selector"
import type { ManifestItem } from "../domain/manifest"
import type { Effective } from "../domain/preference"
import { choose, DIGEST_ID } from "../domain/select/choose"
import type { Weigh } from "./context-file"

export type Talk = { messages: ContextMessage[]; items: ManifestItem[] }

type Question = {
  objective: string
  now: number
  /** The files in question. */
  named: readonly string[]
  ranked: ReadonlyMap<string, number> | undefined
  max: { tokens: number; bytes: number }
}

type Counting = { weigh: Weigh; count: (text: string) => number; exact: boolean }

type Policy = Pick<Effective, "max_messages" | "lookback_minutes" | "context_selection">

/** What the user's own limits leave of a history; they bind where they are set, and only there. */
function bounded(history: readonly ContextMessage[], policy: Policy, now: number): readonly ContextMessage[] {
  const { max_messages, lookback_minutes } = policy
  if (max_messages === 0 && lookback_minutes === 0) return history
  const open = (limit: number) => (limit > 0 ? limit : Infinity)
  const limit = { max_messages: open(max_messages), lookback_minutes: open(lookback_minutes), max_tokens: Infinity }
  return select(history, { now, ...limit })
}

const item = (message: ContextMessage, weigh: Weigh, more: Pick<ManifestItem, "taken" | "why">): ManifestItem => ({
  kind: "message",
  ref: message.id,
  ...more,
  ...weigh(messageText(message)),
})

/** What stays behind is not counted: it may be the greater part of a long day. */
const leftOut = (message: ContextMessage, why: string): ManifestItem => {
  const text = messageText(message)
  const bytes = byteLength(text)
  return { kind: "message", ref: message.id, taken: "none", why, bytes, tokens: Math.ceil(bytes / 4) }
}

function recent(messages: readonly ContextMessage[], question: Question, { weigh, exact }: Counting): Talk {
  const weights = new Map(messages.map((message) => [message, weigh(messageText(message))]))
  const by = (key: "bytes" | "tokens") => (message: ContextMessage) => weights.get(message)?.[key] ?? 0
  const { max } = question
  const within = exact ? latest(messages, max.tokens, by("tokens")) : messages
  // The byte limit binds too: it is the user's, the token limit the model's.
  const kept = new Set(latest(within, max.bytes, by("bytes")))
  return {
    messages: messages.filter((message) => kept.has(message)),
    items: messages.map((message) => ({
      kind: "message",
      ref: message.id,
      ...(weights.get(message) ?? { bytes: 0, tokens: 0 }),
      ...(kept.has(message)
        ? { taken: "whole", why: "recent" }
        : { taken: "none", why: "older than what fits the context limit" }),
    })),
  }
}

function relevant(messages: readonly ContextMessage[], question: Question, { weigh, count }: Counting): Talk {
  const choice = choose(messages, {
    objective: question.objective,
    files: question.named,
    max_tokens: question.max.tokens,
    max_bytes: question.max.bytes,
    count,
    // The caller counts the whole, with what stands around it.
    counted: "parts",
    ...(question.ranked ? { ranked: question.ranked } : {}),
  })
  const texts = new Map(choice.messages.map((message) => [message.id, messageText(message)]))
  const digest = texts.get(DIGEST_ID)
  return {
    messages: choice.messages,
    items: [
      ...(digest === undefined
        ? []
        : [
            {
              kind: "digest" as const,
              ref: DIGEST_ID,
              taken: "whole" as const,
              why: "what was left out",
              ...weigh(digest),
            },
          ]),
      ...choice.items.map(({ ref, taken, why, tokens, bytes }): ManifestItem => {
        const text = texts.get(ref)
        const weight = taken === "none" || text === undefined ? { tokens, bytes } : weigh(text)
        return { kind: "message", ref, taken, why, ...weight }
      }),
    ],
  }
}

/** What of the conversation goes along, and the account of every message of it. */
export function conversation(
  history: readonly ContextMessage[],
  question: Question,
  policy: Policy,
  counting: Counting,
): Talk {
  const messages = bounded(history, policy, question.now)
  const inside = new Set(messages)
  const { weigh, exact } = counting
  const bytes = exact ? Infinity : messages.reduce((sum, message) => sum + byteLength(messageText(message)) + 1, 0)
  const fits = bytes <= question.max.bytes
  const choice = fits
    ? {
        messages: [...messages],
        items: messages.map((message) => item(message, weigh, { taken: "whole", why: "everything fits" })),
      }
    : (policy.context_selection === "recency" ? recent : relevant)(messages, question, counting)
  const beyond = history
    .filter((message) => !inside.has(message))
    .map((message) => leftOut(message, "beyond max_messages or lookback_minutes"))
  return { messages: choice.messages, items: [...beyond, ...choice.items] }
}
