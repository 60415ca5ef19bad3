import type { Clock, Store } from "./port"
import type { Outdated } from "./port-retention"

export type Forgotten = { passes: number; runs: number }

type Deps = { store: Store; clock: Clock }

const breathe = ({ clock }: Deps) => new Promise<void>((resolve) => void clock.after(0, resolve))

/**
 * Forgets passes and runs of flows that are over for longer than they are kept, each in steps of a few milliseconds with
 * room for others in between. What somebody takes up meanwhile stays; what was begun and broken off is finished.
 */
export async function forgetPasses(deps: Deps, of: Omit<Outdated, "gone">): Promise<Forgotten> {
  const { store } = deps
  const { before } = of
  const sum: Forgotten = { passes: 0, runs: 0 }
  const clear = async (id: Parameters<Store["clear"]>[0]) => {
    while (await store.clear(id)) await breathe(deps)
    await breathe(deps)
  }
  for (const id of await store.uncleared(of)) await clear(id)
  for (const pass_over_id of await store.outdated(of)) {
    if (!(await store.forget({ pass_over_id, before }))) continue
    sum.passes += 1
    await clear(pass_over_id)
  }
  for (const run_id of await store.outdatedRuns(of)) {
    if (await store.forgetRun({ run_id, before })) sum.runs += 1
    await breathe(deps)
  }
  return sum
}
