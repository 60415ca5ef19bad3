import type { Event } from "@opencode-ai/sdk/v2"

// Long after the second stop that a child is told of.
const MOST_MS = 15_000

/**
 * The children whose return was taken. With the end of that step their work is done, and they are stopped from this thread:
 * by the time that the engine's has heard of it, the host may have asked the model for their next step, which is paid for.
 */
export function createReturns() {
  const taken = new Set<string>()
  const stopping = new Set<string>()
  return {
    taken: (session_id: string) => void taken.add(session_id),
    /** Keeps what is to be asked of a model from being asked for a child that is being stopped: its stop ends the wait. */
    async hold(session_id: string): Promise<void> {
      if (!stopping.has(session_id)) return
      await Bun.sleep(MOST_MS)
      throw new Error("It has returned, and could not be stopped.")
    },
    /** The child that has nothing more to do, where this is the end of its step. */
    endedBy(event: Event): string | undefined {
      if (event.type === "session.status" && event.properties.status.type === "idle") {
        stopping.delete(event.properties.sessionID)
      }
      if (taken.size === 0 || event.type !== "message.part.updated") return undefined
      const { type, sessionID } = event.properties.part
      // A step that broke off has no end, and the next one is none of that return's.
      if (type === "step-start") taken.delete(sessionID)
      if (type !== "step-finish" || !taken.delete(sessionID)) return undefined
      stopping.add(sessionID)
      return sessionID
    },
  }
}
