import type { OwnerID, PassID } from "../domain/id"
import type { PassEvent } from "../domain/pass"
import type { FlowPlan } from "../handoff/plan"
import type { FlowInputEntry, FlowStatus } from "../handoff/state"

/** A run of a flow as it is stored. What has happened to it lies in its journal. */
export type FlowRun = {
  run_id: `run_${string}`
  flow: string
  /** What runs is this definition, whatever becomes of its file. */
  plan: FlowPlan
  plan_hash: string
  /** Which machine folds its journal; another may come to another state. */
  machine: number
  inputs: Record<string, string>
  directory: string
  /** The session that its passes hang on. */
  session_id: string
  originator: string
  started_by: "person" | "model"
  /** The agent whose call started it, which every pass of the run is held to as well; null where a person did. */
  starter: string | null
  model: string | null
  status: FlowStatus
  reason: string | null
  /** How many entries its journal has. */
  seq: number
  owner_id: OwnerID
  fence: number
  time_created: number
  time_ended: number | null
}

export type FlowEntry = { seq: number; at: number; input: FlowInputEntry }

/** The end of a run, on its way into the session that started it. */
export type FlowDelivery = {
  run_id: FlowRun["run_id"]
  /** The entry that ended it. */
  seq: number
  session_id: string
  directory: string
  /** In the answer of the tool call that waits for it, or as a message. */
  mode: "tool" | "message" | "none"
  call_id: string | null
  status: "pending" | "sending" | "delivered"
  message_id: string | null
  /** Who ended the run, or brings the result by now. */
  owner_id: OwnerID
}

export type FlowEnd = Pick<FlowDelivery, "session_id" | "directory" | "mode" | "call_id" | "owner_id">

export type FlowFilter = {
  directory?: string | undefined
  session_id?: string | undefined
  status?: readonly FlowStatus[] | undefined
  owner_id?: OwnerID | undefined
  flow?: string | undefined
  /** The last run of the page before. */
  after?: string | undefined
  limit?: number | undefined
}

/** What somebody wants of a run that another process carries. */
export type FlowCommand = {
  command_id: `cmd_${string}`
  run_id: string
  input: FlowInputEntry
  actor: string
}

export type FlowCommandState = FlowCommand & { status: "pending" | "done" | "refused"; result: string | null }

/** The earlier output that an identical request may be answered with, and the files that it rests on. */
export type CachedResult = { key: string; pass_over_id: PassID; files: Record<string, string>; at: number }

/** Runs of flows. Each method is one whole operation. */
export type FlowStore = {
  /** Begins a run; false where another of its session has the numbers of its handoffs in the same archive. */
  startRun(input: { run: FlowRun; entry: FlowEntry; event: PassEvent }): Promise<boolean>
  /** Adds to a run's journal, unless somebody else owns it by now or was faster. */
  journal(input: {
    run_id: string
    fence: number
    entry: FlowEntry
    status: FlowStatus
    reason: string | null
    event: PassEvent
    /** Where the entry ends the run: how its session hears of it. */
    end?: FlowEnd | undefined
    /** The keys of questions that the run no longer has: nobody is asked them any more. */
    withdraw?: readonly string[] | undefined
  }): Promise<"written" | "stale">
  run(run_id: string): Promise<FlowRun | undefined>
  /** Whose call started a run; nobody's where a person did. Asked for every pass of it, whose plan may be long. */
  starter(run_id: string): Promise<FlowRun["starter"] | undefined>
  /** The newest first. */
  runs(filter: FlowFilter): Promise<FlowRun[]>
  /** Every run of a project that has not ended, by its id; the oldest first. */
  openRuns(directory: string): Promise<FlowRun["run_id"][]>
  entries(run_id: string): Promise<FlowEntry[]>
  /** Takes a run over from an owner that is gone. */
  claimRun(input: { run_id: string; from: OwnerID; owner_id: OwnerID }): Promise<FlowRun | undefined>
  /** Gives a run that began without one its session. */
  houseRun(input: { run_id: string; fence: number; session_id: string }): Promise<void>
  /** Ends of runs that have not reached their sessions yet, the oldest first. */
  flowDeliveries(of: { directory?: string; session_id?: string; run_id?: string }): Promise<FlowDelivery[]>
  /** Takes a delivery in hand, for the one who does it; the message's id is written down before it is sent. */
  takeFlowDelivery(input: { from: FlowDelivery; owner_id: OwnerID; message_id: string }): Promise<boolean>
  /** Once: false where it was delivered before. */
  flowDelivered(input: { of: FlowDelivery; message_id: string | null; at: number }): Promise<boolean>
  redirectFlow(input: { of: FlowDelivery; mode: FlowDelivery["mode"] }): Promise<boolean>
  flowCommand(command: FlowCommand, at: number): Promise<void>
  /** What is asked of a project's runs and was not carried out yet, with who owns them. */
  flowCommands(directory: string): Promise<(FlowCommand & { owner_id: OwnerID })[]>
  flowCommandState(command_id: string): Promise<FlowCommandState | undefined>
  answerFlowCommand(input: {
    command_id: string
    status: "done" | "refused"
    result: string
    at: number
  }): Promise<void>
  cached(key: string): Promise<CachedResult | undefined>
  cache(result: CachedResult): Promise<void>
  uncache(key: string): Promise<void>
}

/** The files of a run inside the project; none of them is needed to go on. */
export type FlowFiles = {
  /** Writes a file below the project, whole or not at all; a way that leads out of it is refused. */
  write(path: string, text: string): void
  remove(path: string): void
  /** Whether a path that an agent names is there, inside the project. */
  exists(path: string): boolean
  /** The hash of a file's content; nothing where it cannot be read. */
  hash(path: string): string | undefined
}
