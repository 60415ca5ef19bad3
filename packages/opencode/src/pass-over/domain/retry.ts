import { PassOverErrorCode } from "./errors"

export type RetryOptions = {
  max_retries: number
  retry_delay_ms: number
  backoff_multiplier: number
}

export const RETRY = { max_retries: 3, retry_delay_ms: 1_000, backoff_multiplier: 2 } as const satisfies RetryOptions

/** How long to wait before the attempt that follows attempt `attempt`, the first being 1. */
export const backoff = (attempt: number, options: RetryOptions = RETRY) =>
  options.retry_delay_ms * options.backoff_multiplier ** (attempt - 1)

export type Failure = {
  code: PassOverErrorCode
  message: string
  /** Nothing came from the child for too long. The wall clock's own E010 is final, this one may be tried again. */
  idle?: boolean
  /** The host knows that trying again is pointless: a key that is wrong, a model that does not exist. */
  final?: boolean
  /** The provider said when to come back. */
  retry_after_ms?: number
}

const RECOVERABLE: readonly PassOverErrorCode[] = [
  PassOverErrorCode.SUBAGENT_CRASHED,
  PassOverErrorCode.RESOURCE_EXHAUSTED,
  PassOverErrorCode.RETURN_TIMEOUT,
]

export const recoverable = (failure: Failure) =>
  failure.final !== true &&
  (RECOVERABLE.includes(failure.code) || (failure.code === PassOverErrorCode.SUBAGENT_TIMEOUT && failure.idle === true))

export type Attempted = {
  attempt: number
  time_ms: number
  remaining_ms: number
  /** The child has written a file or run a command, so it must not start from scratch. */
  touched: boolean
  /** The child's session cannot take another prompt. */
  session_gone: boolean
}

export type Retry = { kind: "continue" | "scratch"; delay_ms: number }

/** Whether and how a failed attempt is followed by another. */
export function retry(failure: Failure, attempted: Attempted, options: RetryOptions = RETRY): Retry | undefined {
  if (!recoverable(failure)) return
  if (attempted.attempt > options.max_retries) return
  const delay_ms = Math.max(backoff(attempted.attempt, options), failure.retry_after_ms ?? 0)
  // A quarter of the time must be left when the attempt begins, not when it is decided.
  if (attempted.remaining_ms - delay_ms < attempted.time_ms / 4) return
  if (!attempted.session_gone) return { kind: "continue", delay_ms }
  return attempted.touched ? undefined : { kind: "scratch", delay_ms }
}
