/** Text for a box of a given width: one row of the terminal each, so that it can be gone through row by row. */

export type Tone = "text" | "muted" | "warning" | "error" | "added" | "removed"
export type Line = { text: string; tone: Tone; indent: number }
export type Section = { title: string; lines: Line[] }
export type Row = { text: string; tone: Tone; heading: boolean }

const INDENT = 2

/** Splits what is wider than a row by itself, between characters as people see them. */
export function split(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ""
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (piece !== "" && Bun.stringWidth(piece + segment) > width) {
      pieces.push(piece)
      piece = ""
    }
    piece += segment
  }
  return piece === "" ? pieces : [...pieces, piece]
}

function wrapLine(text: string, width: number): string[] {
  const rows: string[] = []
  let row = ""
  const words = text
    .split(/ +/)
    .flatMap((word) => (Bun.stringWidth(word) > width ? split(word, width) : [word]))
    .filter((word) => word !== "")
  for (const word of words) {
    const longer = row === "" ? word : `${row} ${word}`
    if (row !== "" && Bun.stringWidth(longer) > width) {
      rows.push(row)
      row = word
      continue
    }
    row = longer
  }
  return [...rows, row]
}

export const wrap = (text: string, width: number): string[] =>
  text
    .split("\n")
    .flatMap((one) => wrapLine(one, Math.max(1, width)))
    .filter((row, index, all) => row !== "" || (index > 0 && all[index - 1] !== ""))

const MOST = 2_000

/** Sections as rows: a heading, what stands below it, an empty row. */
export function rowsOf(sections: readonly Section[], width: number): Row[] {
  const rows = sections.flatMap(({ title, lines }, index): Row[] => [
    ...(index > 0 ? [{ text: "", tone: "text" as const, heading: false }] : []),
    ...(title === "" ? [] : [{ text: title, tone: "text" as const, heading: true }]),
    ...lines.flatMap(({ text, tone, indent }) =>
      wrap(text, width - indent * INDENT).map((row) => ({
        text: " ".repeat(indent * INDENT) + row,
        tone,
        heading: false,
      })),
    ),
  ])
  if (rows.length <= MOST) return rows
  return [...rows.slice(0, MOST), { text: "… and more: /panel shows all of it", tone: "muted", heading: false }]
}

/** Text that takes no more than so many columns. */
export function short(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text
  if (columns < 2) return ""
  const [piece = ""] = split(text, columns - 1)
  // One character alone may be wider than all the room.
  return `${Bun.stringWidth(piece) < columns ? piece.trimEnd() : ""}…`
}

/** The same for a path, of which the end says most. */
export function ending(path: string, columns: number): string {
  if (Bun.stringWidth(path) <= columns) return path
  const pieces = [...new Intl.Segmenter().segment(path)].map(({ segment }) => segment)
  let kept = ""
  for (const piece of pieces.toReversed()) {
    if (Bun.stringWidth(piece + kept) > columns - 1) break
    kept = piece + kept
  }
  return `…${kept}`
}

/** Which rows are seen, where so many fit and one has gone so far. */
export function view(count: number, height: number, top: number) {
  const last = Math.max(0, count - height)
  const first = Math.min(Math.max(0, top), last)
  return { first, end: Math.min(count, first + height), more: count > height }
}

/** How many rows a dialog has for what it tells: the host puts it a quarter down, and its frame takes the rest. */
export const room = (rows: number) => Math.max(3, rows - Math.floor(rows / 4) - 10)

const WIDTH = { medium: 60, large: 88 } as const
type Size = keyof typeof WIDTH

const wide = (size: Size, columns: number) => Math.min(WIDTH[size], columns - 2)

/** How many columns there are inside a dialog. */
export const inside = (size: Size, columns: number) => Math.max(10, wide(size, columns) - 8)

// What the host leaves empty at both ends of a row and between its parts.
const FRAME = 11

/** How many columns a row of a list has for what stands between its title and its end. */
export const besides = (columns: number, title: string, footer: string) =>
  Math.max(0, wide("large", columns) - FRAME - Bun.stringWidth(title) - Bun.stringWidth(footer))
