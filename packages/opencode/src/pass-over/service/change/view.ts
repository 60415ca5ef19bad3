import { describeFile, type ChangeSet } from "../../domain/change/change"
import { taken, type Verdict } from "../../domain/change/review"
import type { Application } from "../port-change"
import type { ChangeDeps } from "./deps"
import { patchOf, textOf } from "./plan"
import { whereTo } from "./target"

export type FileView = {
  path: string
  line: string
  hunks: number
  taken: "all" | "none" | number[]
  declined: { hunk: number | null; reason: string | null }[]
  refused: string | null
  reason: string
  /** Nothing where it is too large, or no text. */
  patch: string | null
}

export type ChangeView = {
  change_id: string
  origin: ChangeSet["origin"]
  /** The change that this one was made from, and stands in place of. */
  from_change_id: string | null
  notes: string[]
  files: FileView[]
  applications: Pick<Application, "apply_id" | "kind" | "status" | "actor" | "time_done" | "verification">[]
}

const takenOf = (verdicts: readonly Verdict[], path: string, hunks: number): FileView["taken"] => {
  const found = taken(verdicts, path, hunks)
  return typeof found === "string" ? found : [...found]
}

/** A change as it is shown to whoever decides about it: a person, a panel or an agent. */
export async function viewChange(deps: ChangeDeps, change: ChangeSet): Promise<ChangeView> {
  const verdicts = await deps.store.verdicts(change.change_id)
  const all = await deps.store.applications({ pass_over_id: change.pass_over_id })
  const where = await whereTo(deps.store, change, all)
  const files: FileView[] = []
  const said = Map.groupBy(verdicts, (verdict) => verdict.path)
  for (const file of change.files) {
    const { path, refused, reason } = file
    const mine = said.get(path) ?? []
    const hunks = (await textOf(deps, file))?.diff.hunks.length ?? 0
    files.push({
      path,
      line: describeFile(file),
      hunks,
      taken: takenOf(mine, path, hunks),
      declined: mine.filter(({ accepted }) => !accepted).map(({ hunk, reason }) => ({ hunk, reason })),
      refused,
      reason,
      patch: (await patchOf(deps, file)) ?? null,
    })
  }
  return {
    change_id: change.change_id,
    origin: change.origin,
    from_change_id: change.from_change_id,
    notes: where === undefined ? change.notes : [...change.notes, where],
    files,
    applications: all
      .filter(({ change_id }) => change_id === change.change_id)
      .map(({ apply_id, kind, status, actor, time_done, verification }) => ({
        apply_id,
        kind,
        status,
        actor,
        time_done,
        verification,
      })),
  }
}
