import { takesOf } from "./chain"
import { lastAgent, ORIGINATOR } from "./draft"
import { fill } from "./expression"
import { optionsOf } from "./option"
import { HUMAN, packageID, type HandoffDraft, type PackageContext } from "./package"
import type { FlowPlan } from "./plan"
import type { GateWork, RunState } from "./state"
import { wordsOf } from "./values"

/** What goes along with a question to a person, of one step or of several. */
function contextAt(state: RunState, nodes: readonly string[]): PackageContext | undefined {
  const there = nodes.flatMap((id) => {
    const context = state.results[id]?.context ?? state.active[id]?.work?.context
    return context ? [{ id, context }] : []
  })
  const [only] = there
  if (there.length <= 1) return only?.context
  return {
    summary: there.map(({ id, context }) => `${id}: ${context.summary}`).join("\n"),
    decisions: there.flatMap(({ context }) => context.decisions ?? []).slice(0, 500),
    artifacts: there.flatMap(({ context }) => context.artifacts ?? []).slice(0, 2_000),
    open_questions: there.flatMap(({ context }) => context.open_questions ?? []).slice(0, 500),
  }
}

const MOST_CONCERNS = 20

/** What is wrong with a step by its review, or by its own word: a person decides about these. */
function concernsAt(state: RunState, id: string): string[] {
  const { work, critic } = state.active[id] ?? {}
  const concerns = (critic ?? work)?.envelope.concerns ?? []
  return concerns
    .slice(0, MOST_CONCERNS)
    .map(({ severity, location, description }) => [severity, location, description].filter(Boolean).join(" "))
}

const clip = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text)

/** What was asked at a gate and answered, line by line. */
const spoken = (state: RunState, id: string) =>
  (state.active[id]?.words ?? []).map(
    ({ by, name, text }) => `${name} ${by === "person" ? "asked" : "answered"}: ${text}`,
  )

/** The package with which a person is asked, as `003` has it. */
export function escalation(plan: FlowPlan, state: RunState, asked: GateWork): HandoffDraft {
  const { node: id, why, reason } = asked
  const node = plan.nodes.find((each) => each.id === id)
  const gate = node?.kind === "gate" && why === "gate" ? node : undefined
  const say = (text: string) => (gate ? fill(text, wordsOf(plan, state, gate.scope)).trim() : text)
  const context = contextAt(state, gate ? takesOf(plan, state, gate) : [id])
  const items = gate ? gate.step.items.map(say).filter((item) => item !== "") : []
  const summary = [
    context?.summary ?? `The flow ${plan.name} waits at ${id}: ${reason}`,
    ...(gate ? spoken(state, id) : []),
  ].join("\n")
  return {
    handoff: {
      id: packageID(asked.handoff),
      from: { agent: asked.from, step: Math.max(0, state.cursor) },
      to: { agent: HUMAN, reason: gate ? "BLOCKING gate reached" : clip(reason, 2_000) || why },
      ...(gate
        ? { gate: { type: "blocking" as const, name: clip(say(gate.step.gate), 200) || gate.id, step: gate.id } }
        : {}),
      context: {
        summary: clip(summary, 20_000),
        ...(context?.artifacts ? { artifacts: context.artifacts } : {}),
        ...(context?.decisions ? { decisions: context.decisions } : {}),
        open_questions: gate
          ? (context?.open_questions ?? [])
          : [{ question: clip(reason, 20_000) || why, priority: "high" as const }],
      },
      validation_request: {
        items: items.length > 0 ? items : [clip(reason, 20_000) || why, ...concernsAt(state, id)],
        options: optionsOf(plan, state, asked),
      },
    },
  }
}

/** The package with which a run returns to whoever started it: the last that its log names. */
export function homecoming(plan: FlowPlan, state: RunState): HandoffDraft {
  const last = plan.nodes.findLast((node) => {
    const result = state.results[node.id]
    return result !== undefined && !result.skipped && (result.agent !== null || node.kind === "parallel")
  })
  const result = last ? state.results[last.id] : undefined
  return {
    handoff: {
      id: packageID(plan.first_handoff + state.log.length - 1),
      from: { agent: lastAgent(plan, state) ?? ORIGINATOR, step: null },
      to: { agent: plan.originator ?? ORIGINATOR, reason: `the flow ${plan.name} ${state.status}` },
      context: result?.context ?? {
        summary: `The flow ${plan.name} ${state.status}: ${state.reason ?? "nothing was left"}`,
      },
    },
  }
}
