import type { FileChange } from "../../domain/change/change"
import { constraintLayers } from "../../domain/constraint"
import { blockers } from "../../domain/outcome"
import type { Pass } from "../../domain/pass"
import type { Effective } from "../../domain/preference"
import { meet, type Right } from "../../domain/right"
import type { Outcome } from "../port"
import { forbidden } from "../right"
import { applyAndVerify, changeOf, preview, review } from "./act"
import type { ChangeDeps } from "./deps"
import { mayModify } from "./place"
import { targetOf } from "./target"

/** Who applies where nobody does. */
export const AUTO = "auto_apply"

/** Decision 11: only what its agent lets go, what is proven, and what nobody has a word against. */
export function appliesItself(pass: Pass, { output, error_code }: Outcome): boolean {
  const { auto_apply, require_user_approval } = pass.preference.values as Partial<Effective>
  const { verdict, change } = output.summary
  return (
    auto_apply === true &&
    require_user_approval === false &&
    error_code === null &&
    output.auto_apply_allowed &&
    verdict?.status === "VERIFIED" &&
    !blockers(output) &&
    change !== undefined &&
    change.origin !== "direct" &&
    change.files > 0
  )
}

/** What is said of editing paths below a pass's project, by all whose word counts. */
export type MayEdit = (paths: readonly string[]) => Right

/** Why a change does not apply itself although the policy wants it so: who proposes may not do more than who edits. */
export async function barred(
  { store }: Pick<ChangeDeps, "store">,
  pass: Pass,
  files: readonly Pick<FileChange, "path" | "old_path">[],
  may: MayEdit = (paths) => meet(constraintLayers(pass.constraints), "edit", paths),
): Promise<string | undefined> {
  const { auto_apply, require_user_approval } = pass.preference.values as Partial<Effective>
  if (auto_apply !== true || require_user_approval !== false) return
  if (!(await mayModify(store, pass))) return left("can_modify_files is false for it or for one above it")
  for (const path of files.flatMap((file) => [file.path, ...(file.old_path === null ? [] : [file.old_path])])) {
    const right = may([path])
    if (right.action === "deny") return left(`for ${path} ${forbidden(pass, right)}`)
    if (right.action === "ask") return left(`for ${path} the rules of ${right.who} want a person asked`)
  }
  return undefined
}

const left = (why: string) => `this does not apply itself, it is left for a person to decide about: ${why}`

/** Applies a result by itself where the policy wants it so. A stale base or anything else leaves it a proposal. */
export async function autoApply(deps: ChangeDeps, pass: Pass, outcome: Outcome, may?: MayEdit): Promise<Outcome> {
  if (!appliesItself(pass, outcome)) return outcome
  const found = await changeOf(deps, pass)
  if (!found.ok) return outcome
  const { change } = found
  if (await barred(deps, pass, change.files, may)) return outcome
  // It was for a tree that is gone: what becomes of it there is for somebody to decide.
  if ((await targetOf(deps.store, pass, change.directory)).moved) return outcome
  const verdicts = change.files.map(({ path }) => ({ path, hunk: null, accepted: true, reason: null }))
  const stray = await review(deps, { pass, change, verdicts, actor: AUTO })
  const planned = stray ? undefined : await preview(deps, change)
  if (!planned?.ok) return outcome
  const applied = await applyAndVerify(deps, { pass, change, actor: AUTO, approval: planned.planned.approval })
  if (!applied.ok) {
    deps.log("info", "a result was not applied by itself", { pass_over_id: pass.id, why: applied.refusal.message })
    return outcome
  }
  const { metadata } = (await deps.store.outcome(pass.id))?.output ?? outcome.output
  return { ...outcome, output: { ...outcome.output, metadata } }
}
