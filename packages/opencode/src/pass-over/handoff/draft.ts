import { scoreOf, type Envelope } from "./envelope"
import type { Used } from "./limit"
import { named } from "./named"
import { HUMAN, packageID } from "./package"
import { nodeOf, type BranchNode, type FlowPlan, type PlanNode } from "./plan"
import { passed } from "./route"
import {
  leftKey,
  newActivity,
  NO_SCORE,
  type Activity,
  type FlowEffect,
  type GateWork,
  type Leave,
  type LeftBy,
  type PassWork,
  type Role,
  type RunState,
  type StepResult,
  type Why,
} from "./state"

/** A run's next state while it is being made: its lists are its own, everything in them is replaced and never changed. */
export type Draft = { plan: FlowPlan; state: RunState; effects: FlowEffect[]; at: number }

export const draftOf = (plan: FlowPlan, state: RunState, at: number): Draft => ({
  plan,
  at,
  effects: [],
  state: {
    ...state,
    results: named(state.results),
    active: named(state.active),
    open: named(state.open),
    held: [...state.held],
    counters: named(state.counters),
    skips: named(state.skips),
    left: named(state.left),
    spent: named(state.spent),
    grants: named(state.grants),
    log: [...state.log],
  },
})

export const ORIGINATOR = "orchestrator"

export function activityOf({ state }: Draft, node: string): Activity {
  return state.active[node] ?? newActivity(node)
}

export function update(draft: Draft, node: string, change: Partial<Activity>): Activity {
  const changed = { ...activityOf(draft, node), ...change }
  draft.state.active[node] = changed
  return changed
}

function nextKey({ state }: Draft, node: string, mark: "#" | "?"): string {
  const name = `${node}${mark}`
  const number = (state.counters[name] ?? 0) + 1
  state.counters[name] = number
  return `${name}${number}`
}

function handedOver({ plan, state, at }: Draft, from: string, to: string): number {
  const number = plan.first_handoff + state.log.length
  state.log.push({
    id: packageID(number),
    timestamp: new Date(at).toISOString(),
    from,
    to,
    status: "pending",
  })
  return number
}

export function logged({ plan, state }: Draft, handoff: number, status: RunState["log"][number]["status"]) {
  const at = handoff - plan.first_handoff
  const entry = state.log[at]
  if (entry) state.log[at] = { ...entry, status }
}

/** Whose work a run ends with. */
export const lastAgent = (plan: FlowPlan, { results }: RunState) =>
  plan.nodes
    .flatMap((node) => [node.id, ...(node.kind === "parallel" ? node.branches.map(({ id }) => id) : [])])
    .flatMap((id) => results[id] ?? [])
    .findLast(({ agent, skipped: left }) => agent !== null && !left)?.agent ?? undefined

export type Launch = Pick<PassWork, "node" | "role" | "agent" | "from"> &
  Partial<Pick<PassWork, "detour" | "questions" | "problems" | "repairs" | "returns">>

/** Begins a pass; it waits where the run is paused. */
export function launch(draft: Draft, wanted: Launch) {
  const { state } = draft
  const activity = activityOf(draft, wanted.node)
  const work: PassWork = {
    type: "pass",
    key: nextKey(draft, wanted.node, "#"),
    round: activity.round,
    handoff: handedOver(draft, wanted.from, wanted.agent),
    ...wanted,
  }
  state.open[work.key] = work
  if (state.paused) state.held.push(work.key)
  if (!state.paused) draft.effects.push({ type: "pass", work })
}

function put(draft: Draft, node: string, asked: Pick<GateWork, "why" | "reason" | "budget">) {
  const from = activityOf(draft, node).work?.agent ?? draft.plan.originator ?? ORIGINATOR
  const work: GateWork = {
    type: "gate",
    key: nextKey(draft, node, "?"),
    node,
    ...asked,
    from,
    handoff: handedOver(draft, from, HUMAN),
  }
  draft.state.open[work.key] = work
  draft.effects.push({ type: "ask", work })
}

/** Asks a person. A run that is paused may be asked about all the same. */
export const ask = (draft: Draft, node: string, why: Why, reason: string) => put(draft, node, { why, reason })

/** Asks for more of a budget that is used up. */
export const askForBudget = (draft: Draft, node: string, { of, reason }: Used) =>
  put(draft, node, { why: "budget", reason, budget: of })

