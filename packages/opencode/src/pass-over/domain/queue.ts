import { countBy, sortBy } from "remeda"
import type { Limits } from "./limit"
import type { Priority } from "./request"

/** A pass as far as it takes part in who may run. */
export type Slot = {
  pass_over_id: string
  parent_pass_id: string | null
  root_session_id: string
  /** Whether the pass above it waits for it. */
  wait: boolean
  subagent: string
  model: string | null
  priority: Priority
  /** `waiting` is for a person: it stands in nobody's way and holds no place. */
  state: "waiting" | "queued" | "running"
  time_created: number
}

export type Turn = {
  limits: Limits
  now: number
  /** Providers that asked for less, and how much they get. */ cooling?: ReadonlyMap<string, number>
}

const RANK: Record<Priority, number> = { low: 0, medium: 1, high: 2 }
/** Whoever waits this long counts as one priority higher, so that nobody waits for ever. */
const AGING_MS = 60_000

export const providerOf = (model: string | null) => model?.split("/")[0] ?? null

/** A pass that waits for one of its own takes no place meanwhile: the one below works in it. */
function working(slots: readonly Slot[]): Slot[] {
  const lending = new Set(
    slots.filter((slot) => slot.wait && slot.state !== "waiting").map((slot) => slot.parent_pass_id),
  )
  return slots.filter((slot) => slot.state === "running" && !lending.has(slot.pass_over_id))
}

type Counts = {
  all: number
  subagent: Record<string, number>
  model: Record<string, number>
  provider: Record<string, number>
}

const count = (running: readonly Slot[]): Counts => ({
  all: running.length,
  subagent: countBy(running, (slot) => slot.subagent),
  model: countBy(running, (slot) => slot.model ?? undefined),
  provider: countBy(running, (slot) => providerOf(slot.model) ?? undefined),
})

/** What a pass waits for: any place, one for its agent, its model or its provider, or only for those before it. */
export type Obstacle = { what: "running" | "subagent" | "model" | "provider" | "line"; limit: number }

function obstacle(slot: Slot, counts: Counts, { limits, cooling }: Turn): Obstacle | undefined {
  const provider = providerOf(slot.model)
  const allowed = provider === null ? undefined : cooling?.get(provider)
  if (counts.all >= limits.running) return { what: "running", limit: limits.running }
  if ((counts.subagent[slot.subagent] ?? 0) >= limits.running_per_subagent)
    return { what: "subagent", limit: limits.running_per_subagent }
  if (slot.model !== null && (counts.model[slot.model] ?? 0) >= limits.running_per_model)
    return { what: "model", limit: limits.running_per_model }
  if (provider !== null && allowed !== undefined && (counts.provider[provider] ?? 0) >= allowed)
    return { what: "provider", limit: allowed }
  return undefined
}

const fits = (slot: Slot, counts: Counts, turn: Turn) => obstacle(slot, counts, turn) === undefined

/** Those that wait, the next one first: by priority and age, then by whose tree has the least running, then by time. */
function inLine(slots: readonly Slot[], running: readonly Slot[], now: number): Slot[] {
  const trees = countBy(running, (slot) => slot.root_session_id)
  return sortBy(
    slots.filter((slot) => slot.state === "queued"),
    [(slot) => RANK[slot.priority] + Math.floor((now - slot.time_created) / AGING_MS), "desc"],
    [(slot) => trees[slot.root_session_id] ?? 0, "asc"],
    [(slot) => slot.time_created, "asc"],
    [(slot) => slot.pass_over_id, "asc"],
  )
}

/** Who may start now, in order. One that does not fit its own cap lets the others by. */
export function admitted(slots: readonly Slot[], turn: Turn): string[] {
  let running = working(slots)
  const started: string[] = []
  for (const slot of inLine(slots, running, turn.now)) {
    if (!fits(slot, count(running), turn)) continue
    running = [...running, { ...slot, state: "running" }]
    started.push(slot.pass_over_id)
  }
  return started
}

/** How many are before it, itself included. */
export const placeOf = (slots: readonly Slot[], pass_over_id: string, now: number) =>
  inLine(slots, working(slots), now).findIndex((slot) => slot.pass_over_id === pass_over_id) + 1

/** Where a pass stands in line and what it waits for; nothing where it stands in none. */
export function standing(slots: readonly Slot[], pass_over_id: string, turn: Turn) {
  const slot = slots.find((one) => one.pass_over_id === pass_over_id)
  if (slot?.state !== "queued") return
  const place = placeOf(slots, pass_over_id, turn.now)
  return { place, ...(obstacle(slot, count(working(slots)), turn) ?? { what: "line" as const, limit: 0 }) }
}
