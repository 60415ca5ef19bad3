import type { VerdictStatus } from "../domain/evidence-schema"
import type { PassID } from "../domain/id"
import type { OutputStatus, ReviewDecision } from "../domain/output"
import type { Pass } from "../domain/pass"
import type { ReturnStatus, ReturnToContext } from "../domain/return-context"
import type { StoredEvent } from "./port"

/** What can be asked of the passes of all projects. Every field narrows; none given is everything. */
export type PassQuery = {
  session_id?: string | undefined
  directory?: string | undefined
  /** On either side. */
  agent?: string | undefined
  originating_agent?: string | undefined
  subagent?: string | undefined
  trace_id?: string | undefined
  status?: readonly ReturnStatus[] | undefined
  outcome?: readonly OutputStatus[] | undefined
  decision?: readonly ReviewDecision[] | undefined
  verdict?: readonly VerdictStatus[] | undefined
  start_time?: number | undefined
  end_time?: number | undefined
  text?: string | undefined
  /** Only what comes after this one in the list, which is what is older. */
  after?: string | undefined
  limit: number
}

/** What stands in a list about how a pass ended. */
export type PassResult = {
  status: OutputStatus
  decision: ReviewDecision | null
  verdict: VerdictStatus | null
  decision_reason: string | null
  completion_reason: string | null
  issues_found: number
  files_modified: number
  tokens: number
  cost: number
  error_code: string | null
}

export type PassRow = { pass: Pass; result: PassResult | null }

export type ReturnQuery = Pick<PassQuery, "session_id" | "status" | "after" | "limit">

export type Statistics = {
  passes: number
  running: number
  refused: number
  tokens: number
  cost: number
  by_status: Record<string, number>
  by_decision: Record<string, number>
  by_verdict: Record<string, number>
  pairs: { from: string; to: string; passes: number; completed: number; cost: number; duration_ms: number | null }[]
}

/**
 * Reads over many rows, each a page at a time. They take as long as they take: the API process asks them, opencode's
 * own event loop never does.
 */
export type QueryStore = {
  passes(query: PassQuery): Promise<PassRow[]>
  returns(query: ReturnQuery): Promise<ReturnToContext[]>
  statistics(query: Pick<PassQuery, "directory" | "start_time" | "end_time">): Promise<Statistics>
  /** The projects that have passes, the one with the latest first. */
  directories(): Promise<{ directory: string; passes: number; latest: number }[]>
  /**
   * What happened to a pass; what was said in it is its transcript. Of a pass with more events than that its uses of
   * tools are left out, which the transcript has too, and then what lies between its beginning and its end.
   */
  eventsOf(pass_over_id: PassID, limit: number): Promise<{ events: StoredEvent[]; left: number }>
  /** What its child was told, said and did, in the order in which it was written down. */
  transcript(pass_over_id: PassID, page: { after: number; limit: number }): Promise<StoredEvent[]>
  /** The number of the newest event; 0 where there is none. */
  newest(): Promise<number>
}
