import type { AgentInfo } from "../domain/agent"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { meantBy } from "../handoff/chain"
import { brokenIn, type FlowCatalog } from "../handoff/catalog"
import type { FlowDefinition } from "../handoff/definition"
import { meant } from "../handoff/nearest"
import { planFlow, required, type FlowPlan } from "../handoff/plan"
import { ENDED, type FlowInputEntry, type RunState } from "../handoff/state"

export const no = (code: PassOverErrorCode, message: string, suggestion?: string): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: refuse(code, message, suggestion === undefined ? {} : { suggestion }),
})

const CORRECT = "Correct the file; pass-over flow validate shows all faults."

/** A flow of a project, put together; or why it cannot run. */
export function planOf(
  catalog: FlowCatalog,
  name: string,
): { ok: true; plan: FlowPlan; flow: FlowDefinition } | { ok: false; refusal: Refusal } {
  const known = catalog.flows.get(name)
  // Also where another flow of this name is there: the file that is not in order is the one that was meant.
  const broken = catalog.faults.filter(({ names }) => names.includes(name))
  if (broken.length > 0)
    return no(PassOverErrorCode.CONFIG_INVALID, broken.flatMap(({ lines }) => lines).join("\n"), CORRECT)
  if (!known)
    return no(
      PassOverErrorCode.NOT_FOUND,
      `There is no flow "${name}".${meant(name, catalog.flows.keys())}`,
      `Known: ${[...catalog.flows.keys()].join(", ")}.`,
    )
  const flows = new Map([...catalog.flows].map(([key, { flow }]) => [key, flow]))
  const planned = planFlow(known.flow, flows, brokenIn(catalog))
  if (!planned.ok)
    return no(
      PassOverErrorCode.CONFIG_INVALID,
      `${known.path}: ${planned.step ? `${planned.step}: ` : ""}${planned.message}`,
      CORRECT,
    )
  return { ok: true, plan: planned.plan, flow: known.flow }
}

/** Every agent that a flow may pass work to. */
export function agentsOf({ nodes, detours }: FlowPlan): string[] {
  const named = [...nodes, ...detours].flatMap((node) => {
    if (node.kind === "parallel") return node.branches.map(({ step }) => step.agent)
    if (node.kind === "gate") return []
    return [node.step.agent, ...(node.step.critic ? [node.step.critic.agent] : [])]
  })
  return [...new Set(named)]
}

/** Why a flow cannot run among these agents: one that it names is not there. */
export function strangerIn(plan: FlowPlan, agents: readonly AgentInfo[]): Refusal | undefined {
  const known = agents.map(({ name }) => name)
  const named = [...(plan.originator === null ? [] : [plan.originator]), ...agentsOf(plan)]
  const stranger = named.find((name) => !known.includes(name))
  if (stranger === undefined) return undefined
  return refuse(
    PassOverErrorCode.INVALID_SUBAGENT,
    `The flow ${plan.name} names "${stranger}", and there is no such agent.${meant(stranger, known)}`,
    { suggestion: "Correct the name in the flow's file, or add the agent to opencode's configuration." },
  )
}

export function inputProblem(flow: FlowDefinition, inputs: Record<string, string>): string | undefined {
  const known = Object.keys(flow.inputs ?? {})
  const strange = Object.keys(inputs).find((name) => !known.includes(name))
  if (strange !== undefined) return `The flow ${flow.name} has no input "${strange}".${meant(strange, known)}`
  const missing = required(flow).filter((name) => !Object.hasOwn(inputs, name) || !inputs[name]?.trim())
  return missing.length > 0 ? `The flow ${flow.name} also needs: ${missing.join(", ")}.` : undefined
}

/** What a person may call a step: as the flow's file does, a sub-flow by the name of its step. */
function stepNames({ nodes, scopes }: FlowPlan): string[] {
  const steps = nodes.flatMap((node) => [
    node.id,
    ...(node.kind === "parallel" ? node.branches.map(({ id }) => id) : []),
  ])
  return [...steps, ...scopes.flatMap(({ prefix }) => (prefix === "" ? [] : [prefix.slice(0, -1)]))]
}

/** A step that is named and that the flow has not. */
function strangeStep(plan: FlowPlan, step: string): string | undefined {
  const known = stepNames(plan)
  return known.includes(step) ? undefined : `There is no step "${step}".${meant(step, known)}`
}

/** Why an input does nothing: it names what there is not, or the state has no use for it. */
export function vain(plan: FlowPlan, state: RunState, input: FlowInputEntry): Refusal | undefined {
  const strange = input.type === "retry" || input.type === "skip" ? strangeStep(plan, input.step) : undefined
  if (strange) return refuse(PassOverErrorCode.NOT_FOUND, strange, { suggestion: "Look at the run first." })
  const problem = idle(plan, state, input)
  return problem
    ? refuse(PassOverErrorCode.STALE_REVISION, problem, { suggestion: "Look at the run first." })
    : undefined
}

/** Inputs that a state has no use for, in words. */
function idle(plan: FlowPlan, state: RunState, input: FlowInputEntry): string | undefined {
  if (input.type === "retry" || input.type === "skip") {
    const steps = meantBy(plan, input.step)
    if (input.type === "skip" && steps.every(({ id }) => state.results[id] !== undefined))
      return `The step ${input.step} is over already.`
    if (input.type === "retry" && !steps.some(({ id }) => state.results[id] ?? state.active[id]))
      return `The step ${input.step} has not begun yet.`
  }
  if (ENDED.includes(state.status) && input.type !== "retry") return `The run has ended already (${state.status}).`
  if (input.type === "pause" && state.paused) return "The run is paused already."
  if (input.type === "resume" && !state.paused) return "The run is not paused."
  return undefined
}
