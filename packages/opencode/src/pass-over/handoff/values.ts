import { fill, holds, stepsIn, type Evaluated, type Values } from "./expression"
import { inputsOf, type FlowPlan, type GateNode, type Guard } from "./plan"
import type { RunState, StepResult } from "./state"

const shown = (result: StepResult): Record<string, unknown> => ({
  status: result.status,
  decision: result.decision,
  passed: result.passed,
  skipped: result.skipped,
  summary: result.summary,
  files: result.files,
  concerns: result.concerns,
  rounds: result.rounds,
  tokens: result.tokens,
  cost: result.cost,
  findings: result.findings,
})

/** Whether a condition of a scope holds. Of a long flow only the steps are looked at that it names. */
export function holdsIn(plan: FlowPlan, state: RunState, { text, scope }: Guard): Evaluated<boolean> {
  const ids = plan.scopes[scope]?.ids ?? {}
  const steps = (stepsIn(text) ?? Object.keys(ids)).flatMap((id) => {
    const result = Object.hasOwn(ids, id) ? state.results[ids[id] ?? ""] : undefined
    return result ? [[id, shown(result)] as const] : []
  })
  return holds(text, { ...wordsOf(plan, state, scope), steps: Object.fromEntries(steps) })
}

/** What the words of a task see: what earlier steps left is never part of them. */
export const wordsOf = (plan: FlowPlan, state: RunState, scope: number, round = 1): Values => ({
  inputs: inputsOf(plan, scope, state.inputs),
  steps: {},
  flow: { name: plan.name },
  round,
})

/** What a gate is about, in the words of its flow. */
export const gateTitle = (plan: FlowPlan, state: RunState, { id, step, scope }: GateNode): string =>
  fill(step.gate, wordsOf(plan, state, scope)).trim() || id
