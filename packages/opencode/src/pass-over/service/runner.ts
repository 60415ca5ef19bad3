import { clip } from "../domain/clip"
import { brief, FINALISE, resumed } from "../domain/brief"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import { event, note, type Pass } from "../domain/pass"
import type { Report } from "../domain/report"
import { move } from "../domain/return-context"
import type { Failure } from "../domain/retry"
import { begin, due, next, remaining, type Effect, type Input, type PromptKind, type Run } from "../domain/run"
import type { Rule } from "../domain/right"
import { goOn } from "./go-on"
import { halt } from "./halt"
import { leavePlace, localised, placeChild } from "./change/place"
import type { Recorder } from "./change/record"
import type { Workspace } from "./port-workspace"
import { leftBehind, unfinished } from "./left"
import {
  attemptEvent,
  beginAttempt,
  endAttempt,
  TO_START,
  type Assignment,
  type Live,
  type Offered,
  type RunDeps,
  type Staged,
} from "./live"
import type { Attempt, AttemptKind, Clock, Commit, Outcome } from "./port"
import type { Rest, StartTurn } from "./port-host"
import { putAway } from "./put-away"
import { settle } from "./settle"

export type Runner = {
  readonly pass: Pass
  readonly run: Run
  /** Watches what its child changes in the project itself. */
  readonly recorder: Recorder | undefined
  /** The tree that its child works in, where that is one of its own. */
  readonly workspace: Workspace | undefined
  /** Comes exactly once and never rejects. */
  readonly outcome: Promise<Outcome>
  readonly remaining_ms: number
  start(): void
  input(input: Input): void
  /** What it waits for before it can start or go on, in words; no limit runs meanwhile. */
  wait(what: string | undefined): void
  readonly waiting: string | undefined
  /** It has returned: from now on whatever ends it ends it with that. `staging` is the writing down of it. */
  returned(report: Report, staging?: Promise<Staged>): void
  /** It has returned, but passes of its own still run. */
  offered(offered: Offered): void
  /** Its host goes away, and what its child is at is not heard of any more. */
  leave(left: NonNullable<Outcome["left"]>): void
}

export type RunnerOptions = RunDeps & {
  /** Whether passes run in this process just now. */
  busy: () => boolean
  /** Called on every change that somebody may want to see. */
  changed: (runner: Runner) => void
}

/**
 * Carries out one pass: feeds what happens into the run, and does what the run asks for. It decides nothing itself.
 * Whatever goes wrong inside comes out as an outcome.
 */
