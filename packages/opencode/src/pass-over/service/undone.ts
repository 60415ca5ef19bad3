import type { Engine, Project } from "./engine"

const AGAIN_MS = 3_000

/**
 * Puts off a message while the user of a session has taken back a part of it: any message makes that final, and what was
 * taken back could not be brought back. Before the next start is soon enough too, so nothing but a timer holds it.
 */
export async function putOff(
  engine: Engine,
  { host }: Project,
  session_id: string,
  again: () => Promise<unknown>,
): Promise<boolean> {
  if (!(await host.undone(session_id))) return false
  engine.clock.after(AGAIN_MS, () => {
    again().catch((error: unknown) => engine.log("warn", "a result waits for the next start", { error: String(error) }))
  })
  return true
}
