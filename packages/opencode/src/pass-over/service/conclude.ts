import type { WorkArtifact } from "../domain/artifact"
import type { AuditAction } from "../domain/audit-log"
import type { ContextMessage } from "../domain/context"
import { heldBySettings, type Result } from "../domain/delivery"
import { PassOverErrorCode } from "../domain/errors"
import { judge } from "../domain/evidence"
import { artifacts, filesRead, lastWords, since } from "../domain/extract"
import { fromReport, fromSalvage, type Ending } from "../domain/outcome"
import type { OriginationLink, WorkOutput } from "../domain/output"
import { event, note, type Pass } from "../domain/pass"
import { memoryOf } from "../domain/policy"
import { reported, type Report } from "../domain/report"
import { move } from "../domain/return-context"
import type { Failure } from "../domain/retry"
import type { Usage } from "../domain/run"
import { shortages } from "../domain/shortage"
import type { Attempt, Delivery, Ids, Log, Outcome, Settled } from "./port"

/** All that is known when a pass ends, whoever ended it and whenever its transcript is read. */
export type Facts = {
  pass: Pass
  report: Report | undefined
  failure: Failure | undefined
  /** When the passes above it were made, the first one first. */
  above: readonly number[]
  /** What the child said and did; nothing when that could not be read in time. */
  messages: readonly ContextMessage[] | undefined
  /** What it changed could not be read in time; it is added later, as its messages are. */
  late?: boolean
  usage: Usage
  /** When it is written down. */
  at: number
  /** When its child was done; of one that was interrupted, when it was last seen at work. */
  completed_at: number
  wall_ms: number
  waited_ms: number
  attempt: Attempt | undefined
  /** What the child changed, to the byte, where that was taken. */
  taken?: Taken | undefined
}

/** A change set as an outcome tells of it. */
export type Taken = {
  change: NonNullable<WorkOutput["summary"]["change"]> | undefined
  /** In the place of what its tool calls alone would show. */
  artifacts: readonly WorkArtifact[] | undefined
  /** Paths that it was seen to have changed. */
  changed: readonly string[]
  /** Hashes that the files it points to really have, by their paths in the project. */
  hashes?: ReadonlyMap<string, readonly string[]> | undefined
  /** The directory that it worked in, where that is not the project's. */
  directory: string | undefined
}

/** What the child said and did for this pass. What it did before in the same session bears witness, and is no part of it. */
const own = ({ pass, messages = [] }: Facts) => (pass.continues_pass_id === null ? messages : since(messages, pass.id))

type End = "returned" | "timed_out" | "cancelled"

const EVENTS = {
  returned: "pass.returned",
  timed_out: "pass.timed_out",
  cancelled: "pass.cancelled",
} as const satisfies Record<End & AuditAction, string>

const LOST: Failure = { code: PassOverErrorCode.INVALID_WORK_OUTPUT, message: "its return was lost" }

/** What a failure means for the return context. A child that crashed has returned too: what it returned is a failure. */
export function endOf(code: PassOverErrorCode | null): End {
  if (code === PassOverErrorCode.SUBAGENT_TIMEOUT) return "timed_out"
  if (code === PassOverErrorCode.CANCELLED || code === PassOverErrorCode.DECLINED) return "cancelled"
  return "returned"
}

/** What never went out can only be cancelled, whatever kept it from starting. */
const endFor = (pass: Pass, code: PassOverErrorCode | null): End =>
  pass.status === "initial" ? "cancelled" : endOf(code)

/** Each agent above by the pass that it made, and the subagent where something came back from it. */
function chain({ pass, above, completed_at }: Facts, end: End): OriginationLink[] {
  const [first = pass.originating_agent_id, ...more] = pass.ancestors
  const made = above.length === more.length ? [...above, pass.time_created] : []
  const when = (place: number) => made[place] ?? pass.time_created
  return [
    { agent_id: first, timestamp: when(0), action: "initiated" },
    ...more.map((agent_id, place) => ({ agent_id, timestamp: when(place + 1), action: "delegated" as const })),
    ...(end === "returned"
      ? [{ agent_id: pass.subagent_id, timestamp: completed_at, action: "returned" as const }]
      : []),
  ]
}

function observed(messages: readonly ContextMessage[], agent: string, taken: Taken | undefined): WorkArtifact[] {
  const seen = artifacts(messages, agent)
  const exact = taken?.artifacts
  return exact ? [...seen.filter(({ type }) => type !== "file_modification"), ...exact] : seen
}

/** The outcome with the verdict on it, and with what it changed. */
function judged(facts: Facts, output: WorkOutput): WorkOutput {
  const { pass, report, messages = [], taken } = facts
  const { decision, decision_reason, recommendations = [] } = output.summary
  const evidence = report?.evidence ?? []
  const said = report ? reported(report, (index) => `${pass.id}:${index + 1}`) : []
  const verdict = judge(
    {
      evidence,
      status: output.status,
      decision,
      decision_reason,
      recommendations,
      said,
      expected: pass.expected_output_type,
    },
    {
      messages,
      ...(pass.continues_pass_id === null ? {} : { own: own(facts) }),
      roots: [...(taken?.directory === undefined ? [] : [taken.directory]), pass.directory],
      changed: taken?.changed ?? [],
      hashes: taken?.hashes,
    },
  )
  const errors = shortages(messages, memoryOf(pass))
  const summary = {
    ...output.summary,
    ...(errors.length > 0 ? { errors } : {}),
    verdict,
    ...(evidence.length > 0 ? { evidence } : {}),
    ...(taken?.change ? { change: taken.change } : {}),
  }
  return { ...output, summary }
}

