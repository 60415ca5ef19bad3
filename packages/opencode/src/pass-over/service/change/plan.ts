import { operations, type ChangeSet, type FileChange, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import { hunksOf, select, strays, taken, type TextChange, type Verdict } from "../../domain/change/review"
import { unified } from "../../domain/change/unified"
import { keep, whole, type Content } from "./blob"
import type { ChangeDeps } from "./deps"

// Larger files are taken or left as a whole: nobody reviews fifty megabytes hunk by hunk.
const MOST_BYTES = 8 * 1024 * 1024

/** A change as somebody reviews it: the file, its hunks, and what has been decided about it. */
export type Reviewed = { change: FileChange; text: TextChange | undefined; verdicts: Verdict[] }

export type Planned = { ops: Op[]; approval: string; declined: Verdict[] }

/** The hunks of a file of a change, where it has any to choose from. */
export async function textOf(deps: Pick<ChangeDeps, "store">, change: FileChange): Promise<TextChange | undefined> {
  if (change.binary || !change.old || !change.new) return
  const [before, after] = [
    await whole(deps, change.old.hash, MOST_BYTES),
    await whole(deps, change.new.hash, MOST_BYTES),
  ]
  return before && after ? hunksOf(change, { old: before, new: after }) : undefined
}

const EMPTY = new Uint8Array()

/** A file of a change as a patch, for people; nothing where it is binary or too large to show. */
export async function patchOf(deps: Pick<ChangeDeps, "store">, change: FileChange): Promise<string | undefined> {
  const before = change.old ? await whole(deps, change.old.hash, MOST_BYTES) : EMPTY
  const after = change.new ? await whole(deps, change.new.hash, MOST_BYTES) : EMPTY
  if (change.binary || !before || !after) return
  const state = change.old ?? change.new
  const text = hunksOf({ ...change, old: change.old ?? state, new: change.new ?? state }, { old: before, new: after })
  if (!text) return
  return unified(
    change.old && { path: change.old_path ?? change.path, mode: change.old.mode },
    change.new && { path: change.path, mode: change.new.mode },
    text.diff.hunks,
  )
}

/** How many hunks each file of a change has to choose from: none where it is taken or left as a whole. */
export async function hunkCounts(deps: Pick<ChangeDeps, "store">, change: ChangeSet): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const file of change.files) counts.set(file.path, (await textOf(deps, file))?.diff.hunks.length ?? 0)
  return counts
}

type File = { ops: Op[]; content?: Content }

async function planFile(deps: ChangeDeps, file: FileChange, mine: readonly Verdict[]): Promise<File | Refusal> {
  if (!mine.some((verdict) => verdict.accepted)) return { ops: [] }
  // A file that is wanted whole need not be read.
  const hunked = mine.some((verdict) => verdict.hunk !== null)
  const text = hunked ? await textOf(deps, file) : undefined
  const wanted = taken(mine, file.path, text?.diff.hunks.length ?? 0)
  if (wanted === "none") return { ops: [] }
  if (file.refused !== null) {
    return refuse(
      PassOverErrorCode.PERMISSION_DENIED,
      `${JSON.stringify(file.path)} is never written: ${file.refused}.`,
      {
        suggestion: "Decline this file; it can only be changed by hand.",
      },
    )
  }
  if (wanted === "all" || !text) return { ops: operations(file) }
  const { ops, content } = select(file, text, wanted, deps.sha)
  return content ? { ops, content: { hash: deps.sha(content), content } } : { ops }
}

/** What the decisions about a change come to, to the byte. */
export async function plan(
  deps: ChangeDeps,
  change: ChangeSet,
  verdicts: readonly Verdict[],
  approval: (ops: readonly Op[]) => string,
): Promise<{ ok: true; planned: Planned } | { ok: false; refusal: Refusal }> {
  const files: File[] = []
  const said = Map.groupBy(verdicts, ({ path }) => path)
  for (const file of change.files) {
    const planned = await planFile(deps, file, said.get(file.path) ?? [])
    if ("code" in planned) return { ok: false, refusal: planned }
    files.push(planned)
  }
  await keep(
    deps,
    files.flatMap((file) => file.content ?? []),
  )
  const ops = files.flatMap((file) => file.ops)
  const declined = verdicts.filter((verdict) => !verdict.accepted)
  return { ok: true, planned: { ops, approval: approval(ops), declined } }
}

/** Refuses words about files or hunks that are not there. */
export async function checkVerdicts(
  deps: ChangeDeps,
  change: ChangeSet,
  verdicts: readonly Verdict[],
): Promise<Refusal | undefined> {
  const needed = verdicts.some((verdict) => verdict.hunk !== null)
  const counts = needed ? await hunkCounts(deps, change) : new Map(change.files.map((file) => [file.path, Infinity]))
  return strays(verdicts, counts)
}
