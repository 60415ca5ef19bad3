import { redone, takesOf } from "./chain"
import { fill } from "./expression"
import type { ValidationRequest } from "./package"
import { nodeOf, type BranchNode, type FlowPlan, type GateNode, type PassNode, type PlanNode } from "./plan"
import { unusable } from "./route"
import type { Activity, GateWork, RunState, Why } from "./state"
import { wordsOf } from "./values"

type Options = ValidationRequest["options"]

const STOP = "Stop the run"

/** Whom a question at a gate is put to: who did what is looked at; of branches one that said no before the others. */
export function answerer(plan: FlowPlan, state: RunState, node: GateNode): string | undefined {
  const again = redone(plan, state, node)
  for (const id of [...takesOf(plan, state, node).toReversed(), ...(again ? [again.id] : [])]) {
    const found = nodeOf(plan, id)
    const there = found?.kind === "parallel" ? found.branches.map((branch) => branch.id) : [id]
    const results = there.flatMap((each) => state.results[each] ?? []).filter(({ agent }) => agent !== null)
    const agent = (results.find(({ passed }) => !passed) ?? results[0])?.agent
    if (agent) return agent
  }
  return undefined
}

function atGate(plan: FlowPlan, state: RunState, node: GateNode): Options {
  const asked = answerer(plan, state, node)
  const again = redone(plan, state, node)
  const own = Object.entries(node.step.options ?? {}).map(
    ([verdict, text = ""]) => [verdict, fill(text, wordsOf(plan, state, node.scope)).trim()] as const,
  )
  return {
    approve: "Continue with next step",
    reject: again
      ? `Adjustments required: ${again.id} is done again with what you write, and what comes after it`
      : "Adjustments required: there is no step to do again, so this ends the run",
    question: asked
      ? `Clarification needed: ${asked} is asked what you write, and you are asked here again with the answer`
      : "Clarification needed: there is no agent to ask, so you are asked here again",
    ...Object.fromEntries(own.filter(([, text]) => text !== "")),
  }
}

type At = { node: PassNode | BranchNode; activity: Activity | undefined }

/** Who is to hear what a person writes: the critic where its own answer cannot be used, the worker otherwise. */
function heard({ node, activity }: At): string {
  const critic = activity?.critic
  return critic && unusable(critic) ? critic.agent : node.step.agent
}

function onward({ node, activity }: At): string {
  if (node.kind === "branch") return "its vote counts as it was cast"
  const { critic } = node.step
  if (activity?.critic) return "the work is taken as it is, over what its review says, and the run goes on"
  return critic ? `the run goes on all the same, with the review by ${critic.agent}` : "the run goes on all the same"
}

function taken(at: At): string {
  if (at.node.kind === "branch") return "Take the handoff as it is: its vote counts as it was cast"
  if (at.activity?.critic) return "Take the review as it is: what it says holds, also where it wants another round"
  const { critic } = at.node.step
  return critic
    ? `Take the handoff as it is: the review by ${critic.agent} follows`
    : "Take the handoff as it is: what it says about the way on holds"
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function atPass(why: Why, at: At): Options {
  const who = heard(at)
  const redone = { reject: STOP, question: `What you write goes back to ${who}, which does it again` }
  if (why === "failed")
    return { approve: `${who} does it again`, reject: STOP, question: `${who} does it again, with what you write` }
  if (why === "handoff") return { ...redone, approve: taken(at) }
  if (why === "clarify" || why === "blocked")
    return { ...redone, approve: `With what you write, ${who} tries again; without a word, ${onward(at)}` }
  return { ...redone, approve: capital(onward(at)) }
}

const BUDGET: Options = {
  approve: "Grant the same budget once more",
  reject: STOP,
  question: "Grant the same budget once more, and tell the agent what you write",
}

const CONDITION: Options = { approve: "Do the step all the same", reject: STOP, question: "Leave the step out" }

const PARALLEL: Options = {
  approve: "Go on all the same: the step counts as passed, over the votes against it",
  reject: STOP,
  question: "Do all branches again, with what you write",
}

const AGAIN: Options = { approve: "You are asked at the gate again", reject: STOP, question: "You are asked again" }

/** What each answer does, in the words that a person reads beside the question. */
export function optionsOf(plan: FlowPlan, state: RunState, { node: id, why }: GateWork): Options {
  const node: PlanNode | BranchNode | undefined = nodeOf(plan, id)
  if (why === "budget") return BUDGET
  if (why === "condition") return CONDITION
  if (node?.kind === "gate") return why === "gate" ? atGate(plan, state, node) : AGAIN
  if (node === undefined || node.kind === "parallel") return PARALLEL
  return atPass(why, { node, activity: state.active[id] })
}
