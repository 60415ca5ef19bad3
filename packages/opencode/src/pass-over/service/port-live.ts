import type { PassID } from "../domain/id"
import type { Phase } from "../domain/run"

/** How far a running pass is, as its owner last saw it. Times are of the wall clock; null means that no limit runs. */
export type LivePass = {
  pass_over_id: PassID
  phase: Phase
  step: number
  attempt: number
  tokens: number
  cost: number
  /** How many people are being waited for. */
  waits: number
  deadline_at: number | null
  idle_at: number | null
  time_updated: number
}

/** What is shown of running passes in other processes. It is not part of what happened: the last word overwrites. */
export type LiveStore = {
  live(row: LivePass): Promise<void>
  /** Only those of passes that are still open: a process that died leaves its row behind. */
  lives(): Promise<LivePass[]>
}
