import type { Pass } from "../domain/pass"
import type { Engine } from "./engine"
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

/** How deep in a chain a pass is that this session asks for; nothing where that cannot be said just now. */
export async function depthBelow(
  { running, store }: Pick<Engine, "running" | "store">,
  session_id: Pass["session_id"],
): Promise<{ chain_depth?: number }> {
  try {
    const above = running.byChild(session_id)?.pass ?? (await store.byChild(session_id))
    return { chain_depth: (above?.chain_depth ?? 0) + 1 }
  } catch {
    return {}
  }
}
