import { clip } from "./clip"
import { PassOverErrorCode } from "./errors"
import { retry, RETRY, type Failure, type RetryOptions } from "./retry"
import { readable } from "./time"

/**
 * One running pass, as a value. All times are of the monotonic clock, so a wall clock that jumps changes nothing.
 *
 * - `starting`     the child session is being made
 * - `working`      the child has its prompt and has not returned
 * - `staged`       a valid return is held; the step that carried it is still running
 * - `asking`       the child stopped without a return and was asked for it once
 * - `backing_off`  an attempt failed and the next one waits for its time
 * - `stopping`     an idle child is being stopped before the next attempt
 * - `ended`        one outcome was decided; nothing more is heard
 */
export type Phase = "starting" | "working" | "staged" | "asking" | "backing_off" | "stopping" | "ended"

export type Usage = {
  input: number
  output: number
  reasoning: number
  cache_read: number
  cache_write: number
  cost: number
}

/** What a budget is measured by: everything that went in or came out, also what a cache gave. */
export const totalTokens = (usage: Usage) =>
  usage.input + usage.output + usage.reasoning + usage.cache_read + usage.cache_write

/** What a person is shown: what was new. */
export const newTokens = (usage: Usage) => usage.input + usage.output + usage.reasoning

export const NO_USAGE: Usage = { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0, cost: 0 }

export type Run = {
  phase: Phase
  attempt: number
  time_ms: number
  idle_ms: number
  deadline: number
  active: number
  /** Nothing is expected before this: its provider, or that of a pass below it, has asked for patience. */
  held_until: number
  /** The provider's own words, while it is the last that was heard. */
  patience?: string
  /** How many people are being waited for; while there is one, no limit runs. */
  waits: number
  waiting_since: number
  waited_ms: number
  /** The child was asked for its return once already. */
  asked: boolean
  /** It has returned while passes of its own still ran, and was told that it may wait for them. */
  offered: boolean
  touched: boolean
  /** No child session can take another prompt: there is none yet, or none any more. */
  session_gone: boolean
  usage: Usage
  steps: number
  /** When the next attempt begins and what failed before it, while `backing_off` or `stopping`. */
  next?: { at: number; failure: Failure }
  retrying: RetryOptions
}

export type Input =
  | { type: "started" }
  /** `until`: below it nothing is expected before this. */
  | { type: "activity"; touched?: boolean; until?: number }
  /** The provider asks for patience; the host tries again at `until`. */
  | { type: "retry"; until: number; message: string }
  | { type: "step"; usage: Usage }
  | { type: "returned" }
  | { type: "offered" }
  /** The child's loop came to rest, by itself or because of a failure. */
  | { type: "stopped"; failure?: Failure; session_gone?: boolean }
  | { type: "waiting"; more: boolean }
  | { type: "cancel"; failure: Failure }
  | { type: "tick" }

export type PromptKind = "continue" | "scratch" | "finalise"

export type Effect =
  | { type: "prompt"; kind: PromptKind; after?: Failure }
  | { type: "stop" }
  | { type: "settle"; from: "return"; failure?: undefined }
  | { type: "settle"; from: "salvage"; failure: Failure }

export type Next = { run: Run; effects: Effect[] }

/** How long a child that was told to stop may take before the next attempt goes on without its word. */
const STOP_GRACE_MS = 1_000

export function begin(plan: { time_ms: number; idle_ms: number; retrying?: RetryOptions }, now: number): Run {
  return {
    phase: "starting",
    attempt: 1,
    time_ms: plan.time_ms,
    idle_ms: plan.idle_ms,
    deadline: now + plan.time_ms,
    active: now,
    held_until: now,
    waits: 0,
    waiting_since: now,
    waited_ms: 0,
    asked: false,
    offered: false,
    touched: false,
    session_gone: true,
    usage: NO_USAGE,
    steps: 0,
    retrying: plan.retrying ?? RETRY,
  }
}

export const remaining = (run: Run, now: number) => run.deadline - (run.waits > 0 ? run.waiting_since : now)

/** When this run wants a tick at the latest; never, while a person is being waited for or it has ended. */
export function due(run: Run): number | undefined {
  if (run.phase === "ended" || run.waits > 0) return
  if (run.next) return Math.min(run.deadline, run.next.at)
  return Math.min(run.deadline, Math.max(run.active, run.held_until) + run.idle_ms)
}

const stay = (run: Run): Next => ({ run, effects: [] })
const settle = (run: Run, effect: Extract<Effect, { type: "settle" }>): Next => {
  const { next: _done, ...rest } = run
  return { run: { ...rest, phase: "ended" }, effects: [{ type: "stop" }, effect] }
}

const NOT_WANTED: readonly string[] = [PassOverErrorCode.CANCELLED, PassOverErrorCode.DECLINED]

/** The end without a return. What a child has offered is its return where it comes to no other, unless it is cancelled. */
function salvage(run: Run, failure: Failure): Next {
  if (run.offered && !NOT_WANTED.includes(failure.code)) return settle(run, { type: "settle", from: "return" })
  return settle(run, { type: "settle", from: "salvage", failure })
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
  cost: a.cost + b.cost,
})

const told = ({ patience }: Run, before: string) => (patience === undefined ? "" : `${before}${patience}`)

/** What follows an attempt that failed: the next one after its delay, or the end. */
function failed(run: Run, failure: Failure, now: number, stopping: boolean): Next {
  const asked_ms = run.patience === undefined ? 0 : run.held_until - now
  const again = retry(
    { ...failure, retry_after_ms: Math.max(asked_ms, failure.retry_after_ms ?? 0) },
    {
      attempt: run.attempt,
      time_ms: run.time_ms,
      remaining_ms: remaining(run, now),
      touched: run.touched,
      session_gone: run.session_gone,
    },
    run.retrying,
  )
  if (!again) return salvage(run, failure)
  const next = { at: now + again.delay_ms, failure }
  if (!stopping) return stay({ ...run, phase: "backing_off", next })
  return {
    run: { ...run, phase: "stopping", next: { ...next, at: Math.max(next.at, now + STOP_GRACE_MS) } },
    effects: [{ type: "stop" }],
  }
}

