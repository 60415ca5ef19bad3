import type { WorkArtifact } from "../domain/artifact"
import type { AuditAction, AuditLine } from "../domain/audit-log"
import type { PassOverErrorCode } from "../domain/errors"
import type { OwnerID, PassID, Prefix, ReturnID } from "../domain/id"
import type { LastSeen } from "../domain/last-seen"
import type { Manifest } from "../domain/manifest"
import type { WorkOutput } from "../domain/output"
import type { AuditNote, Pass, PassEvent } from "../domain/pass"
import type { Report } from "../domain/report"
import type { PassOverRequest } from "../domain/request"
import type { Move, ReturnStatus } from "../domain/return-context"
import type { AuditStore } from "./port-audit"
import type { ChangeStore } from "./port-change"
import type { FlowStore } from "./port-flow"
import type { GateStore } from "./port-gate"
import type { LookupStore } from "./port-lookup"
import type { PreferenceStore } from "./port-preference"
import type { RetentionStore } from "./port-retention"
import type { Place, SlotRequest, SlotStore } from "./port-slot"
import type { Over } from "../domain/budget"
import type { LiveStore } from "./port-live"
import type { QueryStore } from "./port-query"
import type { StartStore } from "./port-start"
import type { PromptKind, Usage } from "../domain/run"

/** Time: `now` is the wall clock and only written down; every limit runs on `mono`. */
export type Clock = {
  now(): number
  mono(): number
  /** Calls back once after `ms`, unless it is called off first. */
  after(ms: number, run: () => void): () => void
}

export type Ids = {
  pass(): PassID
  make<P extends Prefix>(prefix: P): `${P}_${string}`
  /** 128 random bits in hexadecimal, for fences. */
  nonce(): string
}

/** Counts tokens, exactly for o200k. Loading it is slow, so it is not asked for where a bound is enough. */
export type Tokens = () => Promise<(text: string) => number>

export type OpenPass = {
  pass: Pass
  request: PassOverRequest
  manifest: Manifest
  return_id: ReturnID
  auto_return_enabled: boolean
  auto_apply_enabled: boolean
  note: AuditNote
  /** That a person has let it be made, where the host has asked them. */
  permitted?: AuditNote | undefined
  event: PassEvent
  slot: SlotRequest
  /** How often its pair may be given its objective in its session tree. */
  repetitions: number
}

/** What became of a pass that was to be opened. */
export type Opened =
  | { pass: Pass; created: boolean; place: Place }
  | { over: Over }
  /** The pass that it was to continue is being continued already, by this one. */
  | { continued_by: PassID }
  /** Its pair was given its objective this often in its session tree, and that is as often as it may be. */
  | { repeated: number }

export type Commit = { pass: Pass; move: Move; note: AuditNote; event: PassEvent; at: number }

export type Settled = Commit & {
  output: WorkOutput
  artifacts: { artifact_id: `art_${string}`; artifact: WorkArtifact }[]
  usage: Usage
  error_code: PassOverErrorCode | null
  delivery: { mode: Delivery["mode"]; status: "pending" | "held" | "delivered" }
  transcript: "read" | "unread"
  /** The attempt that ends with it. */
  attempt: Attempt | undefined
}

export type AttemptKind = "first" | PromptKind | "recovered"

export type Attempt = {
  pass_over_id: PassID
  attempt: number
  kind: AttemptKind
  child_session_id: string | null
  error_code: string | null
  error_message: string | null
  usage: Usage | null
  time_started: number
  time_ended: number | null
}

export type Delivery = {
  pass_over_id: PassID
  session_id: string
  mode: "tool" | "message" | "none"
  status: "pending" | "held" | "sending" | "delivered"
  message_id: string | null
  owner_id: OwnerID | null
}

export type Delivered = { pass_over_id: PassID; message_id: string | null; at: number; commit?: Commit }

