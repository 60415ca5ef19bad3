import { dropAll, nodeIn, skipped, type Draft } from "./draft"
import { finish, proceed } from "./walk"
import type { PlanNode } from "./plan"

const withBranches = (node: PlanNode) => [
  node.id,
  ...(node.kind === "parallel" ? node.branches.map((branch) => branch.id) : []),
]

/** Everything from a step on is undone, so that it is done again. */
export function retry(draft: Draft, step: string) {
  const { plan, state } = draft
  const branch = nodeIn(draft, step)
  const id = branch?.kind === "branch" ? branch.of : step
  const from = plan.nodes.findIndex((node) => node.id === id)
  if (from < 0 || from > state.cursor) return
  const undone = new Set(
    plan.nodes
      .slice(from)
      .flatMap((node) => [node.id, ...(node.kind === "parallel" ? node.branches.map((each) => each.id) : [])]),
  )
  dropAll(draft, (node) => undone.has(node))
  for (const each of undone) {
    delete state.results[each]
    delete state.active[each]
    delete state.skips[each]
  }
  state.cursor = from
  state.status = "running"
  state.reason = null
  proceed(draft)
}

/** Leaves a step out: the one in work, or one that is still to come. */
export function skip(draft: Draft, step: string, reason: string) {
  const node = nodeIn(draft, step)
  if (!node || draft.state.results[step]) return
  draft.state.skips[step] = reason
  if (!draft.state.active[step]) return
  const own = new Set(node.kind === "branch" ? [step] : withBranches(node))
  dropAll(draft, (id) => own.has(id))
  for (const id of own) delete draft.state.active[id]
  finish(draft, node, skipped(draft, step, reason))
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
