import { nodeOf, type BranchNode, type FlowPlan, type PassNode, type PlanScope } from "./plan"
import type { FlowUsage, RunState } from "./state"

/** A budget that is used up: whose, and in words. */
export type Used = { of: string; reason: string }

// No step is called so.
const ofScope = (scope: number) => `#${scope}`

const times = ({ grants }: RunState, of: string) => (grants[of] ?? 0) + 1

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

function overIn(plan: FlowPlan, state: RunState, scope: number, { budget, prefix }: PlanScope): Used | undefined {
  const of = ofScope(scope)
  const often = times(state, of)
  const { tokens, cost, passes } = budget
  if (tokens === undefined && cost === undefined && passes === undefined) return undefined
  const used = scope === 0 ? wholeRun(state) : usedIn(plan, state, scope)
  const told = (what: string, value: number, most: number) => ({
    of,
    reason: `${prefix === "" ? "" : `${prefix.slice(0, -1)}: `}${line(what, value, most)}`,
  })
  if (tokens !== undefined && used.tokens >= tokens * often) return told("tokens", used.tokens, tokens * often)
  if (cost !== undefined && used.cost >= cost * often) return told("in cost", used.cost, cost * often)
  if (passes !== undefined && used.passes >= passes * often) return told("passes", used.passes, passes * often)
  return undefined
}

/**
 * The budget for which a step may begin no other pass: that of its flow, or of a flow around that one; nothing where it
 * may. What a person has granted counts as often as granted, and for this budget only.
 */
export function over(plan: FlowPlan, state: RunState, at: number): Used | undefined {
  const here = plan.scopes[at]
  if (!here) return undefined
  return overIn(plan, state, at, here) ?? (here.parent === null ? undefined : over(plan, state, here.parent))
}

/** The same for a step's own budget. */
export function overOwn(state: RunState, node: PassNode | BranchNode): Used | undefined {
  const often = times(state, node.id)
  const own = node.step.budget
  const spent = state.spent[node.id]
  if (!own || !spent) return undefined
  const told = (text: string) => ({ of: node.id, reason: `${node.id}: ${text}` })
  if (own.tokens !== undefined && spent.tokens >= own.tokens * often)
    return told(line("tokens", spent.tokens, own.tokens * often))
  if (own.cost !== undefined && spent.cost >= own.cost * often)
    return told(line("in cost", spent.cost, own.cost * often))
  return undefined
}
