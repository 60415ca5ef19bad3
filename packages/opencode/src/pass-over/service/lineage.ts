import type { Pass } from "../domain/pass"
import type { Store } from "./port"

/** When the passes above one were made, the first one first. */
export async function madeAbove(store: Pick<Store, "find">, pass: Pass): Promise<number[]> {
  const times: number[] = []
  const next = { id: pass.parent_pass_id }
  while (next.id !== null) {
    const above = await store.find(next.id)
    if (above) times.unshift(above.time_created)
    next.id = above?.parent_pass_id ?? null
  }
  return times
}
