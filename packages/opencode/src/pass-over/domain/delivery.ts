import { PassOverErrorCode } from "./errors"
import { blockers } from "./outcome"
import type { WorkOutput } from "./output"
import type { Pass } from "./pass"
import { valuesOf } from "./policy"

/** How far a result is from its originator where a person stands between them. */
export type Kept = "held" | "dropped"

/** Whether a person sees a result first, or has kept it back for good; by the row of its delivery. */
export function keptAs({ mode, status }: { mode: string; status: string }): Kept | undefined {
  if (status !== "held") return
  return mode === "none" ? "dropped" : "held"
}

export type Result = { output: WorkOutput; error_code: PassOverErrorCode | null; transcript: "read" | "unread" }

// Whoever stopped it knows that it is over.
const STOPPED: readonly (PassOverErrorCode | null)[] = [PassOverErrorCode.CANCELLED, PassOverErrorCode.DECLINED]

/** A timeout that left no result: nobody has to look at it first. What a child had done until then is one. */
const bareTimeout = ({ output, error_code, transcript }: Result) =>
  error_code === PassOverErrorCode.SUBAGENT_TIMEOUT &&
  // What has not been read yet may be anything.
  transcript === "read" &&
  output.artifacts.length === 0 &&
  output.summary.change === undefined

/** Whether a person has to see a result before its originator does. */
export function heldBySettings(pass: Pass, result: Result): boolean {
  const { auto_return, auto_review } = valuesOf(pass)
  if (auto_return || STOPPED.includes(result.error_code) || bareTimeout(result)) return false
  return !(auto_review && !blockers(result.output))
}
