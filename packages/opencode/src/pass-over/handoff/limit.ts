import { nodeOf, type BranchNode, type FlowPlan, type PassNode, type PlanScope } from "./plan"
import type { FlowUsage, RunState } from "./state"

const line = (what: string, used: number, most: number) => `the budget of ${most} ${what} is used up (${used})`

/** Whether a scope is another one or lies in it. */
function inside(plan: FlowPlan, scope: number, around: number): boolean {
  if (scope === around) return true
  const parent = plan.scopes[scope]?.parent ?? null
  return parent !== null && inside(plan, parent, around)
}

/** What the steps of a scope have used, the flows in it among them. */
function usedIn(plan: FlowPlan, state: RunState, scope: number): FlowUsage {
  const here = (node: string) => {
    const found = nodeOf(plan, node)
    return found !== undefined && inside(plan, found.scope, scope)
  }
  const open = Object.values(state.open).filter(({ type, node }) => type === "pass" && here(node)).length
  const used = Object.entries(state.spent).flatMap(([node, usage]) => (here(node) ? usage : []))
  return {
    passes: open + used.reduce((sum, { passes }) => sum + passes, 0),
    tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: used.reduce((sum, { cost }) => sum + cost, 0),
  }
}

const wholeRun = ({ usage, open }: RunState): FlowUsage => ({
  ...usage,
  passes: usage.passes + Object.values(open).filter(({ type }) => type === "pass").length,
})

function overIn(plan: FlowPlan, state: RunState, scope: number, { budget, prefix }: PlanScope): string | undefined {
  const times = state.grants + 1
  const { tokens, cost, passes } = budget
  if (tokens === undefined && cost === undefined && passes === undefined) return undefined
  const used = scope === 0 ? wholeRun(state) : usedIn(plan, state, scope)
  const told = (what: string, value: number, most: number) =>
    `${prefix === "" ? "" : `${prefix.slice(0, -1)}: `}${line(what, value, most)}`
  if (tokens !== undefined && used.tokens >= tokens * times) return told("tokens", used.tokens, tokens * times)
  if (cost !== undefined && used.cost >= cost * times) return told("in cost", used.cost, cost * times)
  if (passes !== undefined && used.passes >= passes * times) return told("passes", used.passes, passes * times)
  return undefined
}

/**
 * Why a step may begin no other pass: the budget of its flow, or of a flow around that one, is used up; nothing where it
 * may. What a person has granted counts as often as granted.
 */
export function over(plan: FlowPlan, state: RunState, at: number): string | undefined {
  const here = plan.scopes[at]
  if (!here) return undefined
  return overIn(plan, state, at, here) ?? (here.parent === null ? undefined : over(plan, state, here.parent))
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
