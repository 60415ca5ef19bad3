import type { PassID } from "../domain/id"
import type { FlowRun } from "./port-flow"

/** The audit lines of a session up to one of them. */
export type UpTo = { session_id: string; seq: number }

export type Outdated = {
  directory: string
  /** What happened at this moment or later is kept. */
  before: number
  limit?: number
  /** Audit lines to be taken for gone: for saying what would go, before anything does. */
  gone?: readonly UpTo[]
}

/**
 * Forgetting what is over. A pass goes with all that hangs on it, once nothing of it is young, nobody waits for anything
 * of it, and its audit lines are gone; with its tree: what is over in a tree of passes that is not stays too.
 */
export type RetentionStore = {
  /** Passes that may be forgotten, in the order in which that can be done: what others rest on comes behind them. */
  outdated(of: Outdated): Promise<PassID[]>
  /** Forgets a pass, so that nobody finds it any more; false where it may not go, or not yet. What it leaves is cleared. */
  forget(of: { pass_over_id: PassID; before: number }): Promise<boolean>
  /** Clears a part of what a forgotten pass has left; false where nothing is left. */
  clear(pass_over_id: PassID): Promise<boolean>
  /** Forgotten passes that have left something: somebody died before all of it was cleared. */
  uncleared(of: { directory: string; before: number }): Promise<PassID[]>
  /** Runs of flows that may be forgotten, when these passes are. */
  outdatedRuns(of: Outdated & { without?: readonly PassID[] }): Promise<FlowRun["run_id"][]>
  forgetRun(of: { run_id: FlowRun["run_id"]; before: number }): Promise<boolean>
}
