import type { SessionID } from "../domain/id"
import type { Engine } from "./engine"

/** Whether a session's model may go on by itself: a child that has returned is not woken up by what it once asked for. */
export async function awake({ store, running }: Pick<Engine, "store" | "running">, session_id: SessionID) {
  const asked = await store.byChild(session_id)
  return asked === undefined || running.get(asked.id) !== undefined
}
