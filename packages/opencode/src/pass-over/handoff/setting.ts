import { both } from "../domain/override"
import type { InlineOverride } from "../domain/preference"
import { takesOf } from "./chain"
import { roleOf } from "./draft"
import { nodeOf, type BranchNode, type FlowPlan, type PassNode, type PlanNode } from "./plan"
import type { PassWork, RunState } from "./state"

export type PassSettings = { policy: InlineOverride; model: string | undefined }

type Own = Pick<PassNode["step"], "policy" | "model" | "timeout_ms">

type Whose = { plan: FlowPlan; state: RunState; work: PassWork; node: PlanNode | BranchNode }

const critical = (work: PassWork) => roleOf(work) === "critic" && work.role !== "clarify"

/** The step that an agent works by which is only asked something: its own, not the one of whoever asks. */
function asked({ plan, state, work, node }: Whose): Own {
  const near = [node.id, ...takesOf(plan, state, node).toReversed()].flatMap((id) => {
    const found = nodeOf(plan, id)
    return found?.kind === "parallel" ? found.branches : (found ?? [])
  })
  const own = near.find((each) => "agent" in each.step && each.step.agent === work.agent)
  return own && "agent" in own.step ? own.step : {}
}

function ownOf(whose: Whose, step: Own): Own {
  const { plan, work } = whose
  if (work.role === "clarify") return asked(whose)
  if (work.role === "detour") return plan.detours.find(({ id }) => id === work.detour)?.step ?? {}
  const critic = critical(work) && "critic" in step ? (step as PassNode["step"]).critic : undefined
  if (!critic) return step
  const model = critic.model ?? step.model
  return { ...(critic.policy ? { policy: critic.policy } : {}), ...(model === undefined ? {} : { model }) }
}

/** The policies of the flows around a step, the outermost first. */
function around(plan: FlowPlan, scope: number): InlineOverride[] {
  const here = plan.scopes[scope]
  if (!here) return []
  return [...(here.parent === null ? [] : around(plan, here.parent)), here.policy]
}

/**
 * What a pass of a run is made with. A step may say otherwise than its own flow; what a flow around that one says holds
 * besides, so that a flow allows no more as a step than it does alone, and no more than the flow that it is a step of.
 */
export function settingsOf(whose: Whose, step: Own): PassSettings {
  const own = ownOf(whose, step)
  const policies = around(whose.plan, whose.node.scope)
  const { timeout_ms } = own
  const inside = { ...policies.at(-1), ...own.policy, ...(timeout_ms === undefined ? {} : { timeout_ms }) }
  const policy = policies.slice(0, -1).reduceRight<InlineOverride>((inner, outer) => both(outer, inner), inside)
  return { policy, model: own.model }
}
