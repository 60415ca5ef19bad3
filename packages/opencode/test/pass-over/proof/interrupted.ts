import { SHIPPED, SYSTEM } from "../../../src/pass-over/domain/preference"
import type { Store } from "../../../src/pass-over/service/port"
import { event } from "../../../src/pass-over/domain/pass"
import { accepted, createWorld } from "../support/world"

/** Passes of a process that is gone, each in the middle of its child's work. Comes back with their ids. */
export async function interrupted(store: Store, count: number, directory = "/project"): Promise<string[]> {
  const world = createWorld({ lane: 9 })
  const owner_id = world.ids.make("own")
  await store.enter({ owner_id, pid: 999_999_999, process_start: "0", host: "here", place: "here" }, 0)
  const preference = { values: { ...SYSTEM, ...SHIPPED }, sources: {} }
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const given = world.pass({
      owner_id,
      directory,
      session_id: `ses_${index % 50}`,
      objective: `Review part ${index}`,
      preference,
    })
    const limits = { running: count, running_per_subagent: count, running_per_model: count, tree: { passes: count } }
    const slot = { limits, reserve: { tokens: 0, cost: 0 }, waiting: false }
    const { pass } = accepted(await store.open(world.opening(given, { slot })))
    const started = await store.bind({
      pass,
      attempt: world.attempt(pass),
      event: event(pass, "pass.attempt", world.clock.now()),
      dispatch: world.commit(pass, "waiting_for_return"),
    })
    if (started === "stale") throw new Error("somebody was first")
    ids.push(pass.id)
  }
  return ids
}
