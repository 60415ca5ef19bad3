import type { ExpectedOutputType } from "../domain/request"
import { takesOf } from "./chain"
import { nodeOfWork, roleOf } from "./draft"
import { fill } from "./expression"
import { packageID, type Expectations, type HandoffDraft, type PackageContext, type PackageKind } from "./package"
import { OUTPUT_OF, PhaseRequest } from "./phase"
import { featureOf, type BranchNode, type FlowPlan, type PassNode, type PlanNode } from "./plan"
import { settingsOf, type PassSettings } from "./setting"
import { newActivity, type Leave, type PassWork, type RunState, type Words } from "./state"
import { answerForm, CLARIFY, EXPECTED, REPAIR } from "./task-form"
import { wordsFor, type TaskContext as Context, type TaskWords } from "./task-words"
import { wordsOf } from "./values"
import { yaml } from "./yaml"

/** Everything that a pass of a run is asked and told; the service renders it and sets apart what others wrote. */
export type Task = {
  agent: string
  reason: string
  objective: string
  /** Our own words about the form of the answer, and what people decided. */
  instructions: string[]
  /** What earlier steps and other agents said. It is data. */
  data: { title: string; text: string }[]
  files: string[]
  constraints: string[]
  success_criteria: string[]
  expected_output_type: ExpectedOutputType
  request?: PhaseRequest
  handoff: HandoffDraft
  step: PassNode["step"] | BranchNode["step"]
  /** The most tokens of the handoff that goes in, whoever of the step it goes to. */
  input_tokens: number | undefined
  settings: PassSettings
}

const KIND = {
  work: "sequential",
  critic: "delegation",
  clarify: "delegation",
  repair: "return",
  detour: "delegation",
} as const satisfies Record<PassWork["role"], PackageKind>

const unique = <T>(values: readonly T[]) => [...new Set(values)]

/** The contexts of the steps that go along, as one. */
function taken({ plan, state, node }: Context): PackageContext | undefined {
  const results = takesOf(plan, state, node).flatMap((id) => state.results[id] ?? [])
  const there = results.filter((result) => !result.skipped)
  const [only] = there
  if (there.length <= 1) return only?.context
  return {
    summary: there
      .map(({ node: id, context }) => `${id}: ${context.summary}`)
      .join("\n")
      .slice(0, 20_000),
    decisions: there.flatMap(({ context }) => context.decisions ?? []).slice(0, 500),
    artifacts: there.flatMap(({ context }) => context.artifacts ?? []).slice(0, 2_000),
    open_questions: there.flatMap(({ context }) => context.open_questions ?? []).slice(0, 500),
  }
}

function contextOf(context: Context): PackageContext {
  const { plan, work, activity } = context
  // Between the two of a loop it is the other's last word that goes along, also where the critic asks about it.
  const ofWork = roleOf(work) === "critic" || work.role === "detour" || work.repairs === "critic"
  if (ofWork) return activity.work?.context ?? { summary: plan.name }
  if (work.returns && activity.back) return activity.back.context
  return (
    taken(context) ?? {
      summary: `The flow ${plan.name} begins here, with: ${
        Object.entries(context.state.inputs)
          .map(([name, value]) => `${name} = ${value}`)
          .join("; ")
          .slice(0, 1_000) || "no inputs"
      }`,
    }
  )
}

// A long flow is not told to every step of it: what lies near is what matters.
const NEAR = 20

const done = (state: RunState) => Object.keys(state.results)

/** The package that goes along with a pass, as `003` has it. */
function packageFor(context: Context, expectations: Expectations): HandoffDraft {
  const { plan, state, work, node } = context
  const known = new Set(done(state))
  const kind = work.returns ? "return" : KIND[work.role]
  return {
    handoff: {
      id: packageID(work.handoff),
      from: { agent: work.from, step: kind === "return" ? null : Math.max(0, state.cursor) },
      to: { agent: work.agent, reason: reasonOf(work, node) },
      context: contextOf(context),
      expectations,
      ...(kind === "sequential"
        ? {
            workflow_state: {
              name: plan.name,
              current_step: Math.max(1, state.cursor + 1),
              completed_steps: plan.nodes.flatMap(({ id }) => (known.has(id) ? [id] : [])).slice(-NEAR),
              remaining_steps: plan.nodes.slice(state.cursor + 1, state.cursor + 1 + NEAR).map(({ id }) => id),
            },
          }
        : {}),
    },
  }
}

function reasonOf(work: PassWork, node: PlanNode | BranchNode): string {
  const round = work.round > 1 ? `, round ${work.round}` : ""
  if (work.role === "critic") return `it reviews the step ${node.id}${round}`
  if (work.role === "clarify") return "its handoff needs clarification"
  if (work.role === "repair") return "its handoff was not in order"
  if (work.role === "detour") return `the step ${node.id} needs it first`
  return `it does the step ${node.id}${round}`
}

const answers = (words: readonly Words[]) =>
  words.flatMap(({ by, name, text }) => (by === "agent" ? [{ title: `What ${name} answered`, text }] : []))

// A person's words are to be followed, where an agent's are only to be known.
const decided = (words: readonly Words[]) =>
  words.flatMap(({ by, name, text }) => (by === "person" ? [`${name} decided: ${text}`, ""] : []))

