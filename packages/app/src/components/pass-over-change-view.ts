import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import type { Change } from "../../../opencode/src/server/schema-decide"

type File = Change["files"][number]

export type PatchLine = { sign: " " | "-" | "+" | "@"; text: string }
export type Hunk = { number: number; lines: PatchLine[] }

const SIGNS = ["+", "-", " ", "@"] as const

/** The hunks of a unified diff, as it is shown and decided about: numbered from 1, without its head. */
export function hunks(patch: string | null): Hunk[] {
  const found: Hunk[] = []
  for (const line of (patch ?? "").split("\n")) {
    if (line.startsWith("@@")) found.push({ number: found.length + 1, lines: [{ sign: "@", text: line }] })
    const sign = SIGNS.find((one) => line.startsWith(one))
    if (sign && sign !== "@") found.at(-1)?.lines.push({ sign, text: line.slice(1) })
  }
  return found
}

export const takes = (file: Pick<File, "taken">, hunk: number) =>
  file.taken === "all" || (file.taken !== "none" && file.taken.includes(hunk))

/** Whether a file is taken whole, in part or not at all. */
export function share(file: Pick<File, "taken" | "hunks">): "all" | "part" | "none" {
  if (typeof file.taken === "string") return file.taken
  if (file.taken.length === 0) return "none"
  return file.taken.length === file.hunks ? "all" : "part"
}

/** What it means to press on a file or one of its hunks: the opposite of what holds. */
export function toggle(file: Pick<File, "path" | "taken" | "hunks">, hunk: number | null): Verdict {
  const accepted = hunk === null ? share(file) !== "all" : !takes(file, hunk)
  return { path: file.path, hunk, accepted, reason: null }
}

/** Everything in a change that may be taken. */
export const all = (change: Pick<Change, "files">, accepted: boolean): Verdict[] =>
  change.files
    .filter((file) => file.refused === null)
    .map((file) => ({ path: file.path, hunk: null, accepted, reason: null }))

/** What stands of a change just now: applied, or not, or taken back. */
export const standing = ({ applications }: Pick<Change, "applications">) =>
  applications.findLast((one) => one.kind === "apply" && one.status === "done")

export const chosen = ({ files }: Pick<Change, "files">) => files.filter((file) => share(file) !== "none").length
