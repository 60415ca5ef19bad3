import {
  all,
  chosen,
  decided,
  declined,
  hunks,
  share,
  standing,
  stops,
  type Stop,
} from "../../app/src/components/pass-over-change-view"
import { WORDS } from "../../app/src/lib/words"
import { clean, oneLine } from "../../opencode/src/cli/clean"
import { visible } from "../../opencode/src/pass-over/domain/hidden"
import type { FileView } from "../../opencode/src/pass-over/service/change/view"
import type { Proposal } from "./changes-source"
import { besides, ending, rowsOf, short, split, type Row, type Tone } from "./lines"

const SIGN = { accepted: "✓", part: "◐", declined: "✕", open: "○" } as const

const stateOf = (file: FileView, hunk: number | null) => {
  const { state, reason } = decided(file, hunk)
  const why = reason === null ? "" : `: ${oneLine(reason)}`
  return { mark: `${SIGN[state]} ${WORDS.changes.state[state]}`, why }
}

export type Deed = "accept" | "apply" | "send_back" | "undo"

/** What can be done with a change as it stands. */
export function deeds(shown: Proposal): Deed[] {
  if (standing(shown)) return ["undo"]
  const open = all(shown).some(({ path }) => shown.files.some((file) => file.path === path && share(file) !== "all"))
  return [
    ...(shown.approval !== null && chosen(shown) > 0 ? ["apply" as const] : []),
    ...(open ? ["accept" as const] : []),
    ...(declined(shown) > 0 ? ["send_back" as const] : []),
  ]
}

/** A deed as a choice of a list. What it leads to is said before it is done. */
export function deedOption(deed: Deed, shown: Proposal) {
  const applied = standing(shown)
  const text = {
    accept: { title: WORDS.changes.accept_all, description: WORDS.changes.terminal.accept_all },
    apply: {
      title: WORDS.changes.apply(chosen(shown)),
      description: WORDS.changes.terminal.apply(shown.check === undefined ? undefined : oneLine(shown.check)),
    },
    send_back: { title: WORDS.changes.send_back, description: WORDS.changes.terminal.send_back },
    undo: { title: WORDS.changes.undo, description: applied ? WORDS.changes.applied(oneLine(applied.actor)) : "" },
  } as const satisfies Record<Deed, { title: string; description: string }>
  return { ...text[deed], value: `deed ${deed}`, category: WORDS.changes.terminal.deeds }
}

const MOST_PATH = 50

/** A file of a change as one row of a list: its name, how much of it, and what was decided. */
export function fileOption(file: FileView, columns: number) {
  const title = ending(oneLine(file.path), Math.min(MOST_PATH, besides(columns, "", "") - 20))
  const footer = file.refused === null ? stateOf(file, null).mark : WORDS.changes.terminal.never
  const told = oneLine(file.reason || file.line)
  return {
    title,
    value: `file ${file.path}`,
    description: short(told, besides(columns, title, footer)),
    footer,
    category: WORDS.changes.terminal.files,
  }
}

const TONES = { "+": "added", "-": "removed", "@": "muted", " ": "text" } as const satisfies Record<string, Tone>

function placeTitle(file: FileView, { hunk }: Stop, here: boolean): string {
  const { mark, why } = stateOf(file, hunk)
  const what = hunk === null ? WORDS.changes.terminal.whole(file.hunks) : WORDS.changes.terminal.part(hunk, file.hunks)
  return `${here ? "▸" : " "} ${what} · ${mark}${why}`
}

/** A file with its differences, as rows; and at which of them each place begins that is decided about. */
export function fileRows(file: FileView, at: number, width: number): { rows: Row[]; starts: number[] } {
  const places = stops([file])
  const parts = hunks(file.patch)
  const rows: Row[] = []
  const starts: number[] = []
  const begin = (index: number) => {
    const place = places[index]
    if (!place) return
    starts[index] = rows.length
    rows.push({ text: short(placeTitle(file, place, index === at), width), tone: "text", heading: true })
  }
  const note = (text: string, tone: Tone) =>
    rows.push(...rowsOf([{ title: "", lines: [{ text: clean(text), tone, indent: 0 }] }], width))
  if (file.refused !== null) note(`${WORDS.changes.refused} ${file.refused}`, "warning")
  if (file.reason !== "") note(file.reason, "muted")
  begin(0)
  if (parts.length === 0)
    note(file.patch === null ? WORDS.changes.terminal.not_shown : clean(visible(file.patch)), "muted")
  for (const part of parts) {
    if (parts.length > 1) begin(part.number)
    for (const { sign, text, bare } of part.lines) {
      // What is decided about shows what is hidden in it; anywhere else it is left out.
      const [first = "", ...rest] = split(clean(visible(text)), width - 2)
      const tone = TONES[sign]
      const lead = sign === "@" ? "" : `${sign} `
      rows.push({ text: lead + first, tone, heading: false })
      rows.push(...rest.map((piece) => ({ text: `  ${piece}`, tone, heading: false })))
      if (bare) rows.push({ text: short(`\\ ${WORDS.changes.bare}`, width), tone: "muted", heading: false })
    }
  }
  return { rows, starts }
}

/** What a person is told of a change besides its files. */
export const notesOf = ({ notes, problem }: Proposal): string[] => [
  ...(problem === null ? [] : [oneLine(problem)]),
  ...notes.map(oneLine),
]