/** What an agent left that is to hand it over once more. It works in a new session, and knows no other word of it. */
function handedOver({ context, envelope, response }: Leave): string {
  const { concerns, assumptions, routing } = envelope
  const phase = response ? { decision: response.decision, findings: response.findings } : {}
  return yaml({ ...context, concerns, assumptions, routing, ...phase })
}

function leftBefore({ activity, work }: Context): Task["data"] {
  const own = roleOf(work) === "critic" ? activity.critic : activity.work
  if (!own || (work.role !== "repair" && work.role !== "work")) return []
  return [{ title: "What you left before", text: work.role === "repair" ? handedOver(own) : own.context.summary }]
}

function dataOf(context: Context, handoff: HandoffDraft): Task["data"] {
  const { activity, work } = context
  const concerns = activity.critic?.envelope.concerns ?? []
  return [
    { title: "Handoff package", text: yaml(handoff) },
    ...(work.role === "work" && concerns.length > 0 ? [{ title: "Concerns of the review", text: yaml(concerns) }] : []),
    ...leftBefore(context),
    ...answers(activity.words),
  ]
}

function requestOf(context: Context, step: Task["step"], words: TaskWords): PhaseRequest | undefined {
  const { plan, state, work, node } = context
  if (step.phase === undefined || roleOf(work) === "critic" || work.role === "clarify") return undefined
  const before = taken(context)?.summary
  return PhaseRequest.parse({
    task_id: node.id.slice(0, 200),
    phase: step.phase,
    context: {
      feature: featureOf(plan, node.scope, state.inputs).trim().slice(0, 2_000).trim() || plan.name,
      ...(step.spec_path ? { spec_path: fill(step.spec_path, wordsOf(plan, state, node.scope)) || null } : {}),
      relevant_files: filesOf(context, step),
      constraints: words.constraints,
      ...(before ? { previous_findings: before } : {}),
    },
    instructions: words.objective.slice(0, 20_000).trim(),
    expected_output: step.expected_output ?? OUTPUT_OF[step.phase],
  })
}

function filesOf({ plan, state, node, work }: Context, step: Task["step"]): string[] {
  const named = (step.files ?? []).map((file) => fill(file, wordsOf(plan, state, node.scope, work.round)))
  const left = takesOf(plan, state, node).flatMap((id) => state.results[id]?.files ?? [])
  return unique([...named, ...left].map((path) => path.trim()).filter(Boolean)).slice(0, 200)
}

/** What a pass of a run is about, from its plan and its state alone; a sentence where it cannot be said. */
export function taskOf(plan: FlowPlan, state: RunState, work: PassWork): Task | { fault: string } {
  const found = nodeOfWork(plan, work)
  if (!found) return { fault: `the flow ${plan.name} has no step "${work.node}"` }
  const { node } = found
  const detour = work.role === "detour" ? plan.detours.find(({ id }) => id === work.detour) : undefined
  const step = detour?.step ?? found.step
  const context: Context = { plan, state, work, node, activity: state.active[work.node] ?? newActivity(work.node) }
  const words = wordsFor(context, found.step)
  const critic = roleOf(work) === "critic"
  if (words.objective === "")
    return {
      fault: `the objective of ${critic ? "the review of " : ""}${node.id} comes to nothing with the inputs of this run; write what is to be done`,
    }
  const expectations: Expectations = {
    deliverable: words.deliverable ?? words.objective.slice(0, 20_000),
    constraints: words.constraints,
    success_criteria: words.success_criteria,
  }
  const handoff = packageFor(context, expectations)
  const request = requestOf(context, step, words)
  const asked = [...(work.questions ?? []), ...(work.problems ?? [])]
  const preface =
    work.role === "clarify" ? CLARIFY : work.role === "repair" ? `${words.objective}\n\n${REPAIR}` : words.objective
  return {
    agent: work.agent,
    reason: `flow ${plan.name}: ${reasonOf(work, node)}`,
    objective: preface,
    instructions: [
      ...decided(context.activity.words),
      ...(words.success_criteria.length > 0
        ? ["It will be judged by:", ...words.success_criteria.map((line) => `- ${line}`), ""]
        : []),
      ...answerForm(critic || work.role === "clarify" ? undefined : step.phase, critic),
    ],
    data: [
      ...dataOf(context, handoff),
      ...(request
        ? [{ title: `Request of the phase ${request.phase}`, text: JSON.stringify(request, undefined, 2) }]
        : []),
      ...(asked.length > 0
        ? [
            {
              title: work.role === "repair" ? "What is wrong" : "Questions",
              text: asked.map((line) => `- ${line}`).join("\n"),
            },
          ]
        : []),
    ],
    files: filesOf(context, step),
    constraints: words.constraints,
    success_criteria: words.success_criteria,
    expected_output_type: critic
      ? "decision"
      : step.expected_output
        ? EXPECTED[step.expected_output]
        : step.phase
          ? EXPECTED[OUTPUT_OF[step.phase]]
          : "mixed",
    ...(request ? { request } : {}),
    handoff,
    step,
    input_tokens: found.step.budget?.input_tokens,
    settings: settingsOf(context, found.step),
  }
}
