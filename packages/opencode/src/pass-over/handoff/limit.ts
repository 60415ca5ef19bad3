import type { BranchNode, FlowPlan, PassNode } from "./plan"
import type { RunState } from "./state"

const line = (what: string, used: number, most: number) => `the budget of ${most} ${what} is used up (${used})`

/** Why a run may not begin another pass; nothing where it may. What a person has granted counts as often as granted. */
export function over(plan: FlowPlan, state: RunState): string | undefined {
  const times = state.grants + 1
  const { tokens, cost, passes } = plan.budget
  const { usage } = state
  if (tokens !== undefined && usage.tokens >= tokens * times) return line("tokens", usage.tokens, tokens * times)
  if (cost !== undefined && usage.cost >= cost * times) return line("in cost", usage.cost, cost * times)
  const begun = usage.passes + Object.values(state.open).filter(({ type }) => type === "pass").length
  if (passes !== undefined && begun >= passes * times) return line("passes", begun, passes * times)
  return undefined
}

/** Why a step may not go on by its own budget; nothing where it may. */
export function overOwn(state: RunState, node: PassNode | BranchNode): string | undefined {
  const times = state.grants + 1
  const own = node.step.budget
  const spent = state.spent[node.id]
  if (!own || !spent) return undefined
  if (own.tokens !== undefined && spent.tokens >= own.tokens * times)
    return `${node.id}: ${line("tokens", spent.tokens, own.tokens * times)}`
  if (own.cost !== undefined && spent.cost >= own.cost * times)
    return `${node.id}: ${line("in cost", spent.cost, own.cost * times)}`
  return undefined
}
