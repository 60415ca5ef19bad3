/** A stretch in which a person, or a place among those that run, was waited for; without an end it was not over yet. */
export type Wait = { from: number; to: number | null }

/** What is known of a pass whose process has ended without a word. Times are of the wall clock. */
export type LastSeen = {
  /** When its child last did something that was written down, or its process last said that it is there. */
  at: number | null
  /** When its child returned, where it had. */
  staged_at: number | null
  waits: readonly Wait[]
}

/** How much of these stretches lies between two moments; what lies in two of them counts once. */
function within(waits: readonly Wait[], begin: number, end: number): number {
  let sum = 0
  let upTo = begin
  for (const { from, to } of waits.toSorted((a, b) => a.from - b.from)) {
    const last = Math.min(to ?? end, end)
    sum += Math.max(0, last - Math.max(from, upTo))
    upTo = Math.max(upTo, last)
  }
  return sum
}

export type Worked = { completed_at: number; wall_ms: number; waited_ms: number }

/** Until when an interrupted pass was at work, and for how long: while nothing ran, nobody worked. */
export function worked(
  { time_created, time_started }: { time_created: number; time_started: number | null },
  seen: LastSeen,
  now: number,
): Worked {
  const last = seen.staged_at ?? Math.max(seen.at ?? time_created, time_started ?? time_created)
  const completed_at = Math.min(now, Math.max(time_created, last))
  const waited_ms = within(seen.waits, time_created, completed_at)
  return { completed_at, wall_ms: completed_at - time_created, waited_ms }
}
