import { handedBy } from "./chain"
import { activityOf, ask, end, launch, logged, roleOf, update, type Draft } from "./draft"
import { scoreOf } from "./envelope"
import type { Way } from "./route"
import type { Activity, Leave, PassWork } from "./state"
import { finish, spent, work, type PassLike } from "./walk"

export type Came = { work: PassWork; leave: Leave }

/** Does what a leave asks for. */
export function go(draft: Draft, node: PassLike, way: Way, came: Came) {
  const { work: pass, leave } = came
  const activity = activityOf(draft, node.id)
  const base = { node: node.id, from: leave.agent }
  if (way.go === "on") return finish(draft, node)
  if (way.go === "ask") {
    if (node.step.on_failure === "stop" && way.why === "failed") return end(draft, "stopped", way.reason)
    return ask(draft, node.id, way.why, way.reason)
  }
  if (spent(draft, node, pass)) return
  if (way.go === "critic" && "critic" in node.step && node.step.critic)
    return launch(draft, { ...base, role: "critic", agent: node.step.critic.agent })
  if (way.go === "again") return again(draft, node, activity)
  if (way.go === "repair") {
    update(draft, node.id, { repaired: true })
    const repairs = roleOf(pass) === "critic" ? "critic" : "work"
    return launch(draft, { ...base, role: "repair", agent: leave.agent, problems: way.problems, repairs })
  }
  if (way.go === "detour") {
    const detour = draft.plan.detours.find((each) => each.scope === node.scope && each.step.id === way.to)
    update(draft, node.id, { detoured: activity.detoured + 1 })
    if (detour) return launch(draft, { ...base, role: "detour", agent: detour.step.agent, detour: detour.id })
  }
  if (way.go === "clarify") return clarify(draft, node, way.questions, pass)
}

/** The next round, with what the critic said. */
function again(draft: Draft, node: PassLike, activity: Activity) {
  const { before: _dropped, ...rest } = activity
  const { critic } = activity
  const before = critic ? { before: scoreOf(critic.envelope.concerns), back: critic } : {}
  draft.state.active[node.id] = { ...rest, round: activity.round + 1, repaired: false, ...before }
  work(draft, node)
}

/** A question goes back to whoever handed over; where that is nobody's agent, to a person. */
function clarify(draft: Draft, node: PassLike, questions: string[], pass: PassWork) {
  const activity = activityOf(draft, node.id)
  update(draft, node.id, { clarified: activity.clarified + 1 })
  const source = roleOf(pass) === "critic" ? activity.work?.agent : handedBy(draft.plan, draft.state, node)
  logged(draft, pass.handoff, "clarification")
  if (!source) return ask(draft, node.id, "clarify", questions.join(" "))
  launch(draft, {
    node: node.id,
    role: "clarify",
    agent: source,
    from: pass.agent,
    questions,
    repairs: roleOf(pass) === "critic" ? "critic" : "work",
  })
}
