import type { Live, RunDeps } from "./live"

// A prompt that is on its way arrives within the first of these; the others are for a host that is slow or failed.
const AGAIN_MS = [250, 500, 1_000, 2_000, 4_000]
// Whoever has returned is at work, so the first is heard. A host with much to do takes its time over it.
const HEARD_MS = [4_000, 4_000]

/**
 * Tells a child to stop, and tells it again while it has not come to rest: a stop may overtake the prompt that it is
 * meant for, and what nobody waits for any more would go on unseen.
 */
export function halt(deps: Pick<RunDeps, "host" | "clock" | "log">, live: Live, working: () => boolean) {
  const child = live.pass.child_session_id
  if (child === null) return
  const tell = (pauses: readonly number[]) => {
    deps.host
      .stop(child)
      .catch((error: unknown) => deps.log("warn", "could not stop a child", { child, error: String(error) }))
    const [pause, ...rest] = pauses
    if (pause !== undefined) deps.clock.after(pause, () => (working() ? tell(rest) : undefined))
  }
  tell(live.report ? HEARD_MS : AGAIN_MS)
}
