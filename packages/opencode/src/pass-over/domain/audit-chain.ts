import { AuditLine, canonical } from "./audit-log"

/** A line of a file, with its place; `entry` is missing where it is no audit line. */
export type Found = { path: string; line: number; entry: AuditLine | undefined }

export type FaultKind = "edited" | "removed" | "added" | "reordered" | "unreadable"
export type ChainFault = { kind: FaultKind; at: Found | undefined; seq: number | undefined; message: string }

export type Hash = (text: string) => string

/** Whether a line is what was hashed, whatever came before it. */
export const intact = (entry: AuditLine, hash: Hash) => hash(canonical(entry, entry.prev)) === entry.hash

/** The names of the fields in which two lines differ. */
export const differing = (one: AuditLine, other: AuditLine) =>
  Object.keys(AuditLine.shape).filter(
    (key) => JSON.stringify(one[key as keyof AuditLine]) !== JSON.stringify(other[key as keyof AuditLine]),
  )

const named = (entry: AuditLine) => `${entry.action} of ${entry.pass_over_id}`

/**
 * The lines of one file against those that belong into it. Both are in order; of the first that is wrong it says where
 * it stands and what is wrong with it, and of those after it too.
 */
export function compare(found: readonly Found[], expected: readonly AuditLine[], hash: Hash): ChainFault[] {
  const faults: ChainFault[] = []
  const present = new Set(found.flatMap(({ entry }) => (entry && intact(entry, hash) ? [entry.hash] : [])))
  const place = new Map(expected.map((entry, index) => [entry.hash, index]))
  const bySeq = new Map(expected.map((entry, index) => [entry.seq, index]))
  const seen = new Set<string>()
  let next = 0

  // Those that should stand before a place and do not: gone, or further down.
  const skip = (to: number, at: Found) => {
    const moved = expected.slice(next, to).filter((entry) => present.has(entry.hash))
    const gone = expected.slice(next, to).filter((entry) => !present.has(entry.hash))
    for (const entry of gone)
      faults.push({
        kind: "removed",
        at,
        seq: entry.seq,
        message: `line ${entry.seq} (${named(entry)}) is missing before it`,
      })
    const [first] = moved
    if (first)
      faults.push({
        kind: "reordered",
        at,
        seq: at.entry?.seq,
        message: `it stands before line ${first.seq}, which it follows`,
      })
    next = Math.max(next, to)
  }

  for (const at of found) {
    const { entry } = at
    const whole = entry !== undefined && intact(entry, hash)
    const index = whole ? place.get(entry.hash) : undefined
    if (entry && index !== undefined && seen.has(entry.hash)) {
      faults.push({ kind: "added", at, seq: entry.seq, message: `line ${entry.seq} stands here a second time` })
      continue
    }
    if (entry && index !== undefined) {
      seen.add(entry.hash)
      if (index > next) skip(index, at)
      next = Math.max(next, index + 1)
      continue
    }
    // Not one of ours. It has taken the place of the one with its number, or of the next, if that is nowhere else.
    const meant = entry ? bySeq.get(entry.seq) : next
    const original = meant === undefined ? undefined : expected[meant]
    if (original && !present.has(original.hash) && meant !== undefined && meant >= next) {
      skip(meant, at)
      next = meant + 1
      const what = entry ? `${differing(entry, original).join(", ")} changed` : "it is no audit line any more"
      faults.push({ kind: "edited", at, seq: original.seq, message: `line ${original.seq} was edited: ${what}` })
      continue
    }
    const what = entry ? "it was never written by us" : "it is no audit line"
    faults.push({ kind: entry ? "added" : "unreadable", at, seq: entry?.seq, message: what })
  }
  for (const entry of expected.slice(next)) {
    if (present.has(entry.hash)) continue
    const message = `line ${entry.seq} (${named(entry)}) is missing at the end`
    faults.push({ kind: "removed", at: undefined, seq: entry.seq, message })
  }
  return faults
}

export type Anchor = { seq: number; hash: string }

/** The lines of a session by themselves, in the order of their numbers: each has to follow from the one before it. */
export function follow(lines: readonly Found[], anchor: Anchor, hash: Hash): ChainFault[] {
  const faults: ChainFault[] = []
  let last = anchor
  for (const at of lines) {
    const { entry } = at
    if (!entry) {
      faults.push({ kind: "unreadable", at, seq: undefined, message: "it is no audit line" })
      continue
    }
    const { seq } = entry
    const fault = (kind: FaultKind, message: string) => faults.push({ kind, at, seq, message })
    if (seq === last.seq) fault("added", `line ${seq} stands here a second time`)
    if (seq > last.seq + 1)
      fault("removed", `line ${last.seq + 1}${seq > last.seq + 2 ? ` to ${seq - 1}` : ""} is missing before it`)
    const follows = seq === last.seq + 1 && entry.prev !== last.hash
    if (!intact(entry, hash)) fault("edited", `line ${seq} is not what was hashed`)
    if (follows && intact(entry, hash)) fault("edited", `line ${seq} does not follow from line ${last.seq}`)
    if (seq > last.seq) last = { seq, hash: entry.hash }
  }
  return faults
}
