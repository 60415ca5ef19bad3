import { atGate, inquired } from "./answer-gate"
import { activityOf, ask, end, logged, nodeIn, resultOf, update, type Draft } from "./draft"
import { go } from "./go"
import { forget, grant, said, toBranches, told } from "./hear"
import type { BranchNode, ParallelNode, PassNode, PlanNode } from "./plan"
import { routeBranch, routeCritic, routeWork, unusable } from "./route"
import type { GateWork, Leave, PassWork, Verdict } from "./state"
import { gateTitle } from "./values"
import { asksForBudget, branchOut, finish, proceed, putTogether, restart, review, start, work } from "./walk"

type Pass = PassNode | BranchNode

/** What came back last: the review of a round, or the work that none has been made of. */
const last = (draft: Draft, node: Pass): Leave | undefined => {
  const { work: done, critic } = activityOf(draft, node.id)
  return critic ?? done
}

/** Goes on from what came back last, as if it came back now. */
function onFrom(draft: Draft, node: Pass, stood: Pick<PassWork, "key" | "handoff" | "from">, leave: Leave) {
  const activity = activityOf(draft, node.id)
  const critic = node.kind === "pass" && activity.critic ? node.step.critic : undefined
  const pass: PassWork = {
    type: "pass",
    key: stood.key,
    node: node.id,
    role: critic ? "critic" : "work",
    agent: leave.agent,
    round: activity.round,
    handoff: stood.handoff,
    from: stood.from,
  }
  const came = { work: pass, leave }
  if (node.kind === "branch") return go(draft, node, routeBranch(node.step, activity, leave), came)
  if (critic) return go(draft, node, routeCritic(critic, node.step, activity, leave), came)
  go(draft, node, routeWork(node.step, activity, leave), came)
}

/** The step once more, with a person's words; its rounds are counted anew. A review that was none is made again. */
function once(draft: Draft, node: Pass, given: Verdict) {
  told(draft, node.id, given)
  const anew = { repaired: false, clarified: 0, detoured: 0 }
  const { before: _dropped, ...rest } = activityOf(draft, node.id)
  if (node.kind === "pass" && node.step.critic && rest.work && rest.critic && unusable(rest.critic)) {
    update(draft, node.id, anew)
    return review(draft, node)
  }
  const round = rest.work ? { round: rest.round + 1, base: rest.round } : {}
  draft.state.active[node.id] = { ...rest, ...round, ...anew }
  work(draft, node)
}

const letThrough = (given: Verdict) =>
  [`let through by ${given.by ?? "a person"}`, said(given)].filter(Boolean).join(": ")

/**
 * A person overrules what was said. About work that nobody has reviewed yet that is no review: its critic comes. A
 * branch's vote is nobody's to change: what the votes come to can be overruled.
 */
function overruled(draft: Draft, node: Pass, given: Verdict) {
  const activity = activityOf(draft, node.id)
  if (node.kind === "branch") return finish(draft, node)
  if (node.step.critic && activity.work && !activity.critic) {
    update(draft, node.id, { allowed: letThrough(given) })
    return review(draft, node)
  }
  // A person who lets a step pass has looked at it: what comes after may rely on it as far as they did.
  const more = { passed: true, decision: "PROCEED" as const, reason: letThrough(given) }
  finish(draft, node, resultOf(draft, activity, more))
}

/** What was handed over is taken as it is; what it says holds, a no among it. */
function asItIs(draft: Draft, node: Pass, gate: GateWork) {
  const { critic, work: done } = activityOf(draft, node.id)
  const leave = critic ?? done
  if (!leave) return
  const taken = { ...leave, problems: [] }
  update(draft, node.id, critic ? { critic: taken } : { work: taken })
  onFrom(draft, node, gate, taken)
}

/** Goes on where a step stood still for want of budget. */
function afforded(draft: Draft, node: Pass, gate: GateWork, given: Verdict) {
  told(draft, node.id, given)
  const { due, ...rest } = activityOf(draft, node.id)
  draft.state.active[node.id] = rest
  if (due === "critic" && node.kind === "pass") return review(draft, node)
  const leave = last(draft, node)
  if (typeof due === "string" || !leave) return work(draft, node)
  onFrom(draft, node, due ?? gate, leave)
}

function atPass(draft: Draft, node: Pass, gate: GateWork, given: Verdict) {
  const { why } = gate
  const leave = last(draft, node)
  if (why === "budget") {
    grant(draft, gate)
    return afforded(draft, node, gate, given)
  }
  if (given.verdict === "question" || why === "failed") return once(draft, node, given)
  if ((why === "clarify" || why === "blocked") && said(given) !== undefined) return once(draft, node, given)
  // Nothing was left that could be taken as it is.
  if (!leave) return once(draft, node, given)
  if (why === "handoff") return asItIs(draft, node, gate)
  overruled(draft, node, given)
}

/** The branches that stood still for want of budget go on where they were. */
function granted(draft: Draft, node: ParallelNode, gate: GateWork, given: Verdict) {
  grant(draft, gate)
  for (const branch of node.branches) {
    const waits = draft.state.active[branch.id]?.due !== undefined
    // One whose own budget is asked about waits for that answer.
    if (waits && !asksForBudget(draft, branch.id)) afforded(draft, branch, gate, given)
  }
}

function atParallel(draft: Draft, node: PlanNode, given: Verdict) {
  const result = draft.state.results[node.id]
  if (given.verdict === "approve" && result) {
    const reason = letThrough(given)
    draft.state.results[node.id] = { ...result, passed: true, decision: "PROCEED", reason }
    if (node.kind === "parallel") putTogether(draft, node, { recommendation: "CONTINUE", reason })
    return proceed(draft)
  }
  forget(draft, node)
  restart(draft, node)
  toBranches(draft, node, given)
}

function atCondition(draft: Draft, node: PlanNode | BranchNode, given: Verdict) {
  const leaves = given.verdict === "question"
  if (leaves) draft.state.skips[node.id] = said(given) ?? "left out by a person"
  if (node.kind === "branch") return leaves ? branchOut(draft, node) : start(draft, node)
  if (!leaves) return restart(draft, node)
  delete draft.state.active[node.id]
  proceed(draft)
}

/** A person has answered. */
export function answer(draft: Draft, key: string, given: Verdict) {
  const gate = draft.state.open[key]
  if (!gate || gate.type !== "gate") return
  const node = nodeIn(draft, gate.node)
  if (!node) return
  delete draft.state.open[key]
  logged(
    draft,
    gate.handoff,
    given.verdict === "approve" ? "completed" : given.verdict === "reject" ? "rejected" : "clarification",
  )
  if (given.verdict === "reject" && gate.why !== "gate")
    return end(draft, "stopped", [gate.reason, said(given)].filter(Boolean).join(" — "))
  decided(draft, node, gate, given)
}

function decided(draft: Draft, node: PlanNode | BranchNode, gate: GateWork, given: Verdict) {
  if (node.kind === "gate" && gate.why === "gate") return atGate(draft, node, given)
  if (gate.why === "condition") return atCondition(draft, node, given)
  if (node.kind === "gate" && gate.why === "budget") {
    grant(draft, gate)
    return inquired(draft, node, given)
  }
  // Whoever was to answer a question at the gate did not: the gate is asked again as it is.
  if (node.kind === "gate") return ask(draft, node.id, "gate", gateTitle(draft.plan, draft.state, node))
  if (node.kind === "parallel" && gate.why === "budget") return granted(draft, node, gate, given)
  if (node.kind === "pass" || node.kind === "branch") return atPass(draft, node, gate, given)
  atParallel(draft, node, given)
}
