import { linesOf } from "./unit"

const CHARACTERS_PER_TOKEN = 3.5
const HEAD = 0.4
const TAIL = 0.2
const GAP = "[…]"

/** The end of a piece of text at which it may be cut without breaking a word or a pair of surrogates. */
function clip(text: string, room: number): string {
  if (text.length <= room) return text
  const piece = text.slice(0, Math.max(0, room))
  const blank = piece.lastIndexOf(" ")
  return (blank > room / 2 ? piece.slice(0, blank) : piece).replace(/[\ud800-\udbff]$/, "")
}

const clipStart = (text: string, room: number) => {
  const piece = room <= 0 ? "" : text.slice(-room)
  const blank = piece.indexOf(" ")
  return (blank >= 0 && blank < room / 2 ? piece.slice(blank + 1) : piece).replace(/^[\udc00-\udfff]/, "")
}

/** A long text as its head, its tail and the lines between them that match what is asked; about so many tokens. */
export function cut(text: string, tokens: number, query: ReadonlySet<number>): string {
  const room = Math.floor(tokens * CHARACTERS_PER_TOKEN)
  if (text.length <= room) return text
  const head = clip(text, Math.floor(room * HEAD))
  const tail = clipStart(text, Math.floor(room * TAIL))
  const middle = text.slice(head.length, text.length - tail.length)
  // What is matched is searched for within bounds, however long the text is.
  const units = linesOf(middle.slice(0, 200_000), query).flatMap((line) => line.units)
  let left = room - head.length - tail.length
  const chosen = new Set<number>()
  const ranked = units
    .map((one, at) => ({ one, at }))
    .filter(({ one }) => one.worth > 0.5 && one.words > 1)
    .toSorted((a, b) => b.one.worth - a.one.worth || a.at - b.at)
  for (const { one, at } of ranked) {
    const size = Math.min(one.text.length, 300) + GAP.length
    if (size > left) continue
    left -= size
    chosen.add(at)
  }
  const lines = units.flatMap((one, at) => (chosen.has(at) ? [clip(one.text.trim(), 300)] : []))
  return [head, GAP, ...lines.flatMap((line) => [line, GAP]), tail].join("\n")
}
