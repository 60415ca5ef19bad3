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

type Pressed = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; repeat: boolean; typing: boolean }

/**
 * What a key does here. Whoever is typing, or means something of the browser's, means nothing of ours; and a key that is
 * held down was meant once.
 */
export function deed({ key, ctrlKey, metaKey, altKey, repeat, typing }: Pressed): Deed | undefined {
  if (typing || repeat || ctrlKey || metaKey || altKey) return
  return KEYS[key.length === 1 ? key.toLowerCase() : key]
}

/** The question in hand, and where in the list it was when it was taken up. */
export type Hand = { id: string; at: number }

/** Which question comes after or before the one in hand. One that has gone leaves its place to the one behind it. */
export function moved(ids: readonly string[], hand: Hand | undefined, by: 1 | -1): Hand | undefined {
  const last = ids.length - 1
  const found = ids.findIndex((id) => id === hand?.id)
  const gone = by === 1 ? (hand?.at ?? 0) : (hand?.at ?? 1) - 1
  const at = Math.min(Math.max(0, found === -1 ? gone : found + by), last)
  const id = ids[at]
  return id === undefined ? undefined : { id, at }
}

/** The hand once the list is another: at its question, or where that would be among those that are left. */
export function settled(hand: Hand, before: readonly string[], now: readonly string[]): Hand {
  const at = now.indexOf(hand.id)
  if (at !== -1) return { id: hand.id, at }
  const ahead = before.includes(hand.id) ? before.slice(0, before.indexOf(hand.id)) : before.slice(0, hand.at)
  return { id: hand.id, at: ahead.filter((id) => now.includes(id)).length }
}

/** A question as it stands on the page; one that is gone stays there for as long as somebody writes a note to it. */
export type Item = { gate_id: string; gate: Gate; gone: boolean }

/** The questions that wait, and in their old places those that do not wait any more and are kept all the same. */
export function withKept(before: readonly Item[], now: readonly Gate[], keep: (id: string) => boolean): Item[] {
  const items = now.map((gate) => ({ gate_id: gate.gate_id, gate, gone: false }))
  const waits = new Set(now.map((gate) => gate.gate_id))
  for (const [at, item] of before.entries()) {
    if (waits.has(item.gate_id) || !keep(item.gate_id)) continue
    const behind = before.slice(at).find((later) => waits.has(later.gate_id))
    const place = items.findIndex((other) => other.gate_id === behind?.gate_id)
    items.splice(place === -1 ? at : place, 0, { ...item, gone: true })
  }
  return items
}

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
