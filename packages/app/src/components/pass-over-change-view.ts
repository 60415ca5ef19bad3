import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import type { Change } from "../../../opencode/src/server/schema-decide"

type File = Change["files"][number]

export type PatchLine = { sign: " " | "-" | "+" | "@"; text: string; old: number | null; new: number | null }
export type Hunk = { number: number; lines: PatchLine[] }
export type Row = { old: PatchLine | null; new: PatchLine | null }
export type Layout = "unified" | "split"

const SIGNS = ["+", "-", " ", "@"] as const
const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** More lines than this are nothing to read in a panel; a decision about the file still is about all of it. */
const MOST = 4_000

/** The hunks of a unified diff, as it is shown and decided about: numbered from 1, without its head. */
export function hunks(patch: string | null): Hunk[] {
  const found: Hunk[] = []
  const at = { old: 0, new: 0 }
  for (const line of (patch ?? "").split("\n").slice(0, MOST)) {
    const head = HEAD.exec(line)
    if (line.startsWith("@@")) {
      Object.assign(at, { old: Number(head?.[1] ?? 1), new: Number(head?.[2] ?? 1) })
      found.push({ number: found.length + 1, lines: [{ sign: "@", text: line, old: null, new: null }] })
    }
    const sign = SIGNS.find((one) => line.startsWith(one))
    const here = found.at(-1)
    if (!sign || sign === "@" || !here) continue
    here.lines.push({
      sign,
      text: line.slice(1),
      old: sign === "+" ? null : at.old++,
      new: sign === "-" ? null : at.new++,
    })
  }
  return found
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
