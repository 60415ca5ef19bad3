import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "../errors"
import { operations, type FileChange, type FileState, type Op } from "./change"
import { diff, withHunks, type Diff } from "./hunk"
import { readSides, writeText, type Encoding } from "./text"

/** What was decided about a file of a change, or about one hunk of it. */
export const Verdict = z.strictObject({
  path: z.string().min(1),
  /** Null for the whole file. */
  hunk: z.int().positive().nullable(),
  accepted: z.boolean(),
  reason: z.string().max(20_000).nullable(),
})
export type Verdict = z.infer<typeof Verdict>

/** What is taken of a file: all, nothing, or some of its hunks. What nobody decided about is not taken. */
export type Taken = "all" | "none" | ReadonlySet<number>

/** The latest word counts; a word about a hunk goes before one about its file. */
export function taken(verdicts: readonly Verdict[], path: string, hunks: number): Taken {
  const mine = verdicts.filter((verdict) => verdict.path === path)
  const whole = mine.findLast((verdict) => verdict.hunk === null)
  const chosen = new Set<number>()
  for (let hunk = 1; hunk <= hunks; hunk += 1) {
    const own = mine.findLast((verdict) => verdict.hunk === hunk)
    // A word about the whole file that came after one about a hunk takes that one back.
    const later = whole !== undefined && own !== undefined && mine.lastIndexOf(whole) > mine.lastIndexOf(own)
    const decided = later ? whole : (own ?? whole)
    if (decided?.accepted) chosen.add(hunk)
  }
  if (hunks === 0) return whole?.accepted ? "all" : "none"
  if (chosen.size === hunks && (whole?.accepted ?? true)) return "all"
  return chosen.size === 0 ? "none" : chosen
}

export type Sides = { old: Uint8Array | null; new: Uint8Array | null }

export type TextChange = { encoding: Encoding; diff: Diff }

/** The hunks of a change, where both of its sides are text. New and deleted files are taken whole. */
export function hunksOf(change: FileChange, sides: Sides): TextChange | undefined {
  if (change.old === null || change.new === null || change.binary) return
  if (change.old.mode === "120000" || change.new.mode === "120000") return
  const read = readSides([sides.old, sides.new])
  if (!read) return
  const [before = "", after = ""] = read.texts
  return { encoding: read.encoding, diff: diff(before, after) }
}

export type Selected = { ops: Op[]; content?: Uint8Array }

/** What some hunks of a file come to. The content is new where it is neither the old nor the new one. */
export function select(
  change: FileChange,
  text: TextChange,
  chosen: ReadonlySet<number>,
  hash: (bytes: Uint8Array) => string,
): Selected {
  const content = writeText(withHunks(text.diff, chosen), text.encoding)
  // A mode belongs to the file and not to a hunk; it goes along with whatever is taken of it.
  const mode = change.new?.mode ?? change.old?.mode ?? "100644"
  const after: FileState = { hash: hash(content), mode, bytes: content.length }
  return { ops: operations(change, after), content }
}

/** Words about files and hunks that the change does not have. */
export function strays(
  verdicts: readonly Pick<Verdict, "path" | "hunk">[],
  files: ReadonlyMap<string, number>,
): Refusal | undefined {
  const stray = verdicts.find(({ path, hunk }) => {
    const hunks = files.get(path)
    return hunks === undefined || (hunk !== null && hunk > hunks)
  })
  if (!stray) return
  const hunks = files.get(stray.path)
  const message =
    hunks === undefined
      ? `This change has no file ${JSON.stringify(stray.path)}.`
      : `${stray.path} has ${hunks === 0 ? "no hunks to choose from" : `${hunks} hunk${hunks === 1 ? "" : "s"}`}, not ${stray.hunk}.`
  return refuse(PassOverErrorCode.NOT_FOUND, message, {
    suggestion: `Its files are: ${[...files.keys()].slice(0, 20).join(", ") || "none"}.`,
  })
}
