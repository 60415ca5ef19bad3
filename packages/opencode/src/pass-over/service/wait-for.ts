import type { Pass } from "../domain/pass"
import { upwaiting, type Engine } from "./engine"
import type { Runner } from "./runner"

// A child that waited for all of its time could not return any more.
const SHARE = 0.5

/** Whoever waits is not idle, and nobody is who waits for that one; until it is called off. */
function awake({ running, clock }: Engine, waiting: Runner): () => void {
  const all = [...upwaiting(running, waiting)]
  const every = Math.max(1, Math.min(...all.map(({ run }) => run.idle_ms)) / 2)
  let unarm = () => {}
  const stir = () => {
    for (const each of all) each.input({ type: "activity" })
    unarm = clock.after(every, stir)
  }
  stir()
  return () => unarm()
}

/** Waits until a pass that runs here has ended; a child no longer than for half of the time that is left to it. */
export async function ended(engine: Engine, pass: Pass, stopped?: AbortSignal): Promise<void> {
  const runner = engine.running.get(pass.id)
  if (!runner || stopped?.aborted) return
  const child = engine.running.byChild(pass.session_id)
  const enough = Promise.withResolvers<void>()
  const stop = () => enough.resolve()
  stopped?.addEventListener("abort", stop)
  const unarm = child ? engine.clock.after(child.remaining_ms * SHARE, stop) : () => {}
  const rest = child ? awake(engine, child) : () => {}
  await Promise.race([runner.outcome, enough.promise, ...(child ? [child.outcome] : [])])
  stopped?.removeEventListener("abort", stop)
  unarm()
  rest()
}
