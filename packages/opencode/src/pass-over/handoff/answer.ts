import { activityOf, ask, end, launch, logged, nodeIn, resultOf, update, type Draft } from "./draft"
import { go } from "./go"
import type { BranchNode, GateNode, ParallelNode, PassNode, PlanNode } from "./plan"
import { routeBranch } from "./route"
import { newActivity, type GateWork, type Verdict, type Why } from "./state"
import { finish, proceed, restart, spent, work } from "./walk"

/** What each answer does, in the words that a person reads beside the question. */
export const OPTIONS = {
  gate: {
    approve: "Continue with next step",
    reject: "Adjustments required",
    question: "Clarification needed",
  },
  clarify: {
    approve: "Go on; what you write is the answer that the agent works with",
    reject: "Stop the run",
    question: "What you write goes back to the agent",
  },
  blocked: {
    approve: "Go on; with what you write, the agent tries again",
    reject: "Stop the run",
    question: "What you write goes back to the agent",
  },
  failed: {
    approve: "Do it again",
    reject: "Stop the run",
    question: "Do it again, with what you write",
  },
  handoff: {
    approve: "Take the handoff as it is",
    reject: "Stop the run",
    question: "What you write goes back to the agent",
  },
  stop: {
    approve: "Go on all the same",
    reject: "Stop the run",
    question: "What you write goes back to the agent, which does the step again",
  },
  escalate: {
    approve: "Take what there is and go on",
    reject: "Stop the run",
    question: "What you write goes back to the agent, which does the step again",
  },
  loop: {
    approve: "Take what there is and go on",
    reject: "Stop the run",
    question: "Another round, with what you write",
  },
  budget: {
    approve: "Grant the same budget once more",
    reject: "Stop the run",
    question: "Grant the same budget once more, and tell the agent what you write",
  },
  condition: {
    approve: "Do the step all the same",
    reject: "Stop the run",
    question: "Leave the step out",
  },
  parallel: {
    approve: "Go on all the same",
    reject: "Stop the run",
    question: "Do all branches again, with what you write",
  },
} as const satisfies Record<Why, Record<Verdict["verdict"], string>>

const said = (given: Verdict) => given.note?.trim() || undefined

function told(draft: Draft, node: string, given: Verdict) {
  const text = said(given)
  if (text === undefined) return
  const words = activityOf(draft, node).words
  update(draft, node, { words: [...words, { by: "person", name: given.by ?? "a person", text }] })
}

type Pass = PassNode | BranchNode

/** The step once more, with a person's words; its loop begins to count anew. */
function once(draft: Draft, node: Pass, given: Verdict) {
  told(draft, node.id, given)
  const { before: _dropped, ...rest } = activityOf(draft, node.id)
  const next = { ...rest, round: rest.work ? rest.round + 1 : rest.round, repaired: false, clarified: 0, detoured: 0 }
  draft.state.active[node.id] = next
  work(draft, node)
}

// A person who lets a step pass has looked at it: what comes after may rely on it as far as they did.
const accepted = (draft: Draft, node: Pass, given: Verdict) =>
  finish(
    draft,
    node,
    resultOf(draft, activityOf(draft, node.id), {
      passed: true,
      decision: "PROCEED",
      reason: [`let through by ${given.by ?? "a person"}`, said(given)].filter(Boolean).join(": "),
    }),
  )

/** The step that a gate sends back is done again, and everything between it and the gate. */
function sentBack(draft: Draft, gate: GateNode, given: Verdict) {
  const { plan, state } = draft
  const from = plan.nodes.findIndex((node) => node.id === gate.on_reject)
  const target = plan.nodes[from]
  if (!target || target.kind !== "pass") return end(draft, "stopped", said(given) ?? `rejected at ${gate.step.gate}`)
  const before = state.results[target.id]
  for (const node of plan.nodes.slice(from)) {
    delete state.results[node.id]
    delete state.active[node.id]
    if (node.kind === "parallel") for (const branch of node.branches) delete state.results[branch.id]
  }
  state.cursor = from
  update(draft, target.id, { ...newActivity(target.id), round: (before?.rounds ?? 0) + 1 })
  told(draft, target.id, { ...given, note: said(given) ?? `Adjustments required at ${gate.step.gate}` })
  work(draft, target)
}

