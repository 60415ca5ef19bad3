import type { Event, Message, Part } from "@opencode-ai/sdk/v2"
import type { HostEvent } from "../pass-over/service/port-host"
import { OURS } from "./ours"

/** A running tool call of one of our tools: the part that progress is written to. */
export type ToolPart = Extract<Part, { type: "tool" }>

/** Who wrote a message of a session that is watched. */
export type Author = (session_id: string, message_id: string) => Message | undefined

/** Words that are whole. The host tells of them from the first letter on; what a user says has no beginning and no end. */
function said(value: Extract<Part, { type: "text" | "reasoning" }>, author: Author): HostEvent[] {
  const { id, sessionID: session_id, messageID, text, time } = value
  if (value.type === "text" && (value.synthetic || value.ignored)) return []
  const by = author(session_id, messageID)
  if (by?.role === "user") return [{ type: "said", session_id, said: { id, kind: "told", text, at: by.time.created } }]
  if (by === undefined || time?.end === undefined) return []
  const kind = value.type === "text" ? "said" : "thought"
  return [{ type: "said", session_id, said: { id, kind, text, agent: by.agent, at: time.start } }]
}

function part(value: Part, author: Author): HostEvent[] {
  if (value.type === "step-finish") {
    const { tokens, cost } = value
    const { input, output, reasoning, cache } = tokens
    const usage = { input, output, reasoning, cache_read: cache.read, cache_write: cache.write, cost }
    return [{ type: "step", session_id: value.sessionID, usage }]
  }
  if (value.type === "text" || value.type === "reasoning") {
    return [{ type: "activity", session_id: value.sessionID }, ...said(value, author)]
  }
  if (value.type !== "tool") return [{ type: "activity", session_id: value.sessionID }]
  const tool = { name: value.tool, status: value.state.status, call_id: value.callID }
  const activity: HostEvent = { type: "activity", session_id: value.sessionID, tool }
  const { sessionID, callID, messageID, state } = value
  if (state.status !== "completed" && state.status !== "error") return [activity]
  const failed = state.status === "error"
  const turn: HostEvent = {
    type: "turn",
    session_id: sessionID,
    turn: {
      id: value.id,
      call_id: callID,
      at: state.time.start,
      tool: value.tool,
      input: JSON.stringify(state.input),
      output: failed ? state.error : state.output,
      failed,
    },
  }
  if (failed || !OURS.includes(value.tool)) return [activity, turn]
  return [activity, turn, { type: "answered", session_id: sessionID, call_id: callID, message_id: messageID }]
}

const waiting = (session_id: string, request_id: string, open: boolean, what: string): HostEvent[] => [
  { type: "waiting", session_id, request_id, open, what },
]

/** What one of the host's events means to the core. Events that we do not know mean nothing. */
export function hear(event: Event, author: Author): HostEvent[] {
  switch (event.type) {
    case "message.part.updated":
      return part(event.properties.part, author)
    case "message.part.delta":
      return [{ type: "activity", session_id: event.properties.sessionID }]
    case "session.deleted":
      return [{ type: "deleted", session_id: event.properties.info.id }]
    case "session.status": {
      const { sessionID, status } = event.properties
      if (status.type !== "retry") return []
      return [{ type: "retry", session_id: sessionID, until: status.next, message: status.message }]
    }
    case "permission.asked":
      return waiting(event.properties.sessionID, event.properties.id, true, event.properties.permission)
    case "permission.replied":
      return waiting(event.properties.sessionID, event.properties.requestID, false, event.properties.reply)
    case "question.asked":
      return waiting(event.properties.sessionID, event.properties.id, true, "question")
    case "question.replied":
    case "question.rejected":
      return waiting(event.properties.sessionID, event.properties.requestID, false, "question")
    default:
      return []
  }
}
