import type { Engine } from "../engine"
import type { Alive } from "../recover"

// Whoever brings the content of a file names it within the hour: what nothing refers to a day later is left over.
export const LEFT_OVER_MS = 24 * 60 * 60 * 1_000

/** Forgets contents that nothing refers to, and the torn ones of a process that died while it brought them. */
export async function pruneContents({ store, clock, owner_id, running, files }: Engine, alive: Alive) {
  await store.pruneBlobs(clock.now() - LEFT_OVER_MS)
  // A torn content and one that is just being brought look the same.
  const others = (await store.owners()).some(
    (owner) => owner.owner_id !== owner_id && !("lost" in owner) && alive(owner) !== "dead",
  )
  if (others || running.all().length > 0 || (files?.under_way.size ?? 0) > 0) return
  await store.sweepBlobs()
}
