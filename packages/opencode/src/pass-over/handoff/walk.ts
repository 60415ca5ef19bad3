import { aggregate } from "./aggregate"
import { handedBy } from "./chain"
import {
  activityOf,
  ask,
  askForBudget,
  close,
  dropAll,
  end,
  keep,
  launch,
  nodeIn,
  ORIGINATOR,
  resultOf,
  skipped,
  update,
  type Draft,
} from "./draft"
import type { Routing } from "./envelope"
import { over, overOwn } from "./limit"
import { counted } from "./own-envelope"
import type { BranchNode, GateNode, ParallelNode, PassNode, PlanNode } from "./plan"
import { newActivity, type Activity, type StepResult } from "./state"
import { gateTitle, holdsIn } from "./values"

export type PassLike = PassNode | BranchNode

/** Whether the conditions of a node hold; a sentence where they cannot be told. */
export function wanted(draft: Draft, node: PlanNode | BranchNode): boolean | string {
  for (const guard of node.guards) {
    const held = holdsIn(draft.plan, draft.state, guard)
    if (!held.ok) return held.message
    if (!held.value) return false
  }
  return true
}

/** Begins the work of a step, or its next round: with what a specialist has left for it, where one was asked. */
export function work(draft: Draft, node: PassLike) {
  if (spent(draft, node, "work")) return
  const { back } = activityOf(draft, node.id)
  const from = back?.agent ?? handedBy(draft.plan, draft.state, node) ?? draft.plan.originator ?? ORIGINATOR
  launch(draft, { node: node.id, role: "work", agent: node.step.agent, from, ...(back ? { returns: true } : {}) })
}

/** Begins the review of what the worker left last. */
export function review(draft: Draft, node: PassNode) {
  const reviewer = node.step.critic
  if (!reviewer || spent(draft, node, "critic")) return
  const from = activityOf(draft, node.id).work?.agent ?? node.step.agent
  launch(draft, { node: node.id, role: "critic", agent: reviewer.agent, from })
}

/** Whether a person is asked at a step about a budget already. */
export const asksForBudget = ({ state }: Draft, node: string) =>
  Object.values(state.open).some((open) => open.type === "gate" && open.node === node && open.why === "budget")

/**
 * Whether the budget of the run or of the step is used up. Then a person is asked, about the run's once for a step and
 * all of its branches. They stand still where they are until there is an answer.
 */
export function spent(draft: Draft, node: PassLike, due: NonNullable<Activity["due"]>): boolean {
  const run = over(draft.plan, draft.state, node.scope)
  const used = run ?? overOwn(draft.state, node)
  if (used === undefined) return false
  const at = run && node.kind === "branch" ? node.of : node.id
  update(draft, node.id, { due })
  if (!asksForBudget(draft, at)) askForBudget(draft, at, used)
  return true
}

function begin(draft: Draft, node: PassLike): void {
  update(draft, node.id, newActivity(node.id))
  work(draft, node)
}

function enterParallel(draft: Draft, node: ParallelNode) {
  update(draft, node.id, newActivity(node.id))
  for (const branch of node.branches) {
    const skip = draft.state.skips[branch.id]
    const asked = skip === undefined ? wanted(draft, branch) : false
    if (asked === true) begin(draft, branch)
    if (asked === false) close(draft, branch.id, skipped(draft, branch.id, skip ?? "its condition does not hold"))
    if (typeof asked === "string") untold(draft, branch, asked)
  }
  settleParallel(draft, node)
}

/** Whether a step is wanted cannot be told: a person says it. */
function untold(draft: Draft, node: PlanNode | BranchNode, why: string) {
  update(draft, node.id, newActivity(node.id))
  ask(draft, node.id, "condition", `the condition of ${node.id} cannot be told: ${why}`)
}

function enterGate(draft: Draft, node: GateNode) {
  update(draft, node.id, newActivity(node.id))
  ask(draft, node.id, "gate", gateTitle(draft.plan, draft.state, node))
}

/** Begins a node; true where there was nothing to begin. */
function enter(draft: Draft, node: PlanNode): boolean {
  const skip = draft.state.skips[node.id]
  if (skip !== undefined) {
    close(draft, node.id, skipped(draft, node.id, skip))
    return true
  }
  const asked = wanted(draft, node)
  if (asked === false) {
    close(draft, node.id, skipped(draft, node.id, "its condition does not hold"))
    return true
  }
  if (typeof asked === "string") {
    untold(draft, node, asked)
    return false
  }
  start(draft, node)
  return draft.state.results[node.id] !== undefined
}

/** Begins a node once more, and goes on where there was nothing in it to begin. */
export function restart(draft: Draft, node: PlanNode) {
  start(draft, node)
  if (draft.state.results[node.id] !== undefined) proceed(draft)
}

