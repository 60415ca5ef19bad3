import type { Event } from "@opencode-ai/sdk/v2"

/**
 * The children whose return was taken. With the end of that step their work is done, and they are stopped from this thread:
 * by the time that the engine's has heard of it, the host may have asked the model for their next step, which is paid for.
 */
export function createReturns() {
  const taken = new Set<string>()
  return {
    taken: (session_id: string) => void taken.add(session_id),
    /** The child that has nothing more to do, where this is the end of its step. */
    endedBy(event: Event): string | undefined {
      if (taken.size === 0 || event.type !== "message.part.updated") return undefined
      const { type, sessionID } = event.properties.part
      // A step that broke off has no end, and the next one is none of that return's.
      if (type === "step-start") taken.delete(sessionID)
      return type === "step-finish" && taken.delete(sessionID) ? sessionID : undefined
    },
  }
}
