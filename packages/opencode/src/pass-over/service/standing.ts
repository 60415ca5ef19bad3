import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { Pass } from "../domain/pass"
import type { Engine, Project } from "./engine"
import type { Caller } from "./grant"

/** Whether a caller is still at a pass that is over: its host is slow to stop it, and nobody has spoken to it since. */
function leftOver({ history }: Pick<Caller, "history">, { time_ended }: Pass): boolean {
  const asked = time_ended === null ? [] : (history?.() ?? []).filter(({ role }) => role === "user")
  return asked.length > 0 && asked.every(({ timestamp }) => timestamp <= (time_ended ?? 0))
}

/** Where a caller stands: the pass that it works for, and that pass once more where it is over and has left it behind. */
export async function standing(engine: Engine, { host }: Project, caller: Pick<Caller, "session_id" | "history">) {
  const { session_id } = caller
  const above = engine.running.byChild(session_id)
  const root = above?.pass.root_session_id ?? (await host.root(session_id))
  // A session at the top is no child, so no pass is above it.
  const parent = above?.pass ?? (root === session_id ? undefined : await engine.store.byChild(session_id))
  const over = !above && parent && leftOver(caller, parent) ? parent : undefined
  return { above, parent, root_session_id: parent?.root_session_id ?? root, over }
}

export const overAlready = ({ agent }: Pick<Caller, "agent">, { id, status }: Pass): Refusal =>
  refuse(PassOverErrorCode.STALE_REVISION, `Pass ${id} of ${agent} has ended already (${status}).`, {
    suggestion: "Stop here; nothing more is passed on for it.",
  })
