import type { ChangeSet } from "../../domain/change/change"
import type { Engine } from "../engine"
import { applyAndVerify, preview, type AppliedAndVerified, type ApplyingAll } from "./act"
import type { ChangeDeps } from "./deps"
import { sendBack } from "./send-back"
import { viewChange, type ChangeView } from "./view"

export type Shown = ChangeView & {
  /** What an application of it is called as it stands; nothing where it cannot be applied, which `problem` tells. */
  approval: string | null
  problem: string | null
}

/** A change as a person decides about it. */
export async function showToPerson(deps: ChangeDeps, change: ChangeSet): Promise<Shown> {
  const [shown, planned] = await Promise.all([viewChange(deps, change), preview(deps, change)])
  return {
    ...shown,
    approval: planned.ok ? planned.planned.approval : null,
    problem: planned.ok ? null : planned.refusal.message,
  }
}

/** Writes what a person has accepted, and lets it be known what they have declined and why. */
export async function applyByPerson(
  engine: Engine,
  deps: ChangeDeps,
  applying: Pick<ApplyingAll, "pass" | "change" | "actor" | "approval">,
): Promise<AppliedAndVerified> {
  const applied = await applyAndVerify(deps, applying)
  if (!applied.ok) return applied
  const { pass, change, actor } = applying
  // There may well be nothing to say.
  await sendBack(engine, deps, { pass, change, actor, rework: false })
  return applied
}
