import { leavePlace } from "./change/place"
import type { Live, RunDeps } from "./live"
import type { Outcome } from "./port"
import { farewell } from "./settle"
import { within } from "./within"

const FAREWELL_MS = 1_500
// While others are at work it waits for them, this often at the most.
const FAREWELL_TURNS = 40
// And then for a moment in which its host has nothing to do.
const CALM_MS = 5_000
// A child that was told to stop comes to rest in no time, unless its host hangs.
const REST_MS = 5_000

/**
 * What a pass does when it has its outcome: gives its place back, and closes its transcript. That is only for readers and
 * must not slow the originator down; whoever goes on in the child's session has it done at once.
 */
export async function putAway(
  deps: RunDeps & { busy: () => boolean },
  live: Live,
  output: Outcome["output"],
  resting: Promise<unknown>,
) {
  const { clock, closings } = deps
  const { child_session_id } = live.pass
  const left = leavePlace(deps, live)
  const later = Promise.withResolvers<void>()
  let unarm = () => {}
  const calm = () => void Promise.resolve(deps.host.calm?.(CALM_MS)).finally(later.resolve)
  const wait = (turns: number) => {
    unarm = clock.after(FAREWELL_MS, () => (turns > 1 && deps.busy() ? wait(turns - 1) : calm()))
  }
  wait(FAREWELL_TURNS)
  const closed = later.promise.then(() => farewell(deps, live.pass, output))
  const all = async () => {
    unarm()
    later.resolve()
    await Promise.allSettled([left, closed, within(clock, REST_MS, resting)])
  }
  if (child_session_id !== null) closings.set(child_session_id, all)
  await Promise.allSettled([left, closed])
  if (child_session_id !== null && closings.get(child_session_id) === all) closings.delete(child_session_id)
  await closed
}
