import { z } from "zod"
import { markOf, what, type Mark } from "./diagram"
import type { BranchNode, FlowPlan, PlanNode } from "./plan"
import { Why, type RunState } from "./state"

export const MARKS = ["done", "failed", "skipped", "active", "waiting", "pending"] as const satisfies readonly Mark[]

const box = {
  id: z.string(),
  kind: z.enum(["pass", "parallel", "gate", "branch"]),
  /** Who works there, or what is asked. */
  about: z.string(),
  mark: z.enum(MARKS),
  /** It runs only where a condition holds. */
  conditional: z.boolean(),
  critic: z.strictObject({ agent: z.string(), rounds: z.int() }).nullable(),
  result: z
    .strictObject({
      status: z.string(),
      reason: z.string().nullable(),
      summary: z.string(),
      rounds: z.int(),
      tokens: z.number(),
      cost: z.number(),
      cached: z.boolean(),
      pass_over_id: z.string().nullable(),
    })
    .nullable(),
  working: z.array(z.strictObject({ agent: z.string(), role: z.string(), round: z.int() })),
  waiting: z.array(z.strictObject({ why: Why, reason: z.string() })),
}

export const SketchBox = z.strictObject(box)
export type SketchBox = z.infer<typeof SketchBox>
export const SketchNode = z.strictObject({ ...box, branches: z.array(SketchBox) })
export type SketchNode = z.infer<typeof SketchNode>

function resultOf(state: RunState | undefined, id: string): SketchBox["result"] {
  const found = state?.results[id]
  if (!found) return null
  const { status, reason, summary, rounds, tokens, cost, cached, pass_over_id } = found
  return { status, reason, summary, rounds, tokens, cost, cached, pass_over_id }
}

function boxOf(node: PlanNode | BranchNode, conditional: boolean, state: RunState | undefined): SketchBox {
  const all = Object.values(state?.open ?? {}).filter((work) => work.node === node.id)
  const open = all.filter((work) => !state?.held.includes(work.key))
  // What is held while the run is paused has not begun.
  const held = all.length > 0 && open.length === 0
  const critic = node.kind === "pass" ? node.step.critic : undefined
  return {
    id: node.id,
    kind: node.kind,
    about: node.kind === "branch" ? node.step.agent : what(node),
    mark: held ? "pending" : markOf(state, node.id),
    conditional,
    critic: critic ? { agent: critic.agent, rounds: critic.rounds } : null,
    result: resultOf(state, node.id),
    working: open.flatMap((work) =>
      work.type === "pass" ? [{ agent: work.agent, role: work.role, round: work.round }] : [],
    ),
    waiting: open.flatMap((work) => (work.type === "gate" ? [{ why: work.why, reason: work.reason }] : [])),
  }
}

/** A flow or a run as boxes to be drawn, in their order; what runs side by side stands within one. */
export const sketch = (plan: FlowPlan, state?: RunState): SketchNode[] =>
  plan.nodes.map((node) => ({
    ...boxOf(node, node.guards.length > 0, state),
    branches:
      node.kind === "parallel"
        ? node.branches.map((branch) => boxOf(branch, branch.guards.length > node.guards.length, state))
        : [],
  }))
