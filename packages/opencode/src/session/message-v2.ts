import type { Message, Part, ToolPart } from "@opencode-ai/sdk/v2"
import type { ContextMessage, MessagePart } from "../pass-over/domain/context"

/** A message as the host stores it. Hosts of other versions send more and other things, so nothing here is relied on. */
export type Stored = { info: Message; parts: readonly Part[] }

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}

function tool(part: ToolPart): Partial<MessagePart> {
  const { state } = part
  const at = "time" in state ? state.time.start : undefined
  return {
    tool_name: part.tool,
    call_id: part.callID,
    tool_status: state.status,
    tool_input: record(state.input),
    ...(state.status === "completed" ? { tool_output: state.output } : {}),
    ...(state.status === "error" ? { tool_error: state.error } : {}),
    ...(at === undefined ? {} : { timestamp: at }),
    ...("metadata" in state && state.metadata ? { metadata: record(state.metadata) } : {}),
  }
}

/** One of the host's parts as the core knows parts. What carries no content for a reader is left out. */
export function toPart(part: Part): MessagePart | undefined {
  const base = { id: part.id }
  switch (part.type) {
    case "text":
      return {
        ...base,
        type: "text",
        text: part.text,
        ...(part.synthetic ? { synthetic: true } : {}),
        ...(part.ignored ? { ignored: true } : {}),
        ...(part.time ? { timestamp: part.time.start } : {}),
        ...(part.metadata ? { metadata: record(part.metadata) } : {}),
      }
    case "reasoning":
      return { ...base, type: "reasoning", text: part.text, timestamp: part.time.start }
    case "tool":
      return { ...base, type: "tool", ...tool(part) }
    case "file":
      return {
        ...base,
        type: "file",
        file_mime: part.mime,
        // The bytes of an attachment are not for a context; where it came from is.
        file_url: part.url.startsWith("data:") ? `data:${part.mime}` : part.url,
        ...(part.filename ? { file_path: part.filename } : {}),
      }
    default:
      return undefined
  }
}

export function toMessage(stored: Stored): ContextMessage {
  const { info } = stored
  return {
    id: info.id,
    role: info.role,
    agent_name: info.agent,
    timestamp: info.time.created,
    parts: stored.parts.flatMap((part) => toPart(part) ?? []),
  }
}
