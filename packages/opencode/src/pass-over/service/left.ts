import { PassOverErrorCode } from "../domain/errors"
import { NOBODY } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { Failure } from "../domain/retry"
import { surely, unmade, unmakeable, type Facts } from "./conclude"
import { madeAbove } from "./lineage"
import { takeOffered, type Live, type RunDeps } from "./live"
import type { Attempt, Outcome } from "./port"
import { factsOf, record } from "./settle"

/** What the end of its opencode means for a pass. What never started leaves nothing to read: it is cancelled. */
export const unfinished = ({ status }: Pick<Pass, "status">): Failure =>
  status === "initial"
    ? { code: PassOverErrorCode.CANCELLED, message: "the opencode that was to run it ended before it began" }
    : { code: PassOverErrorCode.SUBAGENT_CRASHED, message: "the opencode that ran it has ended" }

type Recovered = { pass: Pass; attempts: number; failure: Failure | undefined; at: number }

/** By this a flow tells a pass whose opencode has ended from one that somebody has cancelled. */
export const recovered = ({ pass, attempts, failure, at }: Recovered): Attempt => ({
  pass_over_id: pass.id,
  attempt: attempts + 1,
  kind: "recovered",
  child_session_id: pass.child_session_id,
  error_code: failure?.code ?? null,
  error_message: null,
  usage: null,
  time_started: at,
  time_ended: at,
})

/**
 * Whoever opens its project next takes it over at once. This process may go on with other projects, and would be taken for
 * one that goes on with it.
 */
const letGo = ({ store, owner_id, log }: RunDeps, { id }: Pass) =>
  store
    .claim({ from: owner_id, owner_id: NOBODY, limit: 1, only: [id] })
    .catch((error: unknown) =>
      log("warn", "a pass that waits for a person could not be let go of", { pass_over_id: id, error: String(error) }),
    )

/**
 * The outcome of a pass whose host goes away, as whoever came after a crash would give it. Nothing of its child is read
 * here, because nobody is there any more to be asked. One that waits for a person has none: it goes on later.
 */
export async function leftBehind(deps: RunDeps, live: Live, failure: Failure | undefined): Promise<Outcome> {
  const { left, pass, attempts } = live
  takeOffered(live, failure)
  const above = await madeAbove(deps.store, pass).catch(() => [])
  const known = factsOf(deps, live, failure, { above, messages: undefined, taken: undefined })
  const facts: Facts = { ...known, attempt: recovered({ pass, attempts, failure, at: known.at }) }
  try {
    const outcome = surely(facts, unmakeable(deps, pass))
    if (left === "waiting") {
      await letGo(deps, pass)
      return { ...outcome, left }
    }
    return { ...(await record(deps, live, facts, outcome)), left: "ended" }
  } catch (error) {
    unmakeable(deps, pass)(error)
    return { ...unmade(facts, error), left: "ended" }
  }
}
