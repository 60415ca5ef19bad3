import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import { AgentID, PassID, ReturnID, SessionID } from "./id"
import { WorkOutput } from "./output"
import { Timestamp } from "./time"

export const ReturnStatus = z.enum(["initial", "waiting_for_return", "returned", "processed", "timed_out", "cancelled"])
export type ReturnStatus = z.infer<typeof ReturnStatus>

/** Where a pass comes back to. It holds no result until the child returned, and moves by `TRANSITIONS` and no other way. */
export const ReturnToContext = z.strictObject({
  session_id: SessionID,
  return_id: ReturnID,
  originating_agent_id: AgentID,
  subagent_id: AgentID,
  pass_over_id: PassID,
  auto_return_enabled: z.boolean(),
  auto_apply_enabled: z.boolean(),
  return_deadline: Timestamp.optional(),
  chain_depth: z.int().positive(),
  max_chain_depth: z.int().positive(),
  ancestors: z.array(AgentID),
  status: ReturnStatus,
  created_at: Timestamp,
  returned_at: Timestamp.optional(),
  pending_work_output: WorkOutput.optional(),
  processing_errors: z.array(z.string()).optional(),
  revision: z.int().nonnegative(),
})
export type ReturnToContext = z.infer<typeof ReturnToContext>

// The whole life of a return context, each move with its reason. A missing cell is a refusal, an empty row an end.
export const TRANSITIONS = {
  initial: { waiting_for_return: "dispatched", cancelled: "cancelled before it started" },
  waiting_for_return: { returned: "the child returned", timed_out: "out of time", cancelled: "cancelled while it ran" },
  returned: {
    processed: "the originator dealt with it",
    cancelled: "rejected whole",
    timed_out: "nobody confirmed before the deadline",
  },
  processed: {},
  cancelled: {},
  timed_out: {},
} as const satisfies Record<ReturnStatus, Partial<Record<ReturnStatus, string>>>

/** What a move is decided from: a return context, or the pass that it belongs to. */
export type Held = { id: string; status: ReturnStatus; revision: number }
export type Move = { from: ReturnStatus; to: ReturnStatus; revision: number; reason: string }
export type Moved = { ok: true; move: Move } | { ok: false; refusal: Refusal }

/** Decides a move; the store carries it out where the revision still holds. */
export function move(context: Held, to: ReturnStatus): Moved {
  const row: Partial<Record<ReturnStatus, string>> = TRANSITIONS[context.status]
  const reason = row[to]
  if (reason !== undefined) {
    return { ok: true, move: { from: context.status, to, revision: context.revision + 1, reason } }
  }
  const open = Object.keys(row)
  const because =
    open.length === 0
      ? `pass ${context.id} has ended: it is ${context.status}`
      : `pass ${context.id} is ${context.status} and can only become ${open.join(" or ")}`
  return {
    ok: false,
    refusal: refuse(PassOverErrorCode.STALE_REVISION, `Cannot move to ${to}: ${because}.`, {
      detail: { status: context.status, to, allowed: open },
    }),
  }
}

export const ended = (status: ReturnStatus) => Object.keys(TRANSITIONS[status]).length === 0

/** Nothing has come back yet: the pass is still somebody's to run, or to recover. */
export const open = (status: ReturnStatus) => status === "initial" || status === "waiting_for_return"
