import { redactDeep } from "../domain/secret"
import { totalTokens } from "../domain/run"
import type { WorkOutput } from "../domain/output"
import { toEnvelope } from "../handoff/codec-envelope"
import { toPackage } from "../handoff/codec-package"
import { findingsProblem, toPhase } from "../handoff/codec-phase"
import type { EnvelopeMeta } from "../handoff/envelope"
import { noteOf } from "../handoff/note"
import { packageProblems } from "../handoff/package-rule"
import { packageID, unclear, type PackageContext } from "../handoff/package"
import { budgetProblems, responseProblems, summaryProblems } from "../handoff/phase-rule"
import type { Leave, PassWork } from "../handoff/state"
import type { Task } from "../handoff/task"
import { within, type Count, type Problem } from "../handoff/text"
import { only } from "../handoff/view"
import type { Engine } from "./engine"
import { fileKey } from "./flow-name"
import { verdictOf } from "./flow-verdict"
import type { FlowFiles } from "./port-flow"
import type { Outcome } from "./port"

type Of = { flow: string; work: Pick<PassWork, "node" | "agent">; at: number }

export const metaOf = ({ hash }: Pick<Engine, "hash">, { flow, work, at }: Of): EnvelopeMeta => ({
  step_id: fileKey(work.node, hash),
  flow_key: fileKey(flow, hash),
  agent_key: fileKey(work.agent, hash),
  timestamp: new Date(at).toISOString(),
})

// The journal keeps what decides and what goes along; the whole of it stays with the pass.
const LONGEST = 20_000
const MOST = 200

const short = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1).toWellFormed()}…` : text)

const bounded = (context: PackageContext): PackageContext => ({
  summary: short(context.summary),
  decisions: (context.decisions ?? []).slice(0, MOST),
  artifacts: (context.artifacts ?? []).slice(0, 2_000),
  open_questions: (context.open_questions ?? []).slice(0, MOST),
})

type Seen = { flow: string; work: PassWork; task: Task; outcome: Outcome; files: FlowFiles; count: Count }

function failureOf({ error_code, output }: Outcome): Leave["failure"] {
  if (error_code === null && (output.status === "completed" || output.status === "partial")) return undefined
  return {
    code: error_code ?? "E011",
    message: short(output.completion_reason ?? output.summary.decision_reason ?? `it ended ${output.status}`),
  }
}

/** Whether it said itself that the run must not go on. What we make of a no, or of a pass that broke, is not its word. */
function halts(output: WorkOutput): boolean {
  const { decision, status, routing } = noteOf(output).note
  if (decision === "STOP" || status === "blocked" || routing?.recommendation === "ESCALATE") return true
  return output.summary.decision === "blocked"
}

/** What the three protocols find wrong with what a step left. Only what it wrote itself is held against it. */
function problems({ work, task, outcome, files, count }: Seen, views: Pick<Leave, "response" | "context">) {
  const { output } = outcome
  const { note, problem } = noteOf(output)
  const found: Problem[] = []
  if (problem !== undefined) found.push({ path: "handoff", message: problem })
  const { phase } = task.step
  const wrong = phase && views.response ? findingsProblem(output, phase) : undefined
  if (wrong !== undefined) found.push({ path: "findings", message: wrong })
  const reviews = work.role === "critic" || work.repairs === "critic" || work.role === "clarify"
  if (note.context_summary !== undefined) found.push(...summaryProblems(note.context_summary, count))
  // What it changed may lie in a copy of the project that is still to be applied.
  const changed = new Set(only(output, "file_modification").map(({ path }) => path))
  if (!reviews) {
    found.push(
      ...packageProblems(
        {
          handoff: {
            id: packageID(work.handoff),
            from: { agent: work.agent, step: null },
            to: { agent: work.from, reason: "the step is done" },
            context: views.context,
          },
        },
        { exists: (path) => changed.has(path) || files.exists(path), count },
      ),
    )
  }
  if (task.request && views.response) {
    const own = task.step.budget
    found.push(
      ...responseProblems(task.request, views.response, count),
      // The document's numbers are typical ones; a bound is what a flow makes one. What goes in is bounded before.
      ...(own?.output_tokens === undefined
        ? []
        : budgetProblems({ request: task.request, response: views.response }, count, {
            input: Number.POSITIVE_INFINITY,
            output: own.output_tokens,
          })),
    )
  }
  return [...new Set(found.map(({ path, message }) => `${path}: ${message}`))]
}

/** What a pass left, as the run goes on with it: the three views of its output, and what is wrong with them. */
export async function leaveOf(engine: Engine, seen: Omit<Seen, "count">): Promise<Leave> {
  const count = await engine.tokens()
  const { outcome, work, task } = seen
  const { output } = outcome
  const status = verdictOf(outcome)
  const at = output.metadata.completed_at ?? engine.clock.now()
  const envelope = toEnvelope(output, metaOf(engine, { flow: seen.flow, work, at }), status).view
  const packed = toPackage(output, {
    id: packageID(work.handoff),
    timestamp: envelope.meta.timestamp,
    from: { agent: work.agent },
    to: { agent: work.from, reason: "the step is done" },
  }).view.handoff.context
  const context = bounded({ ...packed, summary: within(packed.summary, 500, count) || output.status })
  const own = noteOf(output).note.context_summary
  const said = { ...context, summary: own === undefined ? context.summary : short(own) }
  const response = task.request
    ? toPhase(output, { task_id: task.request.task_id, phase: task.request.phase, count }).view
    : undefined
  const { acknowledgment } = noteOf(output).note
  const failure = failureOf(outcome)
  const veto = failure === undefined && halts(output)
  const asks = acknowledgment !== undefined && unclear(acknowledgment).length > 0
  const views = { envelope, context: said, ...(response ? { response } : {}) }
  // As the journal keeps it: a run that goes on after a crash knows the same as one that was not interrupted.
  return redactDeep({
    pass_over_id: output.work_id,
    agent: work.agent,
    status: output.status,
    ...views,
    context,
    problems: failure || asks ? [] : problems({ ...seen, count }, views),
    ...(acknowledgment ? { acknowledgment } : {}),
    ...(failure ? { failure } : {}),
    ...(veto ? { veto } : {}),
    tokens: totalTokens(outcome.usage),
    cost: outcome.usage.cost,
  })
}

/** What is left of a pass that could not even begin. */
export function refusedLeave(
  engine: Engine,
  flow: string,
  work: PassWork,
  failure: { code: string; message: string },
): Leave {
  return {
    pass_over_id: null,
    agent: work.agent,
    status: "failed",
    envelope: {
      meta: metaOf(engine, { flow, work, at: engine.clock.now() }),
      status: "BLOCKED",
      summary: {
        what_i_did: "",
        what_i_found: failure.message,
        key_decisions: [],
        evidence: { artifacts_produced: [], commands_run: [], measurements: {} },
      },
      concerns: [],
      assumptions: [],
      routing: { recommendation: "ESCALATE", reason: failure.message },
    },
    context: { summary: failure.message || "it could not begin" },
    problems: [],
    failure,
    tokens: 0,
    cost: 0,
  }
}