function stopped(run: Run, input: Extract<Input, { type: "stopped" }>, now: number): Next {
  const known = { ...run, session_gone: run.session_gone || input.session_gone === true }
  // The stop was ours: the next attempt is already decided.
  if (run.phase === "stopping") return stay({ ...known, phase: "backing_off" })
  if (run.phase === "backing_off") return stay(known)
  if (run.phase === "staged") return settle(known, { type: "settle", from: "return" })
  if (input.failure) return failed(known, input.failure, now, false)
  if (run.asked || known.session_gone) {
    return salvage(known, {
      code: PassOverErrorCode.INVALID_WORK_OUTPUT,
      message: run.asked
        ? "it stopped without calling pass_over_return, and again when it was asked for it"
        : "it stopped without calling pass_over_return, and its session is gone",
    })
  }
  return {
    run: { ...known, phase: "asking", asked: true, active: now },
    effects: [{ type: "prompt", kind: "finalise" }],
  }
}

function tick(run: Run, now: number): Next {
  const at = due(run)
  if (at === undefined || now < at) return stay(run)
  // What was returned in time counts, even when the step around it hangs.
  if (run.phase === "staged") return settle(run, { type: "settle", from: "return" })
  if (now >= run.deadline) {
    return salvage(run, {
      code: PassOverErrorCode.SUBAGENT_TIMEOUT,
      message: `its time of ${readable(run.time_ms)} was up${told(run, "; its provider had asked for patience: ")}`,
    })
  }
  if (run.next) {
    const { next, patience: _over, ...rest } = run
    // Decided only now: that its session is gone, or what it did in it, may be heard of after the attempt had failed.
    if (run.session_gone && run.touched) return salvage(run, next.failure)
    return {
      run: { ...rest, phase: "working", attempt: run.attempt + 1, active: now },
      effects: [{ type: "prompt", kind: run.session_gone ? "scratch" : "continue", after: next.failure }],
    }
  }
  return failed(
    run,
    {
      code: PassOverErrorCode.SUBAGENT_TIMEOUT,
      message: `nothing came from it for ${readable(run.idle_ms)}${told(run, " after its provider had asked for patience: ")}`,
      idle: true,
    },
    now,
    true,
  )
}

/**
 * A provider that is waited for is a sign of life, and asked again by the host itself when it is time. Where that is past
 * the deadline nothing can come any more: who waits for it is told at once, and what was done until then is kept.
 */
function patient(run: Run, { until, message }: Extract<Input, { type: "retry" }>, now: number): Next {
  if (run.next) return stay(run)
  // Its step has broken off behind the return.
  if (run.phase === "staged") return settle(run, { type: "settle", from: "return" })
  const words = clip(message.replaceAll(/\s+/g, " ").trim(), 200)
  const held = { ...run, active: now, held_until: Math.max(run.held_until, until), patience: words }
  if (until < run.deadline || run.waits > 0) return stay(held)
  return salvage(held, {
    code: PassOverErrorCode.SUBAGENT_TIMEOUT,
    message: `its provider asks for patience for ${readable(until - now)}, and only ${readable(remaining(run, now))} of its time were left: ${words}`,
  })
}

/** What was heard of it or below it. Its provider's words are over once its time has come. */
function heard(run: Run, now: number, until = now): Run {
  const { patience, ...rest } = run
  const kept = patience !== undefined && now < run.held_until ? { patience } : {}
  return { ...rest, ...kept, active: now, held_until: Math.max(run.held_until, until) }
}

function waiting(run: Run, more: boolean, now: number): Next {
  if (more) return stay({ ...run, waits: run.waits + 1, waiting_since: run.waits === 0 ? now : run.waiting_since })
  if (run.waits !== 1) return stay({ ...run, waits: Math.max(0, run.waits - 1) })
  // The last answer is in: the limits move by as long as it took.
  const took = now - run.waiting_since
  return stay({ ...run, waits: 0, deadline: run.deadline + took, waited_ms: run.waited_ms + took, active: now })
}

/** The whole life of a run. Pure: time comes in, effects go out, and after `ended` nothing does. */
export function next(run: Run, input: Input, now: number): Next {
  if (run.phase === "ended") return stay(run)
  switch (input.type) {
    case "started":
      return stay({ ...run, phase: run.phase === "starting" ? "working" : run.phase, session_gone: false, active: now })
    case "activity":
      return stay({ ...heard(run, now, input.until), touched: run.touched || input.touched === true })
    case "retry":
      return patient(run, input, now)
    case "step": {
      const counted = { ...heard(run, now), steps: run.steps + 1, usage: addUsage(run.usage, input.usage) }
      return run.phase === "staged" ? settle(counted, { type: "settle", from: "return" }) : stay(counted)
    }
    case "returned": {
      // A child that is at rest will not finish the step any more.
      if (run.phase === "backing_off") return settle(run, { type: "settle", from: "return" })
      const { next: _dropped, ...rest } = run
      return stay({ ...rest, phase: "staged", active: now })
    }
    case "offered":
      return stay({ ...run, offered: true, active: now })
    case "stopped":
      return stopped(run, input, now)
    case "waiting":
      return waiting(run, input.more, now)
    case "cancel":
      return run.phase === "staged" ? settle(run, { type: "settle", from: "return" }) : salvage(run, input.failure)
    case "tick":
      return tick(run, now)
  }
}
