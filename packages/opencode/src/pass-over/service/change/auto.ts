import { blockers } from "../../domain/outcome"
import type { Pass } from "../../domain/pass"
import { valuesOf } from "../../domain/policy"
import type { Outcome } from "../port"
import { applyAndVerify, changeOf, preview, review } from "./act"
import type { ChangeDeps } from "./deps"
import { targetOf } from "./target"

/** Who applies where nobody does. */
export const AUTO = "auto_apply"

/** Decision 11: only what its agent lets go, what is proven, and what nobody has a word against. */
export function appliesItself(pass: Pass, { output, error_code }: Outcome): boolean {
  const { auto_apply, require_user_approval } = valuesOf(pass)
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

/** Applies a result by itself where the policy wants it so. A stale base or anything else leaves it a proposal. */
export async function autoApply(deps: ChangeDeps, pass: Pass, outcome: Outcome): Promise<Outcome> {
  if (!appliesItself(pass, outcome)) return outcome
  const found = await changeOf(deps, pass)
  if (!found.ok) return outcome
  const { change } = found
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
