import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { Pass } from "../domain/pass"
import { send } from "./api-send"
import type { Engine, Project } from "./engine"
import type { Ask, Caller } from "./grant"
import type { Outcome } from "./port"
import type { Runner } from "./runner"

/** More than this at once is nobody's honest batch. */
export const MOST_AT_ONCE = 50

export type Many = { ok: true; pass: Pass; outcome: Outcome } | { ok: false; refusal: Refusal }
export type SentMany = { runners: readonly Runner[]; results: Promise<Many[]> }

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
    return { runners: [], results: Promise.resolve(asks.map(() => ({ ok: false, refusal }))) }
  }
  const sent = await Promise.all(
    asks.map((ask, index) =>
      // Each has a call id of its own, so that a batch that the host runs twice is one batch.
      send(
        engine,
        project,
        { ...caller, call_id: caller.call_id === null ? null : `${caller.call_id}:${index}` },
        ask,
      ).catch((error: unknown) => ({
        ok: false as const,
        refusal: refuse(PassOverErrorCode.SUBAGENT_CRASHED, `This pass could not be made: ${String(error)}.`),
      })),
    ),
  )
  const results = sent.map(async (each): Promise<Many> => {
    if (!each.ok) return { ok: false, refusal: each.refusal }
    const outcome = await each.runner.outcome
    return { ok: true, pass: each.runner.pass, outcome }
  })
  return { runners: sent.flatMap((each) => (each.ok ? [each.runner] : [])), results: Promise.all(results) }
}