export function drop(draft: Draft, key: string, status: RunState["log"][number]["status"] = "failed") {
  const work = draft.state.open[key]
  if (!work) return
  delete draft.state.open[key]
  draft.state.held = draft.state.held.filter((each) => each !== key)
  logged(draft, work.handoff, status)
  draft.effects.push({ type: "drop", work })
}

export function dropAll(draft: Draft, of: (node: string) => boolean = () => true) {
  for (const work of Object.values(draft.state.open)) if (of(work.node)) drop(draft, work.key)
}

const spentOn = ({ state }: Draft, node: string) => state.spent[node] ?? { passes: 0, tokens: 0, cost: 0 }

export function spend(draft: Draft, node: string, leave: Leave) {
  const add = (usage: RunState["usage"]) => ({
    passes: usage.passes + 1,
    tokens: usage.tokens + leave.tokens,
    cost: usage.cost + leave.cost,
  })
  draft.state.usage = add(draft.state.usage)
  draft.state.spent[node] = add(spentOn(draft, node))
}

/** An envelope that a step leaves; the one before stays as that of an earlier round. */
export function keep(draft: Draft, work: LeftBy, envelope: Envelope) {
  const name = leftKey(work)
  const earlier = draft.state.left[name]
  draft.state.left[name] = { round: (earlier?.round ?? 0) + 1, envelope }
  draft.effects.push({ type: "left", work, envelope, ...(earlier ? { earlier } : {}) })
}

/** What a step comes to, from its worker's last word. */
export function resultOf(draft: Draft, activity: Activity, more: Partial<StepResult> = {}): StepResult {
  const { work, critic } = activity
  const { tokens, cost } = spentOn(draft, activity.node)
  const status = critic?.envelope.status ?? work?.envelope.status ?? "UNVERIFIED"
  return {
    node: activity.node,
    agent: work?.agent ?? null,
    pass_over_id: work?.pass_over_id ?? null,
    status,
    decision: work?.response?.decision ?? "PROCEED",
    passed: work !== undefined && (critic ? passed(critic) : passed(work)),
    skipped: false,
    reason: null,
    summary: work?.context.summary ?? "",
    context: work?.context ?? { summary: "nothing was left by this step" },
    files: work?.envelope.summary.evidence.artifacts_produced ?? [],
    concerns: work ? scoreOf((critic ?? work).envelope.concerns) : NO_SCORE,
    findings: { ...work?.response?.findings },
    rounds: activity.round,
    tokens,
    cost,
    cached: work?.cached ?? false,
    veto: work?.veto ?? false,
    ...(activity.allowed === undefined ? {} : { decision: "PROCEED" as const, reason: activity.allowed }),
    ...more,
  }
}

export function close(draft: Draft, node: string, result: StepResult) {
  delete draft.state.active[node]
  draft.state.results[node] = result
}

export const skipped = (draft: Draft, node: string, reason: string) =>
  resultOf(draft, newActivity(node), { skipped: true, reason, summary: "", context: { summary: `skipped: ${reason}` } })

export function end(draft: Draft, status: "completed" | "stopped" | "cancelled", reason: string | null) {
  dropAll(draft)
  // What the run comes to is handed to whoever started it.
  const home = handedOver(draft, lastAgent(draft.plan, draft.state) ?? ORIGINATOR, draft.plan.originator ?? ORIGINATOR)
  logged(draft, home, "completed")
  draft.state.status = status
  draft.state.reason = reason
  draft.state.paused = false
  draft.effects.push({ type: "ended", status, reason })
}

export const nodeIn = (draft: Draft, id: string): PlanNode | BranchNode | undefined => nodeOf(draft.plan, id)

export const roleOf = (work: PassWork): Role => (work.role === "repair" ? (work.repairs ?? "work") : work.role)

/** The node that a pass belongs to, and the words that it was given. */
export function nodeOfWork(plan: FlowPlan, work: PassWork) {
  const node = nodeOf(plan, work.node)
  const stepping = work.role === "clarify" && node && !("agent" in node.step) ? { agent: work.agent } : node?.step
  if (!node || !stepping) return undefined
  // A question at a gate or at a parallel step is put to an agent that has no step of its own there.
  if (!("objective" in stepping))
    return { node, step: { id: node.id, agent: work.agent, objective: "Answer a question." } }
  return { node, step: stepping }
}