/** What a person or another process wants of a pass that runs. */
export type Command = {
  command_id: `cmd_${string}`
  pass_over_id: PassID
  /** The last two are about a pass that has returned: to tell its originator, or to have it done again. */
  kind: "cancel" | "message" | "return" | "tell" | "rework"
  text: string
  actor: string
}

export type CommandState = Command & { status: "pending" | "done" | "refused"; result: string | null }

export type StoredEvent = PassEvent & { seq: number }

/** A pass whose owner is gone, taken over: it is ours now. */
export type Claimed = {
  pass: Pass
  staged: Report | undefined
  usage: Usage | undefined
  attempts: number
  seen: LastSeen
}

export type Outcome = {
  output: WorkOutput
  usage: Usage
  error_code: PassOverErrorCode | null
  transcript: "read" | "unread"
  /** It waits for a person before it may reach its originator. */
  held?: boolean
  /** It was kept from its originator: a person said no, or nobody let it go in time. */
  dropped?: boolean
  /** A person is asked whether its changes are applied. */
  asked?: boolean
  /** Why it could not be written down, in words for the user; it is tried again. */
  unrecorded?: string
  /** Another process has taken the pass over; the result is brought by whoever gave it its outcome. */
  taken?: boolean
  /**
   * Its host went away. One that was waiting for a person goes on when the project is opened again; one that was at work
   * has ended, and what it had done is read and brought then.
   */
  left?: "waiting" | "ended"
}

/** What reading a transcript later adds to an outcome that was written without it. */
export type Enriched = {
  pass: Pass
  output: WorkOutput
  artifacts: Settled["artifacts"]
}

export type PassFilter = {
  session_id?: string | undefined
  root_session_id?: string | undefined
  parent_pass_id?: PassID | undefined
  continues_pass_id?: PassID | undefined
  directory?: string | undefined
  status?: readonly ReturnStatus[] | undefined
  limit?: number | undefined
}

export type AuditFilter = {
  session_id?: string | undefined
  pass_over_id?: string | undefined
  originating_agent?: string | undefined
  subagent?: string | undefined
  action?: AuditAction | undefined
  start_time?: number | undefined
  end_time?: number | undefined
  limit?: number | undefined
}

export type Owner = { owner_id: OwnerID; pid: number; process_start: string; host: string; place: string }
export type KnownOwner = Owner & { time_heartbeat: number }

/**
 * What the core keeps. Every method is one whole operation: it happens entirely or not at all, and none of them hands
 * out a transaction. "stale" says that somebody else moved first.
 */
