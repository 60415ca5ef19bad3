import { applyEdits, edits, type Edit } from "./edit"
import { lines } from "./text"

/** A piece of a difference that is accepted or declined as one, with the lines around it. Numbered from 1 in its file. */
export type Hunk = {
  hunk: number
  old_start: number
  old_lines: number
  new_start: number
  new_lines: number
  /** As in a unified diff: " ", "-" or "+" and then the line with its ending. */
  lines: readonly string[]
}

export type Diff = { base: readonly string[]; hunks: readonly Hunk[]; edits: readonly (readonly Edit[])[] }

const CONTEXT = 3

/** Edits that share lines of context belong together. */
function grouped(all: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = []
  for (const edit of all) {
    const last = groups.at(-1)
    const before = last?.at(-1)
    if (last && before && edit.start - before.end <= 2 * CONTEXT) {
      last.push(edit)
      continue
    }
    groups.push([edit])
  }
  return groups
}

const marked = (mark: string, some: readonly string[]) => some.map((line) => mark + line)

function hunkOf(base: readonly string[], group: readonly Edit[], shift: number): Omit<Hunk, "hunk"> {
  const start = Math.max(0, (group[0]?.start ?? 0) - CONTEXT)
  const end = Math.min(base.length, (group.at(-1)?.end ?? 0) + CONTEXT)
  const shown: string[] = []
  let at = start
  for (const edit of group) {
    shown.push(...marked(" ", base.slice(at, edit.start)), ...marked("-", base.slice(edit.start, edit.end)))
    for (const line of edit.lines) shown.push(`+${line}`)
    at = edit.end
  }
  shown.push(...marked(" ", base.slice(at, end)))
  const growth = group.reduce((sum, edit) => sum + edit.lines.length - (edit.end - edit.start), 0)
  return {
    old_start: start + 1,
    old_lines: end - start,
    new_start: start + shift + 1,
    new_lines: end - start + growth,
    lines: shown,
  }
}

/** The difference of two texts in hunks. The same texts give the same hunks everywhere. */
export function diff(before: string, after: string): Diff {
  const base = lines(before)
  const groups = grouped(edits(base, lines(after)))
  let shift = 0
  const hunks = groups.map((group, index) => {
    const hunk = hunkOf(base, group, shift)
    shift += hunk.new_lines - hunk.old_lines
    return { hunk: index + 1, ...hunk }
  })
  return { base, hunks, edits: groups }
}

/** What the text is once some of its hunks are taken, by number. */
export function withHunks({ base, edits }: Diff, chosen: ReadonlySet<number>): string {
  return applyEdits(base, edits.filter((_, index) => chosen.has(index + 1)).flat()).join("")
}
