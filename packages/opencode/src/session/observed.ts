import type { Session } from "@opencode-ai/sdk/v2"
import type { Heard, ToolPart } from "./events"

/** What passed by on the event stream and would cost a request to ask for again. */
export type Observed = {
  hear(heard: Heard): void
  session(session: Pick<Session, "id" | "parentID">): void
  /** The session above, null for one at the top, undefined for one that was never seen. */
  parent(session_id: string): string | null | undefined
  /** The running call of one of our tools. */
  tool(session_id: string, call_id: string): ToolPart | undefined
  questions(session_id: string): string[]
}

// Sessions of a long day. What falls out is asked for again.
const MOST_SESSIONS = 10_000

const OURS = ["pass_over"]

export function createObserved(): Observed {
  const parents = new Map<string, string | null>()
  const tools = new Map<string, ToolPart>()
  const questions = new Map<string, string>()

  const session = ({ id, parentID }: Pick<Session, "id" | "parentID">) => {
    parents.set(id, parentID ?? null)
    const [oldest] = parents.keys()
    if (parents.size > MOST_SESSIONS && oldest !== undefined) parents.delete(oldest)
  }

  const tool = (part: ToolPart) => {
    if (!OURS.includes(part.tool)) return
    const key = `${part.sessionID} ${part.callID}`
    if (part.state.status === "completed" || part.state.status === "error") tools.delete(key)
    if (part.state.status === "pending" || part.state.status === "running") tools.set(key, part)
  }

  return {
    session,
    hear(heard) {
      if (heard.session) session(heard.session)
      if (heard.removed) parents.delete(heard.removed)
      if (heard.tool) tool(heard.tool)
      for (const event of heard.events) {
        if (event.type !== "waiting") continue
        if (event.open) questions.set(event.request_id, event.session_id)
        if (!event.open) questions.delete(event.request_id)
      }
    },
    parent: (session_id) => parents.get(session_id),
    tool: (session_id, call_id) => tools.get(`${session_id} ${call_id}`),
    questions: (session_id) => [...questions].filter(([, of]) => of === session_id).map(([id]) => id),
  }
}
