import type { PassID, SessionID } from "../domain/id"
import type { Manifest } from "../domain/manifest"
import { event, type Pass } from "../domain/pass"
import type { Report } from "../domain/report"
import type { PassOverRequest } from "../domain/request"
import type { Failure } from "../domain/retry"
import type { Rule } from "../domain/right"
import type { Run } from "../domain/run"
import type { MayEdit } from "./change/auto"
import type { FilePort } from "./change/deps"
import type { Layer } from "./change/stand-on"
import type { Recorder } from "./change/record"
import type { Late } from "./late"
import type { Workspace, Workspaces } from "./port-workspace"
import type { Attempt, AttemptKind, Clock, Ids, Log, Outcome, Store } from "./port"
import type { Host } from "./port-host"

export type RunDeps = {
  store: Store
  host: Host
  clock: Clock
  ids: Ids
  log: Log
  /** The rules that a child's session starts with. */
  rules: (pass: Pass) => Promise<readonly Rule[]>
  /** Whether what a child has proposed may be written without a person's word. */
  mayEdit?: MayEdit | undefined
  owner_id: `own_${string}`
  files?: FilePort | undefined
  /** Trees for children that do not work in the project itself. */
  workspaces?: Workspaces | undefined
  /** Where a child without a tree of its own works, where that is not the project itself. */
  tree?: string | undefined
  taking: Taking
  closings: Closings
  late: Late
}

/** What passes that have ended still have to do in their children's sessions: whoever goes on there has it done first. */
export type Closings = Map<SessionID, () => Promise<unknown>>

/** The passes whose changes are being read just now, also where their outcome could not wait for them. */
export type Taking = Map<PassID, Promise<unknown>>

/** What a pass was given to run with. It does not change while it runs. */
export type Assignment = {
  request: PassOverRequest
  manifest: Manifest
  constraints: readonly string[]
  /** Work of earlier passes that it finds in its tree. */
  stands_on?: readonly Layer[] | undefined
}

/** What a pass waits for that waits for a person. */
export const FOR_YOU = "waiting for you"

/** What one waits for that is about to start, while others do: that is not for long, and a view would hold them up. */
export const TO_START = "waiting for others to start"

/** A return that was not taken yet, and how it is written down when it is. */
export type Offered = { report: Report; stage: () => Promise<Staged> }

/** What became of a return that was to be written down; `unstaged` where that could not be done yet. */
export type Staged = Awaited<ReturnType<Store["stage"]>> | "unstaged"

/** A pass while this process runs it. Only the runner and its helpers write here. */
export type Live = {
  readonly assignment: Assignment
  readonly began: { mono: number; wall: number }
  pass: Pass
  run: Run
  report?: Report
  /** Its return is being written down; its outcome is not before it. */
  staging?: Promise<Staged>
  /** What it has returned while passes of its own still ran: it counts where no other return comes. */
  offered?: Offered
  workspace?: Workspace
  /** What it changed there could not be read. */
  unread?: boolean
  recorder?: Recorder
  /** What it waits for, in words, while it waits for a person or its turn. */
  waiting?: string | undefined
  /** While its place is being made ready, or others start before it, its own time does not run. */
  hold?: (what: string | undefined) => void
  attempt?: Attempt
  attempts: number
  /** Its host went away before it had ended. */
  left?: Outcome["left"]
}

/** What a child had offered is its return where its run ends with one and it has come to no other. */
export function takeOffered(live: Live, failure: Failure | undefined) {
  if (failure || live.report || !live.offered) return
  live.report = live.offered.report
  live.staging = live.offered.stage()
}

/** The row of the attempt that begins now. */
export function beginAttempt(live: Live, kind: AttemptKind, child_session_id: string, at: number): Attempt {
  live.attempts += 1
  return {
    pass_over_id: live.pass.id,
    attempt: live.attempts,
    kind,
    child_session_id,
    error_code: null,
    error_message: null,
    usage: null,
    time_started: at,
    time_ended: null,
  }
}

/** The row of the attempt that ends now, with what it cost up to here. */
export const endAttempt = (live: Live, at: number, failure?: Failure): Attempt | undefined =>
  live.attempt && {
    ...live.attempt,
    usage: live.run.usage,
    error_code: failure?.code ?? null,
    error_message: failure?.message ?? null,
    time_ended: at,
  }

export const attemptEvent = (live: Live, attempt: Attempt, at: number) =>
  event(live.pass, "pass.attempt", at, {
    attempt: attempt.attempt,
    kind: attempt.kind,
    ended: attempt.time_ended !== null,
  })
