import { diffArrays } from "diff"

/** The lines from `start` up to `end` of a base give way to others. Edits of one text are in order and never touch. */
export type Edit = { start: number; end: number; lines: readonly string[] }

// Beyond so many single steps the search for the shortest difference costs more than it tells: what lies between the
// first and the last changed line is then one edit. Counted and not timed, so that the same texts always differ alike.
const MOST_STEPS = 3_000

/** Numbers in the place of lines: comparing them does not look at the letters again. */
function numbered(texts: readonly (readonly string[])[]): number[][] {
  const known = new Map<string, number>()
  const number = (line: string) => {
    const before = known.get(line)
    if (before !== undefined) return before
    known.set(line, known.size)
    return known.size - 1
  }
  return texts.map((text) => text.map(number))
}

/** What has to be done to one list of lines to get the other. */
export function edits(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0
  const shorter = Math.min(before.length, after.length)
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  const middle = { before: before.slice(head, before.length - tail), after: after.slice(head, after.length - tail) }
  if (middle.before.length === 0 && middle.after.length === 0) return []
  const [left = [], right = []] = numbered([middle.before, middle.after])
  const changes = diffArrays(left, right, { maxEditLength: MOST_STEPS })
  if (!changes) return [{ start: head, end: before.length - tail, lines: middle.after }]
  return collect(changes, head, after)
}

type Changes = readonly { added: boolean; removed: boolean; count: number }[]

function collect(changes: Changes, head: number, after: readonly string[]): Edit[] {
  const found: Edit[] = []
  let [from, to] = [head, head]
  let open: { start: number; from: number } | undefined
  const close = () => {
    if (open) found.push({ start: open.start, end: from, lines: after.slice(open.from, to) })
    open = undefined
  }
  for (const { added, removed, count } of changes) {
    if (!added && !removed) close()
    if (added || removed) open ??= { start: from, from: to }
    if (!added) from += count
    if (!removed) to += count
  }
  close()
  return found
}

/** The base with some of its edits done. */
export function applyEdits(base: readonly string[], chosen: readonly Edit[]): string[] {
  const pieces: (readonly string[])[] = []
  let at = 0
  for (const edit of chosen) {
    pieces.push(base.slice(at, edit.start), edit.lines)
    at = edit.end
  }
  pieces.push(base.slice(at))
  return pieces.flat()
}
