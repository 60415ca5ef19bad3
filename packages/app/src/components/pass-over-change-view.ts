import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import type { Change } from "../../../opencode/src/server/schema-decide"

type File = Change["files"][number]

/** `bare`: the line has no line break behind it, as the last of a file may. */
export type PatchLine = {
  sign: " " | "-" | "+" | "@"
  text: string
  old: number | null
  new: number | null
  bare: boolean
}
export type Hunk = { number: number; lines: PatchLine[] }
export type Row = { old: PatchLine | null; new: PatchLine | null }
export type Layout = "unified" | "split"

const SIGNS = ["+", "-", " ", "@"] as const
const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** The hunks of a unified diff, as it is shown and decided about: numbered from 1, without its head. */
export function hunks(patch: string | null): Hunk[] {
  const found: Hunk[] = []
  const at = { old: 0, new: 0 }
  for (const line of (patch ?? "").split("\n")) {
    const head = HEAD.exec(line)
    if (line.startsWith("@@")) {
      Object.assign(at, { old: Number(head?.[1] ?? 1), new: Number(head?.[2] ?? 1) })
      found.push({ number: found.length + 1, lines: [{ sign: "@", text: line, old: null, new: null, bare: false }] })
    }
    const sign = SIGNS.find((one) => line.startsWith(one))
    const here = found.at(-1)
    const last = here?.lines.at(-1)
    if (line.startsWith("\\ ") && last) last.bare = true
    if (!sign || sign === "@" || !here) continue
    here.lines.push({
      sign,
      text: line.slice(1),
      old: sign === "+" ? null : at.old++,
      new: sign === "-" ? null : at.new++,
      bare: false,
    })
  }
  withEndings(found.flatMap(({ lines }) => lines))
  return found
}

const CR = "\r"

/** A carriage return says something only where some lines end with one and others do not: elsewhere it is left out. */
export function withEndings(all: PatchLine[]): PatchLine[] {
  const lines = all.filter(({ sign, bare }) => sign !== "@" && !bare)
  if (!lines.every(({ text }) => text.endsWith(CR))) return all
  for (const line of lines) line.text = line.text.slice(0, -1)
  return all
}

/** So many lines of a file are shown at first, and with each asking for more. */
export const PAGE = 2_000

const size = ({ lines }: Hunk) => lines.length - 1

/** How much of each hunk is shown where a file has so many lines of room. A hunk is cut only if no page could hold it. */
export function portions(parts: readonly Hunk[], room: number): number[] {
  let left = room
  return parts.map((hunk) => {
    const shown = size(hunk) <= PAGE && left > 0 ? size(hunk) : Math.min(size(hunk), Math.max(0, left))
    left -= shown
    return shown
  })
}

/** How many lines of a file, or of one of its hunks, nobody could have seen yet. */
export function unseen(parts: readonly Hunk[], room: number, hunk: number | null): number {
  const shown = portions(parts, room)
  return parts.reduce(
    (sum, part, index) => sum + (hunk === null || hunk === part.number ? size(part) - (shown[index] ?? 0) : 0),
    0,
  )
}

/** The room that a file needs for a hunk to be seen, or the first page of it. */
export function roomFor(parts: readonly Hunk[], hunk: number | null): number {
  const before = parts.filter(({ number }) => hunk !== null && number < hunk)
  return before.reduce((sum, part) => sum + size(part), 0) + PAGE
}

/** A hunk side by side: what goes stands beside what comes in its place. */
export function rows(lines: readonly PatchLine[]): Row[] {
  const found: Row[] = []
  let open = 0
  for (const line of lines) {
    if (line.sign === "-") found.push({ old: line, new: null })
    if (line.sign === "+") {
      const beside = found[open]
      if (beside?.old?.sign === "-") beside.new = line
      if (beside?.old?.sign !== "-") found.push({ old: null, new: line })
      open += 1
    }
    if (line.sign === " ") found.push({ old: line, new: line })
    // What comes is put beside the first of what has just gone and has nothing beside it yet.
    if (line.sign !== "+") open = firstAlone(found)
  }
  return found
}