function atGate(draft: Draft, node: GateNode, given: Verdict) {
  if (given.verdict === "approve") {
    const summary = [`${node.step.gate}: approved`, said(given)].filter(Boolean).join(": ")
    const result = resultOf(draft, activityOf(draft, node.id), {
      status: "VERIFIED",
      passed: true,
      summary,
      context: { summary },
      reason: said(given) ?? null,
    })
    return finish(draft, node, result)
  }
  if (given.verdict === "reject") return sentBack(draft, node, given)
  const agent = draft.state.results[node.takes.at(-1) ?? node.on_reject ?? ""]?.agent
  if (!agent) return ask(draft, node.id, "gate", node.step.gate)
  told(draft, node.id, given)
  launch(draft, {
    node: node.id,
    role: "clarify",
    agent,
    from: given.by ?? "human",
    questions: [said(given) ?? "A person wants to know more before they decide."],
  })
}

function atBudget(draft: Draft, node: Pass, given: Verdict) {
  draft.state.grants += 1
  told(draft, node.id, given)
  const { work: done, critic } = activityOf(draft, node.id)
  const reviewed = "critic" in node.step ? node.step.critic : undefined
  // The pass that there was no budget for is the one that is due now.
  if (done && !critic && reviewed)
    return launch(draft, { node: node.id, role: "critic", agent: reviewed.agent, from: done.agent })
  if (critic) update(draft, node.id, { round: activityOf(draft, node.id).round + 1 })
  work(draft, node)
}

function atPass(draft: Draft, node: Pass, why: Why, given: Verdict) {
  if (why === "budget") return atBudget(draft, node, given)
  if (given.verdict === "question" || why === "failed") return once(draft, node, given)
  if ((why === "clarify" || why === "blocked") && said(given) !== undefined) return once(draft, node, given)
  // Nothing was left that could be taken as it is.
  if (!activityOf(draft, node.id).work) return once(draft, node, given)
  accepted(draft, node, given)
}

/** The branches that stood still for want of budget go on where they were. */
function granted(draft: Draft, node: ParallelNode, given: Verdict) {
  draft.state.grants += 1
  for (const branch of node.branches) {
    const { due, ...rest } = draft.state.active[branch.id] ?? newActivity(branch.id)
    if (due === undefined) continue
    draft.state.active[branch.id] = rest
    told(draft, branch.id, given)
    const activity = activityOf(draft, branch.id)
    if (due !== "work" && activity.work)
      go(draft, branch, routeBranch(branch.step, activity, activity.work), { work: due, leave: activity.work })
    if (due === "work" && !spent(draft, branch)) work(draft, branch)
  }
}

function atParallel(draft: Draft, node: PlanNode, given: Verdict) {
  const result = draft.state.results[node.id]
  if (given.verdict === "approve" && result) {
    draft.state.results[node.id] = {
      ...result,
      passed: true,
      decision: "PROCEED",
      reason: said(given) ?? "let through",
    }
    return proceed(draft)
  }
  delete draft.state.results[node.id]
  if (node.kind === "parallel") for (const branch of node.branches) delete draft.state.results[branch.id]
  restart(draft, node)
  if (node.kind === "parallel") for (const branch of node.branches) told(draft, branch.id, given)
}

function atCondition(draft: Draft, node: PlanNode, given: Verdict) {
  if (given.verdict !== "question") return restart(draft, node)
  draft.state.skips[node.id] = said(given) ?? "left out by a person"
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
  // Whoever was to answer a question at the gate did not: the gate is asked again as it is.
  if (node.kind === "parallel" && gate.why === "budget") return granted(draft, node, given)
  if (node.kind === "gate" && gate.why === "failed") return ask(draft, node.id, "gate", node.step.gate)
  if (gate.why === "condition" && node.kind !== "branch") return atCondition(draft, node, given)
  if (node.kind === "pass" || node.kind === "branch") return atPass(draft, node, gate.why, given)
  atParallel(draft, node, given)
}
