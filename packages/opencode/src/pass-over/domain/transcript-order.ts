type Placed = { seq: number; at: number; part: string | null }

const byName = (a: string | null, b: string | null) => (a === null || b === null || a === b ? 0 : a < b ? -1 : 1)

/**
 * Lines of a transcript in the order in which they began, each once. They are written down when they are over, and a
 * tool may be done before the words have ended that announced it. Ids of the host sort by the time they were made.
 */
export function inOrder<T extends Placed>(items: readonly T[]): T[] {
  const parts = new Map(items.map((item) => [item.part ?? item.seq, item]))
  return [...parts.values()].toSorted((a, b) => a.at - b.at || byName(a.part, b.part) || a.seq - b.seq)
}
