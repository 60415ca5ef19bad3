import type { Event, Part, Session } from "@opencode-ai/sdk/v2"
import type { HostEvent } from "../pass-over/service/port"

/** A running tool call of one of our tools: the part that progress is written to. */
export type ToolPart = Extract<Part, { type: "tool" }>

export type Heard = {
  /** What the core is told. */
  events: HostEvent[]
  session?: Session
  removed?: string
  tool?: ToolPart
}

const NOTHING: Heard = { events: [] }

function part(value: Part): Heard {
  if (value.type === "step-finish") {
    const { tokens, cost } = value
    return {
      events: [
        {
          type: "step",
          session_id: value.sessionID,
          usage: {
            input: tokens.input,
            output: tokens.output,
            reasoning: tokens.reasoning,
            cache_read: tokens.cache.read,
            cache_write: tokens.cache.write,
            cost,
          },
        },
      ],
    }
  }
  if (value.type !== "tool") return { events: [{ type: "activity", session_id: value.sessionID }] }
  const tool = { name: value.tool, status: value.state.status, call_id: value.callID }
  const answered = value.state.status === "completed" && value.tool === "pass_over"
  return {
    tool: value,
    events: [
      { type: "activity", session_id: value.sessionID, tool },
      ...(answered
        ? [
            {
              type: "answered" as const,
              session_id: value.sessionID,
              call_id: value.callID,
              message_id: value.messageID,
            },
          ]
        : []),
    ],
  }
}

const waiting = (session_id: string, request_id: string, open: boolean, what: string): Heard => ({
  events: [{ type: "waiting", session_id, request_id, open, what }],
})

/** What one of the host's events means to us. Events that we do not know mean nothing. */
export function hear(event: Event): Heard {
  switch (event.type) {
    case "message.part.updated":
      return part(event.properties.part)
    case "message.part.delta":
      return { events: [{ type: "activity", session_id: event.properties.sessionID }] }
    case "permission.asked":
      return waiting(event.properties.sessionID, event.properties.id, true, event.properties.permission)
    case "permission.replied":
      return waiting(event.properties.sessionID, event.properties.requestID, false, event.properties.reply)
    case "question.asked":
      return waiting(event.properties.sessionID, event.properties.id, true, "question")
    case "question.replied":
    case "question.rejected":
      return waiting(event.properties.sessionID, event.properties.requestID, false, "question")
    case "session.created":
    case "session.updated":
      return { events: [], session: event.properties.info }
    case "session.deleted":
      return { events: [], removed: event.properties.info.id }
    default:
      return NOTHING
  }
}
