import type { Branch, Critic, PassStep } from "./definition"
import { improved, scoreOf } from "./envelope"
import { unclear } from "./package"
import type { Activity, Leave, Why } from "./state"

/** Where a step goes from what it left. */
export type Way =
  | { go: "on" }
  | { go: "critic" }
  | { go: "again" }
  | { go: "repair"; problems: string[] }
  | { go: "clarify"; questions: string[] }
  | { go: "detour"; to: string }
  | { go: "ask"; why: Why; reason: string }

/** How often an agent may ask back before a person is asked instead. */
const CLARIFICATIONS = 2
const DETOURS = 2

const ask = (why: Why, reason: string): Way => ({ go: "ask", why, reason })

const said = (leave: Leave) => leave.envelope.routing.reason || leave.context.summary

/** A leave with which the run as a whole has passed this step. */
export function passed(leave: Leave): boolean {
  const { response, envelope } = leave
  if (leave.status !== "completed" || envelope.status === "BLOCKED") return false
  if (envelope.routing.recommendation !== "CONTINUE") return false
  if (!response) return true
  if (response.decision !== "PROCEED") return false
  if (response.phase === "validate") return response.findings.overall_passed
  return response.phase !== "parallel" || response.findings.aggregation.overall_passed
}

/** A leave that says nothing about what it is about: it broke, was not understood, or is not in order. */
export const unusable = ({ failure, acknowledgment, problems }: Leave) =>
  failure !== undefined || problems.length > 0 || (acknowledgment !== undefined && unclear(acknowledgment).length > 0)

/** How many rounds there have been since they were last counted anew. */
const roundsOf = ({ round, base = 0 }: Activity) => round - base

/** Why an agent did not finish. What is told of a pass mostly begins with its code. */
export function unfinished({ agent, failure }: Leave): string {
  const { code = "", message = "" } = failure ?? {}
  return `${agent} did not finish: ${message.startsWith(code) ? message : `${code}: ${message}`}`
}

type Failing = Pick<PassStep, "on_failure">

/** From what broke: the step's own work, its review, or what it had asked for. */
export const routeFailure = ({ on_failure }: Failing, leave: Leave): Way =>
  on_failure === "continue" ? { go: "on" } : ask("failed", unfinished(leave))

/** What comes before all else: a step that broke, was not understood, or handed over badly. */
function trouble(step: Failing, activity: Activity, leave: Leave): Way | undefined {
  if (leave.failure) return routeFailure(step, leave)
  const questions = leave.acknowledgment ? unclear(leave.acknowledgment) : []
  if (questions.length > 0) {
    if (activity.clarified < CLARIFICATIONS) return { go: "clarify", questions }
    return ask("clarify", `${leave.agent} still needs to know: ${questions.join("; ")}`)
  }
  if (leave.problems.length === 0) return undefined
  if (!activity.repaired) return { go: "repair", problems: leave.problems }
  return ask("handoff", `${leave.agent}'s handoff is not in order: ${leave.problems.join("; ")}`)
}

/** STOP, CLARIFY, BLOCKED and ESCALATE: none of them is a machine's to overrule. */
function human(leave: Leave): Way | undefined {
  const { response, envelope } = leave
  const open = (leave.context.open_questions ?? []).map(({ question }) => question)
  if (response?.decision === "CLARIFY") return ask("clarify", open.length > 0 ? open.join(" ") : said(leave))
  if (response?.decision === "STOP") return ask("stop", said(leave))
  if (envelope.status === "BLOCKED") return ask("blocked", said(leave))
  if (envelope.routing.recommendation === "ESCALATE") return ask("escalate", said(leave))
  return undefined
}

function detour(step: PassStep, activity: Activity, leave: Leave): Way {
  const { next_step_suggestion: to, reason } = leave.envelope.routing
  const open = step.detours ?? []
  const chosen = to === undefined && open.length === 1 ? open[0] : to
  if (chosen === undefined || !open.includes(chosen))
    return ask(
      "escalate",
      `a detour${to ? ` to ${to}` : ""} was asked for, and this step has none by that name: ${reason}`,
    )
  if (activity.detoured >= DETOURS)
    return ask("loop", `${DETOURS} detours were made and another one is asked for: ${reason}`)
  return { go: "detour", to: chosen }
}

const bound = (rounds: number) => `the bound of ${rounds} round${rounds === 1 ? "" : "s"} is reached`

/** From what the worker left. With a critic, whether to loop is the critic's to say. */
export function routeWork(step: PassStep, activity: Activity, leave: Leave): Way {
  const first = trouble(step, activity, leave) ?? human(leave)
  // A review that finds something has done what it is for.
  const told = step.advisory === true && first?.go === "ask" && (first.why === "stop" || first.why === "escalate")
  if (told) return { go: "on" }
  if (first) return first
  const { routing } = leave.envelope
  if (routing.recommendation === "DETOUR") return detour(step, activity, leave)
  if (step.critic) return { go: "critic" }
  if (routing.recommendation !== "LOOP" || step.rounds === undefined) return { go: "on" }
  if (routing.can_further_iteration_help === false) return ask("loop", `no further round can help: ${routing.reason}`)
  if (roundsOf(activity) >= step.rounds) return ask("loop", `${bound(step.rounds)}: ${routing.reason}`)
  return { go: "again" }
}

/** From what the critic left: out of the loop, round again while it gets better, or to a person with the reason. */
export function routeCritic(critic: Critic, step: PassStep, activity: Activity, leave: Leave): Way {
  const first = trouble(step, activity, leave) ?? human(leave)
  if (first) return first
  const { routing, concerns } = leave.envelope
  if (routing.recommendation === "CONTINUE") return { go: "on" }
  if (routing.recommendation === "DETOUR") return detour(step, activity, leave)
  const now = scoreOf(concerns)
  if (routing.can_further_iteration_help === false) return ask("loop", `no further round can help: ${routing.reason}`)
  if (activity.before && !improved(activity.before, now))
    return ask(
      "loop",
      `round ${activity.round} brought no improvement (${concerns.length} concerns): ${routing.reason}`,
    )
  if (roundsOf(activity) >= critic.rounds) return ask("loop", `${bound(critic.rounds)}: ${routing.reason}`)
  return { go: "again" }
}

/** From what a branch left. Its no is a vote and not an end; what a person has to answer still reaches one. */
export function routeBranch(step: Branch, activity: Activity, leave: Leave): Way {
  if (leave.failure) return { go: "on" }
  const first = trouble(step, activity, leave)
  if (first) return first
  return leave.response?.decision === "CLARIFY" ? (human(leave) ?? { go: "on" }) : { go: "on" }
}
