import type { SessionID } from "../domain/id"
import type { Engine } from "./engine"
import type { Runner } from "./runner"

/**
 * Whether a child may be spoken to: one that has returned, or whose pass has ended and is only being put away, would
 * begin to work once more, with nobody watching it.
 */
export const listens = ({ run }: Pick<Runner, "run">) => run.phase !== "staged" && run.phase !== "ended"

/** Whether a session's model may go on by itself: a child that has returned is not woken up by what it once asked for. */
export async function awake({ store, running }: Pick<Engine, "store" | "running">, session_id: SessionID) {
  const asked = await store.byChild(session_id)
  if (asked === undefined) return true
  const runner = running.get(asked.id)
  return runner !== undefined && listens(runner)
}
