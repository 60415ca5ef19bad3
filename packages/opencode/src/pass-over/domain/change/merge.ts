import { edits, type Edit } from "./edit"
import { lines } from "./text"

/** Where two sides changed the same lines of their base, or lines beside each other; lines count from 1. */
export type Conflict = { line: number; lines: number; ours: string; theirs: string }

export type Merged = { ok: true; text: string } | { ok: false; conflicts: Conflict[] }

type Side = "ours" | "theirs"
type Region = { start: number; end: number; ours: Edit[]; theirs: Edit[] }

// Touching is enough: a line inserted just where the other side changed something has no order between the two.
const reaches = (region: Region, edit: Edit) => edit.start <= region.end

/** Edits of both sides that reach each other, as one region each. */
function regions(ours: readonly Edit[], theirs: readonly Edit[]): Region[] {
  const all = [
    ...ours.map((edit) => ({ side: "ours" as Side, edit })),
    ...theirs.map((edit) => ({ side: "theirs" as Side, edit })),
  ]
  const found: Region[] = []
  for (const { side, edit } of all.toSorted((a, b) => a.edit.start - b.edit.start || a.edit.end - b.edit.end)) {
    const last = found.at(-1)
    if (last && reaches(last, edit)) {
      last[side].push(edit)
      last.end = Math.max(last.end, edit.end)
      continue
    }
    const region: Region = { start: edit.start, end: edit.end, ours: [], theirs: [] }
    region[side].push(edit)
    found.push(region)
  }
  return found
}

/** A region as one side has it. */
function sideOf(base: readonly string[], region: Region, side: Side): string[] {
  const pieces: (readonly string[])[] = []
  let at = region.start
  for (const edit of region[side]) {
    pieces.push(base.slice(at, edit.start), edit.lines)
    at = edit.end
  }
  pieces.push(base.slice(at, region.end))
  return pieces.flat()
}

/** What becomes of a base that two sides have changed: git's rules, over whatever edits were found. */
export function mergeEdits(base: readonly string[], ours: readonly Edit[], theirs: readonly Edit[]): Merged {
  const pieces: string[] = []
  const conflicts: Conflict[] = []
  let at = 0
  for (const region of regions(ours, theirs)) {
    pieces.push(base.slice(at, region.start).join(""))
    at = region.end
    const [mine, yours] = [sideOf(base, region, "ours").join(""), sideOf(base, region, "theirs").join("")]
    if (region.theirs.length === 0 || mine === yours) {
      pieces.push(mine)
      continue
    }
    if (region.ours.length === 0) {
      pieces.push(yours)
      continue
    }
    conflicts.push({ line: region.start + 1, lines: region.end - region.start, ours: mine, theirs: yours })
  }
  if (conflicts.length > 0) return { ok: false, conflicts }
  pieces.push(base.slice(at).join(""))
  return { ok: true, text: pieces.join("") }
}

/** A three-way merge of whole texts. */
export function merge(base: string, ours: string, theirs: string): Merged {
  if (ours === theirs || theirs === base) return { ok: true, text: ours }
  if (ours === base) return { ok: true, text: theirs }
  const root = lines(base)
  return mergeEdits(root, edits(root, lines(ours)), edits(root, lines(theirs)))
}
