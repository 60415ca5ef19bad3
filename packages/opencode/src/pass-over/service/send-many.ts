import { nthCall } from "../domain/call"
import { PassOverError, PassOverErrorCode, refuse, sentence, toRefusal, type Refusal } from "../domain/errors"
import type { Pass } from "../domain/pass"
import { send, type Sent } from "./api-send"
import { createBoard } from "./board"
import type { Engine, Project } from "./engine"
import type { Ask, Caller } from "./grant"
import type { Outcome } from "./port"
import { whole } from "./recover"

/** More than this at once is nobody's honest batch. */
export const MOST_AT_ONCE = 50

export type Many = { ok: true; pass: Pass; outcome: Outcome } | { ok: false; refusal: Refusal }
/** What became of each ask, in their order, and their outcomes once all are there. */
export type SentMany = { sent: readonly Sent[]; results: Promise<Many[]> }

/**
 * Hands several pieces of work over side by side. Each is a pass of its own, with its own policy, rights and outcome;
 * the results stand in the order of the asks, and one that fails or is refused takes nothing from the others.
 */
export async function sendMany(
  engine: Engine,
  project: Project,
  caller: Caller,
  asks: readonly Ask[],
): Promise<SentMany> {
  if (asks.length > MOST_AT_ONCE) {
    const refusal = refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, `${asks.length} passes at once are too many.`, {
      suggestion: `Hand over at most ${MOST_AT_ONCE} at once.`,
    })
    const sent = asks.map(() => ({ ok: false as const, refusal, pass_over_id: "" }))
    return { sent, results: Promise.resolve(sent.map(() => ({ ok: false, refusal }))) }
  }
  const board = createBoard(
    project.host,
    engine.clock,
    asks.map(({ subagent }) => subagent),
  )
  const one = async (ask: Ask, at: number): Promise<Sent> => {
    // Each has a call id of its own, so that a batch that the host runs twice is one batch.
    const call_id = caller.call_id === null ? null : nthCall(caller.call_id, at + 1)
    return send(engine, { ...project, host: board.of(at) }, { ...caller, call_id }, ask).catch((error: unknown) => ({
      ok: false as const,
      refusal:
        error instanceof PassOverError
          ? toRefusal(error)
          : refuse(PassOverErrorCode.SUBAGENT_CRASHED, `This pass could not be made: ${String(error)}.`),
      pass_over_id: "",
    }))
  }
  const sent = await Promise.all(asks.map(one))
  for (const [at, each] of sent.entries()) if (!each.ok) board.refused(at, sentence(each.refusal))
  const results = sent.map(async (each, at): Promise<Many> => {
    if (!each.ok) return { ok: false, refusal: each.refusal }
    const { runner } = each
    const outcome = await whole(engine, project, runner.pass, await runner.outcome)
    board.back(at, runner.pass, outcome)
    return { ok: true, pass: runner.pass, outcome }
  })
  return { sent, results: Promise.all(results) }
}
