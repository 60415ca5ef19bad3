import { meantBy } from "./chain"
import { dropAll, skipped, type Draft } from "./draft"
import type { BranchNode, PlanNode } from "./plan"
import { finish, proceed } from "./walk"

const withBranches = (node: PlanNode | BranchNode) => [
  node.id,
  ...(node.kind === "parallel" ? node.branches.map((branch) => branch.id) : []),
]

/** Everything from a step on is undone, so that it is done again. */
export function retry(draft: Draft, step: string) {
  const { plan, state } = draft
  const wanted = meantBy(plan, step).flatMap((node) => (node.kind === "branch" ? [node.of, node.id] : [node.id]))
  const from = plan.nodes.findIndex(({ id }) => id === wanted[0])
  if (from < 0 || from > state.cursor) return
  const undone = new Set(plan.nodes.slice(from).flatMap(withBranches))
  dropAll(draft, (node) => undone.has(node))
  for (const each of undone) {
    delete state.results[each]
    delete state.active[each]
  }
  // What a person left out besides stays left out: nobody has said otherwise.
  for (const each of wanted) delete state.skips[each]
  state.cursor = from
  state.status = "running"
  state.reason = null
  proceed(draft)
}

/** Leaves a step out: the one in work, or one that is still to come. */
export function skip(draft: Draft, step: string, reason: string) {
  const out = meantBy(draft.plan, step).filter(({ id }) => draft.state.results[id] === undefined)
  for (const { id } of out) draft.state.skips[id] = reason
  const node = out.find(({ id }) => draft.state.active[id] !== undefined)
  if (!node) return
  const own = new Set(withBranches(node))
  dropAll(draft, (id) => own.has(id))
  for (const id of own) delete draft.state.active[id]
  finish(draft, node, skipped(draft, node.id, reason))
}

/** What waited for it begins. */
export function resume(draft: Draft) {
  const { state } = draft
  state.paused = false
  const held = state.held
  state.held = []
  for (const key of held) {
    const work = state.open[key]
    if (work?.type === "pass") draft.effects.push({ type: "pass", work })
  }
}
