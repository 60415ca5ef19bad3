import type { Event, Part, Session } from "@opencode-ai/sdk/v2"
import { OURS } from "../session/ours"

// Sessions of a long day. What falls out is told of as if it were new.
const MOST_SESSIONS = 10_000

type Known = { top: boolean; ours: boolean; rules: string }
type Status = Extract<Event, { type: "session.status" }>["properties"]

const known = (session: Session): Known => ({
  top: session.parentID === undefined,
  ours: session.metadata?.pass_over !== undefined,
  rules: session.permission ? JSON.stringify(session.permission) : "",
})

const same = (one: Known | undefined, other: Known) =>
  one?.top === other.top && one.ours === other.ours && one.rules === other.rules

const shows = (part: Part) => part.type === "tool" && OURS.includes(part.tool)

/**
 * What of all that opencode says is of any use behind the door: the words of sessions that are no child of ours are not,
 * and most of what is said of sessions is said many times.
 */
export function createSieve() {
  const sessions = new Map<string, Known>()
  const busy = new Set<string>()

  function fresh(session: Session): boolean {
    const before = sessions.get(session.id)
    const now = known(session)
    sessions.set(session.id, now)
    const [oldest] = sessions.keys()
    if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest)
    return !same(before, now)
  }

  const strange = (session_id: string) => sessions.get(session_id)?.ours === false
  const ours = (session_id: string) => sessions.get(session_id)?.ours === true

  function status({ sessionID, status: { type } }: Status): boolean {
    if (type === "idle") busy.delete(sessionID)
    if (type !== "idle") busy.add(sessionID)
    return type === "retry" && !strange(sessionID)
  }

  return {
    /** Whether a session is a child of ours. */
    ours,

    /** Our children that are at work just now. */
    working: () => [...busy].filter(ours),

    /** Whether a session has none above it, so that it is nobody's child. */
    top: (session_id: string) => sessions.get(session_id)?.top === true,

    wanted(event: Event): boolean {
      switch (event.type) {
        case "session.created":
        case "session.updated":
          return fresh(event.properties.info)
        case "session.deleted":
          sessions.delete(event.properties.info.id)
          busy.delete(event.properties.info.id)
          return true
        case "session.status":
          return status(event.properties)
        case "message.part.updated":
          return shows(event.properties.part) || !strange(event.properties.part.sessionID)
        case "message.updated":
          return !strange(event.properties.info.sessionID)
        case "message.part.delta":
        case "message.part.removed":
        case "message.removed":
          return !strange(event.properties.sessionID)
        case "todo.updated":
        case "permission.asked":
        case "permission.replied":
        case "question.asked":
        case "question.replied":
        case "question.rejected":
          return true
        default:
          return false
      }
    },
  }
}
