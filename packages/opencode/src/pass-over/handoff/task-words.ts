import { roleOf } from "./draft"
import { fill } from "./expression"
import type { BranchNode, FlowPlan, PassNode, PlanNode } from "./plan"
import type { Activity, PassWork, RunState } from "./state"
import { wordsOf } from "./values"

export type TaskContext = {
  plan: FlowPlan
  state: RunState
  work: PassWork
  node: PlanNode | BranchNode
  activity: Activity
}

export type TaskWords = {
  objective: string
  constraints: string[]
  success_criteria: string[]
  deliverable?: string
}

type Own = PassNode["step"] | BranchNode["step"]

/** The words of a pass by its role; none of them comes from what a model said. */
export function wordsFor({ plan, state, work, node, activity }: TaskContext, own: Own): TaskWords {
  const say = (text: string) => fill(text, wordsOf(plan, state, node.scope, work.round)).trim()
  // Where a flow's own words come to nothing, what a person wrote about it is what is to be done.
  const written = activity.words.findLast(({ by }) => by === "person")?.text ?? ""
  const lines = (values: readonly string[] | undefined) => (values ?? []).map(say).filter((line) => line !== "")
  const critic = "critic" in own ? own.critic : undefined
  if (roleOf(work) === "critic" && critic && work.role !== "clarify") {
    // What was written to the worker before is no task for its critic.
    const asked = activity.critic?.failure ? written : ""
    return {
      objective: say(critic.objective) || asked,
      constraints: lines(critic.constraints),
      success_criteria: [...lines(critic.success_criteria), ...lines(own.success_criteria)],
      deliverable: "A verdict with every concern and its place",
    }
  }
  const detour = work.role === "detour" ? plan.detours.find((each) => each.id === work.detour) : undefined
  const { step, scope } = detour ?? { step: own, scope: node.scope }
  const at = (text: string) => fill(text, wordsOf(plan, state, scope, work.round)).trim()
  const again =
    work.role === "work" && activity.critic
      ? " The review of your last round goes along: deal with every concern of it."
      : ""
  const objective = at(step.objective) || written
  const deliverable = step.deliverable ? at(step.deliverable) : ""
  return {
    objective: objective === "" ? "" : `${objective}${again}`,
    constraints: lines(step.constraints),
    success_criteria: lines(step.success_criteria),
    ...(deliverable ? { deliverable } : {}),
  }
}
