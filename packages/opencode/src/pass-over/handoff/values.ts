import { fill, type Values } from "./expression"
import { inputsOf, type FlowPlan, type GateNode } from "./plan"
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

/** What the conditions and templates of a scope see. */
export function valuesOf(plan: FlowPlan, state: RunState, scope: number, round = 1): Values {
  const steps = Object.entries(plan.scopes[scope]?.ids ?? {}).flatMap(([id, node]) => {
    const result = state.results[node]
    return result ? [[id, shown(result)] as const] : []
  })
  return {
    inputs: inputsOf(plan, scope, state.inputs),
    steps: Object.fromEntries(steps),
    flow: { name: plan.name },
    round,
  }
}

/** The same for the words of a task: what earlier steps left is never part of them. */
export const wordsOf = (plan: FlowPlan, state: RunState, scope: number, round = 1): Values => ({
  inputs: inputsOf(plan, scope, state.inputs),
  steps: {},
  flow: { name: plan.name },
  round,
})

/** What a gate is about, in the words of its flow. */
export const gateTitle = (plan: FlowPlan, state: RunState, { id, step, scope }: GateNode): string =>
  fill(step.gate, wordsOf(plan, state, scope)).trim() || id
