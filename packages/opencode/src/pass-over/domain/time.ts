import { z } from "zod"

// Below this a number is seconds: 10^11 ms is March 1973, 10^11 s is the year 5138.
const SECONDS_BELOW = 1e11

/** A point in time: Unix milliseconds inside, seconds accepted at the edge because the configuration examples use them. */
export const Timestamp = z
  .number()
  .nonnegative()
  .transform((value) => Math.round(value < SECONDS_BELOW ? value * 1000 : value))
export type Timestamp = z.infer<typeof Timestamp>

/** What a query may name a time by: a timestamp, digits in a string, or ISO 8601. */
export const QueryTime = z.union([Timestamp, z.string().min(1)]).transform((value, context) => {
  if (typeof value === "number") return value
  if (/^\d+$/.test(value)) return Timestamp.parse(Number(value))
  const parsed = Date.parse(value)
  if (!Number.isNaN(parsed)) return parsed
  context.addIssue({ code: "custom", message: `Not a time: "${value}". Send Unix milliseconds, seconds or ISO 8601.` })
  return z.NEVER
})

/** A day is the longest that a pass may be given; longer is a typing mistake more often than a wish. */
export const MAX_DURATION_MS = 24 * 60 * 60 * 1000

export const DurationMs = z.int().positive().max(MAX_DURATION_MS)
export type DurationMs = z.infer<typeof DurationMs>

/** "41 s", "2 min 05 s", "1 h 03 min": for people, never for parsing. */
export function readable(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`
}
