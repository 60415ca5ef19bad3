import { ORIGINATOR } from "./draft"
import { fill } from "./expression"
import { HUMAN, packageID, type HandoffDraft, type ValidationRequest } from "./package"
import type { FlowPlan } from "./plan"
import type { GateWork, RunState } from "./state"
import { wordsOf } from "./values"

/** The package with which a person is asked, as `003` has it. */
export function escalation(
  plan: FlowPlan,
  state: RunState,
  asked: GateWork,
  options: ValidationRequest["options"],
): HandoffDraft {
  const { node: id, why, reason } = asked
  const node = plan.nodes.find((each) => each.id === id)
  const gate = node?.kind === "gate" && why === "gate" ? node : undefined
  const context = (gate ? gate.takes : [id])
    .map((each) => state.results[each]?.context ?? state.active[each]?.work?.context)
    .find(Boolean)
  const items = gate ? gate.step.items.map((item) => fill(item, wordsOf(plan, state, gate.scope))) : [reason]
  return {
    handoff: {
      id: packageID(asked.handoff),
      from: { agent: asked.from, step: Math.max(0, state.cursor) },
      to: { agent: HUMAN, reason: gate ? "BLOCKING gate reached" : reason.slice(0, 2_000) || why },
      ...(gate ? { gate: { type: "blocking" as const, name: gate.step.gate.slice(0, 200), step: gate.id } } : {}),
      context: {
        summary: context?.summary ?? `The flow ${plan.name} waits at ${id}: ${reason}`.slice(0, 20_000),
        ...(context?.artifacts ? { artifacts: context.artifacts } : {}),
        ...(context?.decisions ? { decisions: context.decisions } : {}),
        open_questions: gate
          ? (context?.open_questions ?? [])
          : [{ question: reason.slice(0, 20_000) || why, priority: "high" as const }],
      },
      validation_request: { items, options },
    },
  }
}

/** The package with which a run returns to whoever started it. */
export function homecoming(plan: FlowPlan, state: RunState, number: number): HandoffDraft {
  const last = plan.nodes.findLast((node) => state.results[node.id]?.agent && !state.results[node.id]?.skipped)
  const result = last ? state.results[last.id] : undefined
  return {
    handoff: {
      id: packageID(number),
      from: { agent: result?.agent ?? ORIGINATOR, step: null },
      to: { agent: plan.originator ?? ORIGINATOR, reason: `the flow ${plan.name} ${state.status}` },
      context: result?.context ?? {
        summary: `The flow ${plan.name} ${state.status}: ${state.reason ?? "nothing was left"}`,
      },
    },
  }
}
