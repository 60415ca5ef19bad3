import { nodeOf, type BranchNode, type FlowPlan, type GateNode, type PlanNode } from "./plan"
import type { RunState } from "./state"

/**
 * Which of the earlier steps go along to a step, and which one a gate sends back. A flow may leave that open; then it
 * follows from the run: a step that was left out has left nothing, and a gate has no work of its own to hand over.
 */

type Ran = Pick<RunState, "results">

const left = ({ results }: Ran, { id }: PlanNode) => results[id] !== undefined && !results[id].skipped

/** The nearest step of a stretch that has left something, and what was said at the gates behind it. */
function nearest(nodes: readonly PlanNode[], state: Ran): string[] {
  const there = nodes.filter((node) => left(state, node))
  const last = there.findLastIndex(({ kind }) => kind !== "gate")
  return there.slice(Math.max(0, last)).map(({ id }) => id)
}

function earlier({ nodes }: FlowPlan, node: PlanNode | BranchNode): PlanNode[] {
  const own = node.kind === "branch" ? node.of : node.id
  return nodes.slice(
    0,
    nodes.findIndex(({ id }) => id === own),
  )
}

/** The steps of a sub-flow, by the name of the step that it stands for. */
export const stepsOf = ({ nodes }: FlowPlan, name: string): PlanNode[] =>
  nodes.filter(({ id }) => id.startsWith(`${name}.`))

/** What a name in a flow's file stands for: a step, a branch, or all steps of a sub-flow. */
export function meantBy(plan: FlowPlan, name: string): (PlanNode | BranchNode)[] {
  const node = nodeOf(plan, name)
  return node ? [node] : stepsOf(plan, name)
}

/** The steps whose results go along: those that the flow names, or the nearest one before. */
export function takesOf(plan: FlowPlan, state: Ran, node: PlanNode | BranchNode): string[] {
  if (node.kind === "parallel") return []
  if (node.takes === null) return nearest(earlier(plan, node), state)
  return node.takes.flatMap((name) => (nodeOf(plan, name) ? [name] : nearest(stepsOf(plan, name), state)))
}

/** Who hands a step its work: the agent of the last of the steps that go along; nobody where none has one. */
export function handedBy(plan: FlowPlan, state: Ran, node: PlanNode | BranchNode): string | undefined {
  return takesOf(plan, state, node)
    .flatMap((id) => state.results[id]?.agent ?? [])
    .at(-1)
}

/** The step that a gate's flow names; of a sub-flow the first that was not left out: nobody has said otherwise of those. */
function namedBy(plan: FlowPlan, state: Ran, { step, scope, on_reject }: GateNode): PlanNode | undefined {
  const prefix = plan.scopes[scope]?.prefix ?? ""
  const begun = stepsOf(plan, `${prefix}${step.on_reject}`).find((node) => left(state, node))
  return begun ?? plan.nodes.find(({ id }) => id === on_reject)
}

/** The step that is done again where a person rejects: the one that the flow names, or the nearest piece of work. */
export function redone(plan: FlowPlan, state: Ran, gate: GateNode): PlanNode | undefined {
  if (gate.on_reject !== null) return namedBy(plan, state, gate)
  const there = earlier(plan, gate).filter((node) => left(state, node))
  return there.findLast(({ kind }) => kind === "pass") ?? there.findLast(({ kind }) => kind === "parallel")
}
