import type { Gate } from "../../../opencode/src/pass-over/domain/gate"
import { gateFacts } from "../../../opencode/src/pass-over/handoff/gate-fact"
import { duration } from "../lib/format"
import { WORDS } from "../lib/words"

export type Deed = "next" | "previous" | "approve" | "reject" | "question"

const KEYS: Record<string, Deed> = {
  j: "next",
  ArrowDown: "next",
  k: "previous",
  ArrowUp: "previous",
  a: "approve",
  r: "reject",
  q: "question",
}

type Pressed = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; typing: boolean }

/** What a key does here. Whoever is typing, or means something of the browser's, means nothing of ours. */
export function deed({ key, ctrlKey, metaKey, altKey, typing }: Pressed): Deed | undefined {
  if (typing || ctrlKey || metaKey || altKey) return
  return KEYS[key.length === 1 ? key.toLowerCase() : key]
}

/** Which question is in hand after one has gone or the hand has moved. */
export const moved = (index: number, by: number, count: number) =>
  Math.min(Math.max(0, index + by), Math.max(0, count - 1))

/** What happens if nobody answers, and when. */
export const otherwise = (gate: Pick<Gate, "default_action" | "time_expires">, now: number) =>
  WORDS.inbox.otherwise(WORDS.inbox.default[gate.default_action], duration(Math.max(0, gate.time_expires - now)))

/** Sent back with a question, the asker has to know which. */
export const needsNote = (verdict: string, note: string) => verdict === "question" && note.trim() === ""

const shown = (name: string, value: unknown): string => {
  if (typeof value === "number" && name.endsWith("_ms")) return duration(value)
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 1) ?? "")
}

export type Fact = { name: string; value: string }

// What a flow asks with: its words are told one by one.
const TOLD = ["package", "options", "why"]

/** What else belongs to a question, as names and values to read. */
export const facts = (gate: Pick<Gate, "question" | "detail">): Fact[] => {
  const told = gateFacts(gate)
  const besides = Object.entries(gate.detail)
    .filter(([name, value]) => value !== null && value !== undefined && value !== "" && !TOLD.includes(name))
    .map(([name, value]) => ({
      name: name.replace(/_ms$/, "").replaceAll("_", " "),
      value: shown(name, value),
    }))
  return [...told, ...besides]
}
