import { activityOf, update, type Draft } from "./draft"
import type { PlanNode } from "./plan"
import type { GateWork, Verdict } from "./state"

/** What of a person's answer is the same wherever it was asked. */

export const said = (given: Verdict) => given.note?.trim() || undefined

/** What a person said is heard by whoever goes on with a step. */
export function told(draft: Draft, node: string, given: Verdict) {
  const text = said(given)
  if (text === undefined) return
  const words = activityOf(draft, node).words
  update(draft, node, { words: [...words, { by: "person", name: given.by ?? "a person", text }] })
}

export function forget(draft: Draft, node: PlanNode) {
  const { state } = draft
  for (const id of [node.id, ...(node.kind === "parallel" ? node.branches.map((branch) => branch.id) : [])]) {
    delete state.results[id]
    delete state.active[id]
  }
}

/** What a person said goes to every branch that has begun. */
export function toBranches(draft: Draft, node: PlanNode, given: Verdict) {
  if (node.kind !== "parallel") return
  for (const { id } of node.branches) if (draft.state.active[id]) told(draft, id, given)
}

/** The budget that was asked about, once more. */
export const grant = ({ state }: Draft, { budget = "" }: GateWork) =>
  void (state.grants[budget] = (state.grants[budget] ?? 0) + 1)