function ending(facts: Facts): Ending {
  const { pass, completed_at, wall_ms, waited_ms, failure, taken } = facts
  const messages = own(facts)
  return {
    pass_over_id: pass.id,
    originating_agent_id: pass.originating_agent_id,
    subagent_id: pass.subagent_id,
    observed: observed(messages, pass.subagent_id, taken),
    last_words: failure ? lastWords(messages, pass.subagent_id) : "",
    files_read: filesRead(messages),
    metadata: {
      created_at: pass.time_created,
      ...(pass.time_started === null ? {} : { started_at: pass.time_started }),
      completed_at,
      pass_over_id: pass.id,
      trace_id: pass.trace_id,
      chain_depth: pass.chain_depth,
      origination_chain: chain(facts, endFor(pass, failure?.code ?? null)),
      policy_name: pass.policy,
      policy_override: Object.keys(pass.overrides).length > 0,
      wall_time_ms: wall_ms,
      subagent_compute_ms: Math.max(0, wall_ms - waited_ms),
      applied: false,
    },
  }
}

const holds = (pass: Pass, result: Result) => pass.return_required && heldBySettings(pass, result)

/** The outcome of a pass: from its return where there is one, else from what is left of its child. */
export function outcomeOf(facts: Facts): Outcome {
  const failure = facts.report ? facts.failure : (facts.failure ?? LOST)
  const end = ending({ ...facts, failure })
  const told = facts.report && !failure ? fromReport(end, facts.report) : fromSalvage(end, failure ?? LOST)
  const output = judged(facts, told)
  const read = !facts.late && (facts.messages !== undefined || facts.pass.child_session_id === null)
  const result: Result = { output, error_code: failure?.code ?? null, transcript: read ? "read" : "unread" }
  return { ...result, usage: facts.usage, ...(holds(facts.pass, result) ? { held: true } : {}) }
}

export const unmakeable =
  ({ log }: { log: Log }, pass: Pass) =>
  (error: unknown) =>
    log("error", "an outcome could not be made", { pass_over_id: pass.id, error: String(error) })

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** What is left to say where nothing can be made of what a child said and did. It computes nothing that could fail. */
export function unmade(facts: Facts, error: unknown): Outcome {
  const { taken, usage } = facts
  const code = facts.failure?.code ?? PassOverErrorCode.INVALID_WORK_OUTPUT
  const failure = { code, message: `its result could not be put together (${why(error)})` }
  const output = fromSalvage(ending({ ...facts, messages: undefined, taken: undefined, failure }), failure)
  const unresolved = [{ claim: "the result", why: failure.message }]
  const summary = {
    ...output.summary,
    verdict: { status: "BLOCKED" as const, checked: 0, unresolved },
    ...(taken?.change ? { change: taken.change } : {}),
  }
  const result: Result = { output: { ...output, summary }, error_code: code, transcript: "read" }
  return { ...result, usage, ...(holds(facts.pass, result) ? { held: true } : {}) }
}

/**
 * An outcome in any case. Where what a child said and did cannot be taken in, its return counts as it would without a
 * witness; where that cannot be read either, the outcome is a failure that says so. It is not tried again: what cannot
 * be computed now cannot be later.
 */
export function surely(facts: Facts, failed: (error: unknown) => void): Outcome {
  try {
    return outcomeOf(facts)
  } catch (error) {
    failed(error)
  }
  try {
    return { ...outcomeOf({ ...facts, messages: undefined }), transcript: "read" }
  } catch (error) {
    return unmade(facts, error)
  }
}

export const stamped = (ids: Ids, artifacts: WorkOutput["artifacts"]): Settled["artifacts"] =>
  artifacts.map((artifact) => ({ artifact_id: ids.make("art"), artifact }))

/** How a result reaches its originator: as the answer to the tool call that waits for it, or as a message later. */
export const modeOf = (pass: Pass): Delivery["mode"] => {
  if (!pass.return_required) return "none"
  return pass.wait ? "tool" : "message"
}

/** Everything that is written down when a pass ends; nothing where it has ended already. */
export function conclude(ids: Ids, facts: Facts, outcome: Outcome, mode: Delivery["mode"]): Settled | undefined {
  const { pass, at } = facts
  const { output, error_code } = outcome
  const end = endFor(pass, error_code)
  const decided = move(pass, end)
  if (!decided.ok) return
  return {
    pass,
    move: decided.move,
    at,
    output,
    artifacts: stamped(ids, output.artifacts),
    usage: outcome.usage,
    error_code,
    transcript: outcome.transcript,
    attempt: facts.attempt,
    delivery: { mode, status: mode === "none" ? "delivered" : outcome.held ? "held" : "pending" },
    note: note(pass, { action: end, actor: pass.subagent_id, at, output, error_code: error_code ?? undefined }),
    event: event(pass, EVENTS[end], at, {
      status: output.status,
      decision: output.summary.decision ?? null,
      error_code,
    }),
  }
}
