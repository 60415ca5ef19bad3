import type { AuditAction } from "../domain/audit-log"
import { PassOverErrorCode } from "../domain/errors"
import { artifacts, filesRead, lastWords } from "../domain/extract"
import { fromReport, fromSalvage, type Ending } from "../domain/outcome"
import type { OriginationLink, WorkOutput } from "../domain/output"
import { event, note, type Pass } from "../domain/pass"
import { move } from "../domain/return-context"
import type { Failure } from "../domain/retry"
import { endAttempt, type Live, type RunDeps } from "./live"
import type { Attempt, Clock, Outcome, Settled } from "./port"

// Salvage must not make an outcome late: what the host cannot tell in this time is not waited for.
const SALVAGE_MS = 200
// An outcome that cannot be written down is tried again before the originator gets it unrecorded.
const PAUSES_MS = [50, 250, 1_000]

const LOST: Failure = { code: PassOverErrorCode.INVALID_WORK_OUTPUT, message: "its return was lost" }

type End = "returned" | "timed_out" | "cancelled"

const EVENTS = {
  returned: "pass.returned",
  timed_out: "pass.timed_out",
  cancelled: "pass.cancelled",
} as const satisfies Record<End & AuditAction, string>

/** What a failure means for the return context. A child that crashed has returned too: what it returned is a failure. */
export function endOf(code: PassOverErrorCode | null): End {
  if (code === PassOverErrorCode.SUBAGENT_TIMEOUT) return "timed_out"
  if (code === PassOverErrorCode.CANCELLED || code === PassOverErrorCode.DECLINED) return "cancelled"
  return "returned"
}

function chain(pass: Pass, at: number): OriginationLink[] {
  const [first = pass.originating_agent_id, ...more] = pass.ancestors
  return [
    { agent_id: first, timestamp: pass.time_created, action: "initiated" },
    ...more.map((agent_id) => ({ agent_id, timestamp: pass.time_created, action: "delegated" as const })),
    { agent_id: pass.subagent_id, timestamp: at, action: "returned" },
  ]
}

async function ending(deps: RunDeps, live: Live, at: number, salvaging: boolean): Promise<Ending> {
  const { pass } = live
  const wall = Math.round(deps.clock.mono() - live.began.mono)
  const messages = pass.child_session_id
    ? await within(deps.clock, SALVAGE_MS, deps.host.messages(pass.child_session_id))
    : []
  return {
    pass_over_id: pass.id,
    originating_agent_id: pass.originating_agent_id,
    subagent_id: pass.subagent_id,
    observed: artifacts(messages, pass.subagent_id),
    last_words: salvaging ? lastWords(messages, pass.subagent_id) : "",
    files_read: filesRead(messages),
    metadata: {
      created_at: pass.time_created,
      started_at: pass.time_started ?? live.began.wall,
      completed_at: at,
      returned_at: at,
      pass_over_id: pass.id,
      trace_id: pass.trace_id,
      chain_depth: pass.chain_depth,
      origination_chain: chain(pass, at),
      policy_name: pass.policy,
      policy_override: Object.keys(pass.overrides).length > 0,
      wall_time_ms: wall,
      subagent_compute_ms: Math.max(0, wall - Math.round(live.run.waited_ms)),
      applied: false,
    },
  }
}

function settled(deps: RunDeps, { pass }: Live, outcome: Outcome, attempt: Attempt | undefined): Settled | undefined {
  const at = outcome.output.metadata.completed_at ?? deps.clock.now()
  const end = endOf(outcome.error_code)
  const decided = move(pass, end)
  if (!decided.ok) return
  return {
    pass,
    move: decided.move,
    at,
    output: outcome.output,
    artifacts: outcome.output.artifacts.map((artifact) => ({ artifact_id: deps.ids.make("art"), artifact })),
    usage: outcome.usage,
    error_code: outcome.error_code,
    attempt,
    delivery: { mode: pass.return_required ? (pass.wait ? "tool" : "message") : "none", status: "pending" },
    note: note(pass, {
      action: end,
      actor: pass.subagent_id,
      at,
      output: outcome.output,
      error_code: outcome.error_code ?? undefined,
    }),
    event: event(pass, EVENTS[end], at, {
      status: outcome.output.status,
      decision: outcome.output.summary.decision ?? null,
      error_code: outcome.error_code,
    }),
  }
}

const pause = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))

/** Writes an outcome down. Whoever ended the pass first has the last word: then theirs is the outcome. */
async function record(deps: RunDeps, live: Live, input: Settled): Promise<Outcome> {
  const ours: Outcome = { output: input.output, usage: input.usage, error_code: input.error_code }
  for (const wait of [...PAUSES_MS, 0]) {
    try {
      const result = await deps.store.settle(input)
      if (result === "stale") return (await deps.store.outcome(live.pass.id)) ?? ours
      live.pass = result
      return ours
    } catch (error) {
      deps.log("error", "an outcome could not be recorded", { pass_over_id: live.pass.id, error: String(error) })
      if (wait > 0) await pause(deps.clock, wait)
    }
  }
  return ours
}

/** Makes the one outcome of a pass out of its return, or out of what is left of its child, and writes it down. */
export async function settle(deps: RunDeps, live: Live, failure: Failure | undefined): Promise<Outcome> {
  const at = deps.clock.now()
  const why = live.report ? failure : (failure ?? LOST)
  const end = await ending(deps, live, at, why !== undefined)
  const output = live.report && !why ? fromReport(end, live.report) : fromSalvage(end, why ?? LOST)
  const outcome: Outcome = { output, usage: live.run.usage, error_code: why?.code ?? null }
  const input = settled(deps, live, outcome, endAttempt(live, at, why))
  return input ? record(deps, live, input) : outcome
}

/** The last line of a child's transcript: the host prints "interrupted" there, which would be read as a failure. */
export async function farewell(deps: RunDeps, pass: Pass, output: WorkOutput) {
  if (!pass.child_session_id) return
  const { decision } = output.summary
  const verdict = output.status === "completed" ? (decision ?? "completed") : output.status
  await deps.host.close(pass.child_session_id, `returned to ${pass.originating_agent_id}: ${verdict}`, {
    work_output: {
      work_id: pass.id,
      status: output.status,
      ...(decision ? { decision } : {}),
      artifacts_count: output.artifacts.length,
    },
    return_to: pass.originating_agent_id,
  })
}

/** What a promise brings within a time, or nothing. */
async function within<T>(clock: Clock, ms: number, promise: Promise<T[]>): Promise<T[]> {
  const late = Promise.withResolvers<T[]>()
  const unarm = clock.after(ms, () => late.resolve([]))
  try {
    return await Promise.race([promise, late.promise])
  } catch {
    return []
  } finally {
    unarm()
  }
}