/** Begins a node whose condition holds, or no longer matters. */
export function start(draft: Draft, node: PlanNode | BranchNode): void {
  if (node.kind === "pass" || node.kind === "branch") return begin(draft, node)
  if (node.kind === "parallel") return enterParallel(draft, node)
  enterGate(draft, node)
}

/** Goes through the flow until something has to be waited for. */
export function proceed(draft: Draft) {
  const { plan, state } = draft
  for (;;) {
    const node = plan.nodes[state.cursor]
    if (!node) return end(draft, "completed", null)
    if (state.results[node.id] === undefined && !enter(draft, node)) return
    state.cursor += 1
  }
}

/** A step is over: the flow goes on behind it, or its parallel step is counted. */
export function finish(
  draft: Draft,
  node: PlanNode | BranchNode,
  result = resultOf(draft, activityOf(draft, node.id)),
) {
  close(draft, node.id, result)
  if (node.kind !== "branch") return proceed(draft)
  const around = nodeIn(draft, node.of)
  if (around?.kind === "parallel" && settleParallel(draft, around)) proceed(draft)
}

/** A branch is left out: the votes are those of the others. */
export const branchOut = (draft: Draft, branch: BranchNode) =>
  finish(draft, branch, skipped(draft, branch.id, draft.state.skips[branch.id] ?? "left out"))

type Vote = { branch: BranchNode; result: StepResult }

const vote = ({ branch, result }: Vote) => ({
  task_id: branch.id,
  type: branch.step.phase ?? "validate",
  passed: result.passed,
  summary: result.summary,
  details: result.findings,
  weight: branch.step.weight,
})

const yesOrNo = ({ branch, result }: Vote) => `${branch.step.id} ${result.passed ? "yes" : "no"}`

/** What the branches of a parallel step come to together. */
function together(draft: Draft, node: ParallelNode, votes: readonly Vote[]): StepResult {
  const findings = aggregate(node.step.rule, votes.map(vote))
  const { passed, total, rule, overall_passed } = findings.aggregation
  const summary = `${passed} of ${total} branches passed (${rule}): ${votes.map(yesOrNo).join(", ")}`
  const all = <T>(take: (result: StepResult) => readonly T[] | undefined) =>
    votes.flatMap(({ result }) => take(result) ?? [])
  return resultOf(draft, activityOf(draft, node.id), {
    status: overall_passed ? "VERIFIED" : "UNVERIFIED",
    decision: overall_passed ? "PROCEED" : "STOP",
    passed: overall_passed,
    summary,
    findings,
    files: [...new Set(all((result) => result.files))],
    tokens: votes.reduce((sum, { result }) => sum + result.tokens, 0),
    cost: votes.reduce((sum, { result }) => sum + result.cost, 0),
    context: {
      summary: [summary, ...votes.map(({ branch, result }) => `${branch.step.id}: ${result.summary}`)]
        .join("\n")
        .slice(0, 20_000),
      decisions: all((result) => result.context.decisions).slice(0, 500),
      artifacts: all((result) => result.context.artifacts).slice(0, 2_000),
      open_questions: all((result) => result.context.open_questions).slice(0, 500),
    },
  })
}

/** A parallel step leaves an envelope too, and another one where a person goes on over it. */
export function putTogether(draft: Draft, node: ParallelNode, routing: Routing) {
  const result = draft.state.results[node.id]
  if (!result) return
  const by = { node: node.id, agent: draft.plan.originator ?? ORIGINATOR }
  keep(draft, by, counted(draft, by, { node, result, routing }))
}

/** Counts the votes once all are in. True where the step is over with it. */
function settleParallel(draft: Draft, node: ParallelNode): boolean {
  const votes = node.branches.flatMap((branch) => {
    const result = draft.state.results[branch.id]
    return result ? [{ branch, result }] : []
  })
  if (votes.length < node.branches.length) return false
  // What was asked on behalf of branches that have been left out meanwhile.
  dropAll(draft, (id) => id === node.id)
  const cast = votes.filter(({ result }) => !result.skipped)
  const result = together(draft, node, cast)
  close(draft, node.id, result)
  const stops = cast.filter(({ result }) => result.veto).map(({ branch }) => branch.step.id)
  const fine = cast.length === 0 || result.passed || node.step.on_failure === "continue"
  const on = fine && stops.length === 0
  putTogether(draft, node, { recommendation: on ? "CONTINUE" : "ESCALATE", reason: result.summary })
  if (on) return true
  const reason = [stops.length > 0 ? `${stops.join(", ")} says stop` : "", result.summary].filter(Boolean).join("; ")
  const ends = stops.length === 0 && node.step.on_failure === "stop"
  if (ends) end(draft, "stopped", reason)
  if (!ends) ask(draft, node.id, stops.length > 0 ? "stop" : "parallel", reason)
  return false
}
