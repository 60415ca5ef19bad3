import { z } from "zod"

// Below this a number is seconds: 10^11 ms is March 1973, 10^11 s is the year 5138.
const SECONDS_BELOW = 1e11

/** A time as whole milliseconds, where it may be seconds. */
export function milliseconds(time: number): number {
  return Math.round(time < SECONDS_BELOW ? time * 1000 : time)
}

/** A point in time: Unix milliseconds inside, seconds accepted at the edge because the configuration examples use them. */
export const Timestamp = z.number().nonnegative().transform(milliseconds)
export type Timestamp = z.infer<typeof Timestamp>

const ISO = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/

function readTime(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Timestamp.safeParse(Number(text)).data
  // Not Date.parse alone: it makes a day in 2001 of "tomorrow 5" and March of 30 February.
  const day = ISO.exec(text)?.[1]
  if (!z.iso.date().safeParse(day).success) return
  const read = Date.parse(text)
  return Number.isNaN(read) ? undefined : read
}

/** What a query may name a time by: a timestamp, digits in a string, or ISO 8601. */
export const QueryTime = z.union([Timestamp, z.string().trim()]).transform((value, context) => {
  const read = typeof value === "number" ? value : readTime(value)
  if (read !== undefined) return read
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