export function createRunner(
  deps: RunnerOptions,
  pass: Pass,
  assignment: Assignment,
  plan: Parameters<typeof begin>[0],
): Runner {
  const began = { mono: deps.clock.mono(), wall: deps.clock.now() }
  const live: Live = { assignment, began, pass, run: begin(plan, began.mono), attempts: 0 }
  const outcome = Promise.withResolvers<Outcome>()
  const alarm = createAlarm(deps.clock, () => drive({ type: "tick" }))
  // Only the latest prompt may say that the child came to rest; an earlier one was stopped on purpose.
  let latest = 0
  // The prompts from which the child has not come to rest.
  const open = new Map<number, Promise<Rest>>()

  function drive(input: Input) {
    if (live.run.phase === "ended") return
    const step = next(live.run, input, deps.clock.mono())
    live.run = step.run
    for (const effect of step.effects) perform(effect)
    alarm(due(live.run))
    deps.changed(runner)
  }

  function perform(effect: Effect) {
    if (effect.type === "stop") return stop()
    if (effect.type === "prompt") return void prompt(effect.kind, effect.after)
    latest += 1
    if (live.left) return void leftBehind(deps, live, effect.failure).then(outcome.resolve)
    void settle(deps, live, effect.failure)
      .then((result) => {
        outcome.resolve(result)
        deps.changed(runner)
        return putAway(deps, live, result.output, Promise.allSettled(open.values()))
      })
      .catch((error: unknown) => deps.log("warn", "could not put a pass away", { error: String(error) }))
  }

  function stop() {
    // It is the host itself that stops.
    if (live.left) return
    const mine = latest
    halt(deps, live, () => open.has(mine) && (mine === latest || live.run.phase === "ended"))
  }

  async function prompt(kind: PromptKind | "first", after?: Failure) {
    const mine = ++latest
    try {
      const { session_id, opening } = await attempt(deps, live, kind, after)
      if (mine !== latest) return await late(session_id)
      drive({ type: "started" })
      const text = opening ?? words(deps, live, kind, after)
      const resting = deps.host.prompt({ session_id, kind, agent: pass.subagent_id, text, model: pass.model })
      open.set(mine, resting)
      const rest = await resting
      if (mine === latest) drive({ type: "stopped", ...rest })
    } catch (error) {
      if (mine === latest) drive({ type: "stopped", failure: crashed(error) })
      // Its place may have been made ready after it had ended, and is given back all the same.
      if (mine !== latest && live.run.phase === "ended") await leavePlace(deps, live)
    } finally {
      open.delete(mine)
    }
  }

  /** Its child was being made when it ended. */
  async function late(session_id: string) {
    if (live.left) return
    await deps.host.stop(session_id)
    if (live.run.phase === "ended") await leavePlace(deps, live)
  }

  const runner: Runner = seenFrom(live, deps, {
    drive,
    changed: () => deps.changed(runner),
    begin: () => void prompt("first"),
    outcome: outcome.promise,
  })
  live.hold = runner.wait
  return runner
}

/** A timer for a limit that every word of a child puts off: one that rings too early costs less than one for each word. */
function createAlarm(clock: Clock, ring: () => void): (at: number | undefined) => void {
  let unset = () => {}
  let set: number | undefined
  return (at) => {
    if (set !== undefined && at !== undefined && set <= at) return
    unset()
    unset = () => {}
    set = at
    if (at === undefined) return
    unset = clock.after(Math.max(0, at - clock.mono()), () => {
      set = undefined
      ring()
    })
  }
}

type Inside = { drive(input: Input): void; changed(): void; begin(): void; outcome: Promise<Outcome> }

/** A running pass as the rest of the engine sees it. */
function seenFrom(live: Live, deps: RunDeps, { drive, changed, begin: first, outcome }: Inside): Runner {
  return {
    get pass() {
      return live.pass
    },
    get run() {
      return live.run
    },
    get recorder() {
      return live.recorder
    },
    get workspace() {
      return live.workspace
    },
    get remaining_ms() {
      return remaining(live.run, deps.clock.mono())
    },
    get waiting() {
      return live.waiting
    },
    outcome,
    start() {
      if (live.run.phase === "starting") first()
    },
    wait(what) {
      const before = live.waiting
      live.waiting = what
      if ((before === undefined) !== (what === undefined)) return drive({ type: "waiting", more: what !== undefined })
      changed()
    },
    input: drive,
    returned(report, staging) {
      if (live.run.phase === "ended") return
      live.report ??= report
      if (staging) live.staging ??= staging
      drive({ type: "returned" })
    },
    offered(offered) {
      live.offered = offered
      drive({ type: "offered" })
    },
    leave(left) {
      if (live.run.phase === "ended") return
      live.left = left
      drive({ type: "cancel", failure: unfinished(live.pass) })
    },
  }
}

/** The session of an attempt; one that was made for it may know its first words already. */
type Made = { session_id: string; opening?: string }

/**
 * Opens an attempt: for the first and for one from scratch in a new child session, or in that of the pass that is
 * continued; else in the one that there is.
 */
