import { toolCallOf } from "../domain/call"
import type { Pass } from "../domain/pass"
import type { Outcome } from "./port"

/** A tool call whose answer the host has stored. */
export type Answered = { session_id: string; call_id: string; message_id: string }

/** A result that went into the answer of a tool call. */
export type Told = { pass: Pass; outcome: Outcome }

/**
 * The results that went into answers, until the host has stored these: what is in our hands need not be read again.
 * A call that was answered by somebody else is not in here.
 */
export type Answers = {
  add(told: Told): void
  take(call: Answered): readonly Told[]
}

// An answer that its host never stores, because its user stopped it, stays behind.
const MOST = 1_000

const keyOf = ({ session_id, message_id, call_id }: Pick<Pass, "session_id" | "message_id" | "call_id">) =>
  `${session_id} ${message_id} ${call_id === null ? null : toolCallOf(call_id)}`

export function createAnswers(): Answers {
  const known = new Map<string, Told[]>()
  return {
    add(told) {
      const key = keyOf(told.pass)
      known.set(key, [...(known.get(key) ?? []), told])
      const [oldest] = known.keys()
      if (known.size > MOST && oldest !== undefined) known.delete(oldest)
    },
    take(call) {
      const key = keyOf(call)
      const told = known.get(key) ?? []
      known.delete(key)
      return told
    },
  }
}
