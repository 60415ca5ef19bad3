import { oneLine } from "./clean"

export type Column = {
  title: string
  align?: "left" | "right"
  /** Takes what room is left, and gives way first. */
  grow?: boolean
  /** Left out where the terminal is too narrow, the highest number first. */
  rank?: number
}

/** A cell is plain text; `paint` colours it after it was fitted. */
export type Cell = string | { text: string; paint: (text: string) => string }

const GAP = "  "
const LEAST = 12

const textOf = (cell: Cell | undefined) => oneLine(typeof cell === "string" ? cell : (cell?.text ?? ""))

const segments = new Intl.Segmenter()

/** Cut to a width that a terminal counts in columns, not characters. */
export function fit(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  let [kept, used] = ["", 0]
  for (const { segment } of segments.segment(text)) {
    const more = Bun.stringWidth(segment)
    if (used + more > width - 1) break
    kept += segment
    used += more
  }
  return width < 1 ? "" : `${kept}…`
}

const pad = (text: string, width: number, align: Column["align"]) => {
  const room = " ".repeat(Math.max(0, width - Bun.stringWidth(text)))
  return align === "right" ? room + text : text + room
}

type Laid = { index: number; column: Column; width: number }

const total = (laid: readonly Laid[]) =>
  laid.reduce((sum, { width }) => sum + width, 0) + GAP.length * Math.max(0, laid.length - 1)

/** The columns that fit, each with its width. */
function lay(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): Laid[] {
  const natural = columns.map((column, index) => ({
    index,
    column,
    width: Math.max(Bun.stringWidth(column.title), ...rows.map((row) => Bun.stringWidth(textOf(row[index])))),
  }))
  const least = (laid: readonly Laid[]) =>
    laid.map((one) => (one.column.grow ? { ...one, width: Math.min(one.width, LEAST) } : one))
  let kept = natural
  while (total(least(kept)) > width) {
    const out = kept.filter(({ column }) => column.rank !== undefined)
    const [weakest] = out.toSorted((a, b) => (b.column.rank ?? 0) - (a.column.rank ?? 0))
    if (!weakest) break
    kept = kept.filter((one) => one !== weakest)
  }
  const over = total(kept) - width
  if (over <= 0) return kept
  const growing = kept.filter(({ column }) => column.grow)
  const share = Math.ceil(over / Math.max(1, growing.length))
  return kept.map((one) => (one.column.grow ? { ...one, width: Math.max(LEAST, one.width - share) } : one))
}

/** A table that is never wider than the terminal. Without a width (in a pipe) nothing is cut. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: { width?: number | undefined; head?: (text: string) => string } = {},
): string[] {
  const laid = lay(columns, rows, options.width ?? Infinity)
  const line = (cell: (at: Laid, last: boolean) => string) =>
    laid
      .map((at, place) => cell(at, place === laid.length - 1))
      .join(GAP)
      .trimEnd()
  const head = line(({ column, width }) => pad(fit(column.title, width), width, column.align))
  const body = rows.map((row) =>
    line(({ index, column, width }, last) => {
      const cell = row[index]
      const text = fit(textOf(cell), width)
      const padded = last && column.align !== "right" ? text : pad(text, width, column.align)
      return typeof cell === "object" ? cell.paint(padded) : padded
    }),
  )
  return [options.head ? options.head(head) : head, ...body]
}