async function attempt(deps: RunDeps, live: Live, kind: PromptKind | "first", after?: Failure): Promise<Made> {
  const at = deps.clock.now()
  const ended = endAttempt(live, at, after)
  if (ended) await deps.store.attempt({ attempt: ended, event: attemptEvent(live, ended, at) })
  const known = kind === "scratch" ? null : live.pass.child_session_id
  if (known !== null) {
    if (kind === "finalise") await deps.host.onlyReturn(known)
    live.attempt = beginAttempt(live, kind, known, at)
    await deps.store.attempt({ attempt: live.attempt, event: attemptEvent(live, live.attempt, at) })
    return { session_id: known }
  }
  const spec = { title: title(live.pass), rules: await deps.rules(live.pass) }
  const again = await goOn(deps, live, spec)
  const made = again === undefined ? await newChild(deps, live, spec, { kind, after }) : { session_id: again }
  live.attempt = beginAttempt(live, kind, made.session_id, at)
  live.pass = await bind(deps, live, { session_id: made.session_id, attempt: live.attempt })
  return made
}

type Binding = { session_id: string; attempt: Attempt }

/** Nothing is asked of a child's model before this is on the disk; one that cannot be bound is not left to itself. */
async function bind(deps: RunDeps, live: Live, { session_id, attempt }: Binding): Promise<Pass> {
  const { pass } = live
  const event = attemptEvent(live, attempt, attempt.time_started)
  try {
    const bound = await deps.store.bind({ pass, attempt, event, ...dispatched(deps, pass) })
    if (bound === "stale") throw new Error("another process has taken this pass over")
    return bound
  } catch (error) {
    await deps.host.stop(session_id).catch(() => {})
    throw error
  }
}

type Spec = { title: string; rules: readonly Rule[] }
type Why = { kind: PromptKind | "first"; after: Failure | undefined }

async function newChild(deps: RunDeps, live: Live, spec: Spec, { kind, after }: Why): Promise<Made> {
  const place = await placeChild(deps, live, spec.rules)
  const turn = await turnOf(deps, live)
  // It may have ended while others started: a session that nobody needs is not made.
  if (live.run.phase !== "ended") {
    const opening = words(deps, live, kind, after)
    const { pass } = live
    const session_id = await deps.host.child({ ...spec, pass, directory: place?.directory, turn, opening })
    return { session_id, opening }
  }
  turn?.over()
  throw new Error("it had ended before its child was made")
}

/** Where many start at once they do so one after the other, and the time of those that stand behind does not run. */
async function turnOf({ host }: RunDeps, live: Live): Promise<StartTurn | undefined> {
  const turn = host.startTurn?.()
  if (!(turn instanceof Promise)) return turn
  live.hold?.(TO_START)
  try {
    return await turn
  } finally {
    live.hold?.(undefined)
  }
}

/** The first child session is what starts a pass: until it exists nothing has gone out. */
function dispatched(deps: RunDeps, pass: Pass): { dispatch?: Commit } {
  if (pass.status !== "initial") return {}
  const decided = move(pass, "waiting_for_return")
  if (!decided.ok) return {}
  const at = deps.clock.now()
  return {
    dispatch: {
      pass,
      move: decided.move,
      at,
      note: note({ ...pass, time_started: at }, { action: "dispatched", actor: pass.owner_id, at }),
      event: event(pass, "pass.dispatched", at),
    },
  }
}

function words(deps: RunDeps, live: Live, kind: AttemptKind, after?: Failure): string {
  if (kind === "finalise") return FINALISE
  if (kind === "continue") return resumed(after?.message ?? "the connection broke off")
  const text = brief({
    ...live.assignment,
    continues: live.pass.continues_pass_id,
    time_ms: Math.max(0, remaining(live.run, deps.clock.mono())),
    draw: deps.ids.nonce,
  })
  return localised(text, live.workspace)
}

const crashed = (error: unknown): Failure => ({
  code: PassOverErrorCode.SUBAGENT_CRASHED,
  message: error instanceof Error ? error.message : String(error),
  ...(error instanceof PassOverError && !error.recoverable ? { final: true } : {}),
})

/** opencode's own navigation reads the agent out of a title of this form. */
export function title(pass: Pick<Pass, "objective" | "subagent_id">): string {
  const line = pass.objective.replaceAll(/\s+/g, " ").trim()
  return `${clip(line, 60)} (@${pass.subagent_id} subagent)`
}
