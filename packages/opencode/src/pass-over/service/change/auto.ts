import type { ChangeSet, FileChange } from "../../domain/change/change"
import type { Verdict } from "../../domain/change/review"
import { constraintLayers } from "../../domain/constraint"
import { blockers } from "../../domain/outcome"
import type { Pass } from "../../domain/pass"
import { valuesOf } from "../../domain/policy"
import { meet, type Right } from "../../domain/right"
import { heldIn } from "../flow-held"
import { openGate } from "../gate"
import type { Outcome } from "../port"
import { forbidden } from "../right"
import { applyAndVerify, changeOf, preview, review } from "./act"
import { approvalFor } from "./apply"
import { approvalGate } from "./approve"
import type { ChangeDeps } from "./deps"
import { mayModify } from "./place"
import { hunkCounts, plan, type Planned } from "./plan"
import { targetOf, type Target } from "./target"
import { problems } from "./write"

/** Who applies where nobody does. */
export const AUTO = "auto_apply"

/** Only what its agent lets go, what is proven, and what nobody has a word against. */
export function fitToApply(pass: Pass, { output, error_code }: Outcome): boolean {
  const { verdict, change } = output.summary
  return (
    valuesOf(pass).auto_apply &&
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

type Files = readonly Pick<FileChange, "path" | "old_path">[]

/** Why files are not written without a person's word: who proposes may not do more than who edits. */
async function forbids(
  { store }: Pick<ChangeDeps, "store">,
  pass: Pass,
  files: Files,
  may: MayEdit = (paths) => meet(constraintLayers(pass.constraints), "edit", paths),
): Promise<string | undefined> {
  if (!(await mayModify(store, pass))) return left("can_modify_files is false for it or for one above it")
  for (const path of files.flatMap((file) => [file.path, ...(file.old_path === null ? [] : [file.old_path])])) {
    const right = may([path])
    if (right.action === "deny") return left(`for ${path} ${forbidden(pass, right)}`)
    if (right.action === "ask") return left(`for ${path} the rules of ${right.who} want a person asked`)
  }
  return undefined
}

const left = (why: string) => `this does not apply itself, it is left for a person to decide about: ${why}`

/** Why a change does not apply itself although the policy wants it so, and wants nobody asked. */
export async function barred(
  deps: Pick<ChangeDeps, "store">,
  pass: Pass,
  files: Files,
  may?: MayEdit,
): Promise<string | undefined> {
  const { auto_apply, require_user_approval } = valuesOf(pass)
  return auto_apply && !require_user_approval ? forbids(deps, pass, files, may) : undefined
}

/** All files of a change but those that somebody has decided about already. */
export function rest(change: ChangeSet, said: readonly Verdict[] = []): Verdict[] {
  const decided = new Set(said.map(({ path }) => path))
  return change.files
    .filter(({ path }) => !decided.has(path))
    .map(({ path }) => ({ path, hunk: null, accepted: true, reason: null }))
}

/** All that nobody has decided about: files, and the other hunks of those of which only hunks were decided about. */
export async function undecided(deps: Pick<ChangeDeps, "store">, change: ChangeSet): Promise<Verdict[]> {
  const said = await deps.store.verdicts(change.change_id)
  const whole = new Set(said.flatMap(({ path, hunk }) => (hunk === null ? [path] : [])))
  const parted = change.files.filter(({ path }) => !whole.has(path) && said.some((one) => one.path === path))
  const counts = await hunkCounts(deps, { ...change, files: parted })
  const hunks = Array.from(counts, ([path, count]) =>
    Array.from({ length: count }, (_, index) => ({ path, hunk: index + 1, accepted: true, reason: null })),
  )
  const others = hunks.flat().filter(({ path, hunk }) => !said.some((one) => one.path === path && one.hunk === hunk))
  return [...rest(change, said), ...others]
}

type Fit = { pass: Pass; change: ChangeSet; target: Target }

/**
 * Applies a result by itself where the policy wants it so, or asks a person first where it wants that too. A stale base
 * or anything else leaves it a proposal.
 */
export async function autoApply(deps: ChangeDeps, pass: Pass, outcome: Outcome, may?: MayEdit): Promise<Outcome> {
  if (!fitToApply(pass, outcome)) return outcome
  const found = await changeOf(deps, pass)
  if (!found.ok) return outcome
  const { change } = found
  const target = await targetOf(deps.store, pass, change.directory)
  // It was for a tree that is gone: what becomes of it there is for somebody to decide.
  if (target.moved) return outcome
  // What others have made of it is written by itself only where their settings let it, too.
  const others = await heldIn(deps.store, pass, change)
  if (others.some((other) => !valuesOf(other).auto_apply)) return outcome
  // What is written into a tree of ours is proposed to the user with all that is in it.
  const asks = [pass, ...others].some((each) => valuesOf(each).require_user_approval) && !target.tree
  if (asks) return asking(deps, { pass, change, target }, outcome)
  if (await forbids(deps, pass, change.files, may)) return outcome
  return applying(deps, { pass, change, target }, outcome)
}

async function applying(deps: ChangeDeps, { pass, change }: Fit, outcome: Outcome): Promise<Outcome> {
  const stray = await review(deps, { pass, change, verdicts: rest(change), actor: AUTO })
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

/** Nobody is asked about what cannot be written anyway. */
async function writable(deps: ChangeDeps, { target }: Fit, { ops }: Planned): Promise<boolean> {
  if (ops.length === 0) return false
  const tree = await deps.openTree(target.directory).catch(() => undefined)
  if (!tree) return false
  try {
    return (await problems(tree, ops)).length === 0
  } finally {
    tree.close()
  }
}

/** Puts the whole of it to a person; nobody waits for the answer here (`approved.ts` carries it out). */
async function asking(deps: ChangeDeps, fit: Fit, outcome: Outcome): Promise<Outcome> {
  const { pass, change, target } = fit
  const made = await plan(deps, change, rest(change), approvalFor(deps, target))
  if (!made.ok || !(await writable(deps, fit, made.planned))) return outcome
  await openGate(
    deps,
    approvalGate({
      pass,
      change,
      ...made.planned,
      asked_by: pass.originating_agent_id,
      auto: true,
      ttl_ms: valuesOf(pass).gate_ttl_ms,
    }),
  )
  return { ...outcome, asked: true }
}