function firstAlone(found: readonly Row[]): number {
  let index = found.length
  while (index > 0 && found[index - 1]?.new === null) index -= 1
  return index
}

export const takes = (file: Pick<File, "taken">, hunk: number) =>
  file.taken === "all" || (file.taken !== "none" && file.taken.includes(hunk))

/** Whether a file is taken whole, in part or not at all. */
export function share(file: Pick<File, "taken" | "hunks">): "all" | "part" | "none" {
  if (typeof file.taken === "string") return file.taken
  if (file.taken.length === 0) return "none"
  return file.taken.length === file.hunks ? "all" : "part"
}

/** Where somebody stands who goes through a change by keys: on a file, or on one of its hunks where it has several. */
export type Stop = { path: string; hunk: number | null }

export const stopKey = ({ path, hunk }: Stop) => `${hunk ?? ""} ${path}`

export function stops(files: readonly Pick<File, "path" | "hunks" | "refused">[]): Stop[] {
  return files
    .filter((file) => file.refused === null)
    .flatMap(({ path, hunks: count }) => [
      { path, hunk: null },
      ...(count > 1 ? Array.from({ length: count }, (_, index) => ({ path, hunk: index + 1 })) : []),
    ])
}

export type Decided = { state: "accepted" | "part" | "declined" | "open"; reason: string | null }

/** What holds for a file or a hunk, in the order in which words about it count. */
export function decided(file: Pick<File, "taken" | "hunks" | "declined">, hunk: number | null): Decided {
  const whole = share(file)
  if (hunk === null && whole === "part") return { state: "part", reason: null }
  if (hunk === null ? whole === "all" : takes(file, hunk)) return { state: "accepted", reason: null }
  const word = file.declined.findLast((one) => one.hunk === hunk) ?? file.declined.findLast((one) => one.hunk === null)
  return word ? { state: "declined", reason: word.reason } : { state: "open", reason: null }
}

export const accept = ({ path, hunk }: Stop): Verdict => ({ path, hunk, accepted: true, reason: null })

export const decline = ({ path, hunk }: Stop, reason: string): Verdict => ({
  path,
  hunk,
  accepted: false,
  reason: reason.trim() || null,
})

/** Everything in a change that may be taken. */
export const all = (change: Pick<Change, "files">): Verdict[] =>
  change.files.filter((file) => file.refused === null).map(({ path }) => accept({ path, hunk: null }))

/** What stands of a change just now: applied, or not, or taken back. */
export const standing = ({ applications }: Pick<Change, "applications">) =>
  applications.findLast((one) => one.kind === "apply" && one.status === "done")

export const chosen = ({ files }: Pick<Change, "files">) => files.filter((file) => share(file) !== "none").length

/** What was made from a change and stands in its place. */
export const replacement = ({ change_id }: Pick<Change, "change_id">, all: readonly Change[]) =>
  all.find((other) => other.from_change_id === change_id)

/** How many files were declined, whole or in part. */
export const declined = ({ files }: Pick<Change, "files">) =>
  stops(files).filter((stop) => {
    const file = files.find(({ path }) => path === stop.path)
    return file !== undefined && decided(file, stop.hunk).state === "declined"
  }).length

export type Deed = "next" | "previous" | "accept" | "decline" | "layout"

const KEYS: Record<string, Deed> = {
  j: "next",
  k: "previous",
  a: "accept",
  r: "decline",
  v: "layout",
}

type Pressed = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean; typing: boolean }

/** What a key does here. Whoever is typing, or means something of the browser's, means nothing of ours. */
export function deed({ key, ctrlKey, metaKey, altKey, typing }: Pressed): Deed | undefined {
  if (typing || ctrlKey || metaKey || altKey) return
  return KEYS[key.length === 1 ? key.toLowerCase() : key]
}