export type Store = LookupStore &
  PreferenceStore &
  GateStore &
  FlowStore &
  SlotStore &
  LiveStore &
  QueryStore &
  StartStore &
  AuditStore &
  RetentionStore &
  ChangeStore & {
    // Passes
    open(input: OpenPass): Promise<Opened>
    commit(input: Commit): Promise<Pass | "stale">
    settle(input: Settled): Promise<Pass | "stale">
    /** Ties the child session and the attempt that begins in it to their pass, before the child gets its prompt; the first one starts the pass. */
    bind(input: { pass: Pass; attempt: Attempt; event: PassEvent; dispatch?: Commit }): Promise<Pass | "stale">
    /** Holds the first valid return of a pass that still waits for one. */
    stage(input: { pass: Pass; report: Report; event: PassEvent }): Promise<"staged" | "already" | "ended">
    attempt(input: { attempt: Attempt; event: PassEvent }): Promise<void>
    refuse(note: AuditNote, event: PassEvent): Promise<void>
    /** Events of their own, for what changes no state; all of them or none. */
    announce(...events: readonly PassEvent[]): Promise<void>

    // Delivery
    /**
     * Marks results as having reached their originators, all of them or none; `commit` is what that means for a return
     * context. Those that had not been delivered before.
     */
    delivered(inputs: readonly Delivered[]): Promise<PassID[]>
    /** How the result of a pass that has ended is on its way. */
    delivery(pass_over_id: PassID): Promise<Delivery | undefined>
    /** What has not reached a session yet, the oldest first. */
    deliveries(session_id: string): Promise<Delivery[]>
    /** The passes of a project whose results are held for a person. */
    held(directory: string): Promise<Pass[]>
    /** Results for a project's sessions that nobody has brought there yet. */
    undelivered(directory: string): Promise<{ pass: Pass; delivery: Delivery }[]>
    /** Takes a delivery in hand, for the one who does it; the message's id is written down before it is sent. */
    take(input: { pass_over_id: PassID; owner_id: OwnerID; from: Delivery; message_id: string }): Promise<boolean>
    /** A held result may go: as a message, because its tool call has been answered. */
    release(pass_over_id: PassID): Promise<boolean>
    /** A result that cannot reach its tool call any more goes another way. */
    redirect(input: { pass_over_id: PassID; mode: Delivery["mode"] }): Promise<boolean>

    // Reading
    find(id: PassID): Promise<Pass | undefined>
    byChild(session_id: string): Promise<Pass | undefined>
    byCall(session_id: string, call_id: string): Promise<Pass | undefined>
    /** All passes that one tool call made, in the order of its asks. */
    ofCall(session_id: string, call_id: string): Promise<Pass[]>
    list(filter: PassFilter): Promise<Pass[]>
    request(id: PassID): Promise<{ request: PassOverRequest; manifest: Manifest } | undefined>
    staged(id: PassID): Promise<Report | undefined>
    outcome(id: PassID): Promise<Outcome | undefined>
    attempts(id: PassID): Promise<Attempt[]>
    repeated(input: { root_session_id: string; from: string; to: string; objective_hash: string }): Promise<number>
    audit(filter: AuditFilter): Promise<AuditLine[]>
    /** Brings the log files of sessions up to date with their audit lines; `append` is synchronous and gets whole lines in order. */
    flushAudit(session_ids: readonly string[], append: (lines: AuditLine[]) => void): Promise<void>
    /** The sessions of a project with lines of late that are not in their files yet. */
    unwritten(directory: string): Promise<string[]>
    events(after: number, limit: number): Promise<StoredEvent[]>
    /** Changes whenever another connection has written: the cheapest way to know that there may be news. */
    version(): Promise<number>

    // Commands to passes that run somewhere
    command(command: Command, at: number): Promise<void>
    commandState(command_id: string): Promise<CommandState | undefined>
    /** The commands that wait for passes of this owner. */
    commands(owner_id: OwnerID): Promise<Command[]>
    /** What originators of a project are to be told, and were not yet. */
    tells(directory: string): Promise<Command[]>
    /** Whether it was the first answer. */
    answer(input: { command_id: string; status: "done" | "refused"; result: string; at: number }): Promise<boolean>

    // Processes
    enter(owner: Owner, at: number): Promise<void>
    beat(owner_id: OwnerID, at: number): Promise<void>
    owner(owner_id: OwnerID): Promise<KnownOwner | undefined>
    /** All known owners, and those of open passes that have left no trace of themselves. */
    owners(): Promise<(KnownOwner | { owner_id: OwnerID; lost: true })[]>
    leave(owner_id: OwnerID): Promise<void>
    /**
     * Takes over passes of an owner that is gone. The fence rises, so that it cannot end them any more if it is not.
     * Where `waiting_in` names projects, those that wait for a person are taken in these alone; `only` takes a few.
     */
    claim(input: {
      from: OwnerID
      owner_id: OwnerID
      limit: number
      waiting_in?: readonly string[] | undefined
      only?: readonly PassID[] | undefined
    }): Promise<Claimed[]>
    /** Settles many at once; what somebody else moved in between is left out. */
    settleMany(inputs: readonly Settled[]): Promise<PassID[]>
    /** Outcomes of a project whose transcript was not read yet. */
    unread(directory: string, limit: number): Promise<{ pass: Pass; outcome: Outcome }[]>
    enrich(input: Enriched): Promise<boolean>

    close(): void
  }

export type Log = (level: "info" | "warn" | "error", message: string, detail?: Record<string, unknown>) => void
