import { same, type ChangeSet, type FileChange, type FileState } from "../../domain/change/change"
import { merge, type Conflict } from "../../domain/change/merge"
import { readSides, writeText } from "../../domain/change/text"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import { event, type Pass } from "../../domain/pass"
import type { SaidVerdict } from "../port-change"
import type { Tree } from "../port-tree"
import { keep, keepStream, whole } from "./blob"
import type { ChangeDeps } from "./deps"
import { targetOf } from "./target"

const MOST_BYTES = 64 * 1024 * 1024

type Step = { ok: true; file: FileChange | undefined } | { ok: false; path: string; why: string; conflicts: Conflict[] }

const no = (path: string, why: string, conflicts: Conflict[] = []): Step => ({ ok: false, path, why, conflicts })

async function contents(deps: ChangeDeps, states: readonly FileState[]): Promise<Uint8Array[] | undefined> {
  const all = await Promise.all(states.map(({ hash }) => whole(deps, hash, MOST_BYTES)))
  return all.every((one) => one !== undefined) ? all : undefined
}

/** Whether what a change makes of a file is there already. */
async function stands(tree: Tree, { path, new: after }: FileChange): Promise<boolean> {
  const found = await tree.look(path)
  return found.kind === "file" && same(found.state, after)
}

/** One file of a change, made anew on top of what is there now. */
export async function rebase(deps: ChangeDeps, tree: Tree, file: FileChange): Promise<Step> {
  const found = await tree.look(file.old_path ?? file.path)
  if (found.kind === "refused") return no(file.path, found.why)
  const now = found.kind === "file" ? found.state : null
  if (now === null && file.old_path !== null && (await stands(tree, file))) return { ok: true, file: undefined }
  if (same(now, file.old)) return { ok: true, file }
  if (same(now, file.new)) return { ok: true, file: undefined }
  if (!now || !file.old || !file.new || file.old_path !== null) {
    return no(file.path, now ? "a file is there already" : "it has been deleted since")
  }
  if (!(await keepStream(deps, now, tree.pieces(file.path)))) return no(file.path, "it is being written just now")
  const read = readSides((await contents(deps, [file.old, now, file.new])) ?? [null, new Uint8Array([0])])
  if (!read) return no(file.path, "it is binary or too large to be merged, and has been changed since")
  const [base = "", ours = "", theirs = ""] = read.texts
  const merged = merge(base, ours, theirs)
  if (!merged.ok) {
    const where = merged.conflicts.map(({ line }) => line).join(", ")
    return no(
      file.path,
      `both sides changed the same lines (from line ${where} of the file as it was)`,
      merged.conflicts,
    )
  }
  const content = writeText(merged.text, read.encoding)
  const mode = now.mode === file.old.mode ? file.new.mode : now.mode
  const after: FileState = { hash: deps.sha(content), mode, bytes: content.length }
  await keep(deps, [{ hash: after.hash, content }])
  return { ok: true, file: same(after, now) ? undefined : { ...file, old: now, new: after } }
}

/** What was said of files that are declined whole. They are not merged: whatever stands against them is nobody's matter. */
async function declinedOf({ store }: ChangeDeps, { change_id, files }: ChangeSet): Promise<SaidVerdict[]> {
  const verdicts = await store.verdicts(change_id)
  return files.flatMap(({ path }) => {
    const mine = verdicts.filter((verdict) => verdict.path === path)
    const last = mine.findLast(({ hunk }) => hunk === null)
    return last && !last.accepted && !mine.some(({ accepted }) => accepted) ? [last] : []
  })
}

export type Remade = { ok: true; change: ChangeSet } | { ok: false; refusal: Refusal }

/** A change made anew on top of what is there now: a proposal like any other, to be looked at and never applied by itself. */
export async function mergeWithPresent(deps: ChangeDeps, pass: Pass, change: ChangeSet): Promise<Remade> {
  const { directory } = await targetOf(deps.store, pass, change.directory)
  const tree = await deps.openTree(directory)
  const said = await declinedOf(deps, change)
  const steps: Step[] = []
  try {
    for (const file of change.files) {
      const declined = said.some(({ path }) => path === file.path)
      steps.push(declined ? { ok: true, file } : await rebase(deps, tree, file))
    }
  } finally {
    tree.close()
  }
  const bad = steps.flatMap((step) => (step.ok ? [] : [step]))
  if (bad.length > 0) {
    const message = bad.map(({ path, why }) => `${JSON.stringify(path)}: ${why}`).join("; ")
    const refusal = refuse(PassOverErrorCode.STALE_BASE, `It cannot be merged. ${message}.`, {
      suggestion: "Decline these files, or ask the agent to make the change again on what is there now.",
      detail: { problems: bad.map(({ path, why, conflicts }) => ({ path, why, conflicts: conflicts.slice(0, 20) })) },
    })
    return { ok: false, refusal }
  }
  const at = deps.clock.now()
  const made: ChangeSet = {
    ...change,
    change_id: deps.ids.make("chg"),
    origin: "merged",
    directory,
    files: steps.flatMap((step) => (step.ok ? (step.file ?? []) : [])),
    notes: [`made of ${change.change_id} on top of what was there at the time`],
    from_change_id: change.change_id,
    time_created: at,
  }
  await deps.store.saveChange(made)
  if (said.length > 0) await deps.store.repeat(made.change_id, said)
  await deps.store.announce(
    event(pass, "pass.changed", at, { change_id: made.change_id, files: made.files.length, origin: made.origin }),
  )
  return { ok: true, change: made }
}
