import { answer } from "./answer"
import { activityOf, ask, draftOf, end, keep, logged, nodeIn, roleOf, spend, update, type Draft } from "./draft"
import { go, type Came } from "./go"
import { resume, retry, skip } from "./order"
import type { BranchNode, FlowPlan, PlanNode } from "./plan"
import { routeBranch, routeCritic, routeFailure, routeWork, unfinished } from "./route"
import { ENDED, type FlowEffect, type FlowInputEntry, type Leave, type RunState } from "./state"
import { proceed, review, work } from "./walk"
import { gateTitle } from "./values"

/**
 * A flow's run, as a value: from a state and what has happened follow the next state and what is to be done about it.
 * The same inputs give the same state, so a run is kept as the list of its inputs.
 */
export type FlowNext = { state: RunState; effects: FlowEffect[] }

/** A clarification was given: whoever asked goes on with it. */
function clarified(draft: Draft, node: PlanNode | BranchNode, { work: pass, leave }: Came) {
  const activity = activityOf(draft, node.id)
  const words = [...activity.words, { by: "agent" as const, name: leave.agent, text: leave.context.summary }]
  update(draft, node.id, { words, back: leave })
  if (node.kind === "gate") return ask(draft, node.id, "gate", gateTitle(draft.plan, draft.state, node))
  if (node.kind === "parallel") return
  if (pass.repairs === "critic" && node.kind === "pass") return review(draft, node)
  work(draft, node)
}

/** Whoever was to help a step did not finish: the step has failed with it. */
function unhelped(draft: Draft, node: PlanNode | BranchNode, came: Came) {
  if (node.kind === "gate" || node.kind === "parallel") return ask(draft, node.id, "failed", unfinished(came.leave))
  go(draft, node, routeFailure(node.step, came.leave), came)
}

const LOGGED = { completed: "completed", partial: "completed", failed: "failed", aborted: "failed" } as const

function left(draft: Draft, key: string, leave: Leave) {
  const pass = draft.state.open[key]
  if (!pass || pass.type !== "pass") return
  delete draft.state.open[key]
  draft.state.held = draft.state.held.filter((each) => each !== key)
  spend(draft, pass.node, leave)
  logged(draft, pass.handoff, LOGGED[leave.status])
  keep(draft, pass, leave.envelope)
  const node = nodeIn(draft, pass.node)
  if (!node) return
  const specialist = pass.role === "clarify" || pass.role === "detour"
  if (specialist && leave.failure) return unhelped(draft, node, { work: pass, leave })
  if (pass.role === "clarify") return clarified(draft, node, { work: pass, leave })
  if (node.kind === "gate" || node.kind === "parallel") return
  if (pass.role === "detour") {
    const words = [
      ...activityOf(draft, node.id).words,
      { by: "agent" as const, name: leave.agent, text: leave.context.summary },
    ]
    update(draft, node.id, { words, repaired: false, back: leave })
    return work(draft, node)
  }
  if (node.kind === "branch") {
    const activity = update(draft, node.id, { work: leave })
    return go(draft, node, routeBranch(node.step, activity, leave), { work: pass, leave })
  }
  if (roleOf(pass) === "critic" && node.step.critic) {
    const activity = update(draft, node.id, { critic: leave })
    return go(draft, node, routeCritic(node.step.critic, node.step, activity, leave), { work: pass, leave })
  }
  const { critic: _answered, allowed: _about, ...rest } = activityOf(draft, node.id)
  draft.state.active[node.id] = { ...rest, work: leave }
  go(draft, node, routeWork(node.step, activityOf(draft, node.id), leave), { work: pass, leave })
}

function apply(draft: Draft, input: FlowInputEntry) {
  if (input.type === "start") return proceed(draft)
  if (input.type === "left") return left(draft, input.key, input.leave)
  if (input.type === "answered") return answer(draft, input.key, input.answer)
  if (input.type === "pause") return void (draft.state.paused = true)
  if (input.type === "resume") return resume(draft)
  if (input.type === "cancel") return end(draft, "cancelled", input.reason || `cancelled by ${input.actor}`)
  if (input.type === "skip") return skip(draft, input.step, input.reason)
  retry(draft, input.step)
}

function status({ state }: Draft): RunState["status"] {
  if (ENDED.includes(state.status)) return state.status
  if (state.paused) return "paused"
  const open = Object.values(state.open)
  return open.length > 0 && open.every(({ type }) => type === "gate") ? "waiting" : "running"
}

/** What follows from what has happened. */
export function advance(plan: FlowPlan, state: RunState, input: FlowInputEntry, at: number): FlowNext {
  if (ENDED.includes(state.status) && input.type !== "retry") return { state, effects: [] }
  const draft = draftOf(plan, state, at)
  apply(draft, input)
  draft.state.status = status(draft)
  return { state: draft.state, effects: draft.effects }
}
