import { uniqueBy } from "remeda"
import type { WorkArtifact } from "./artifact"
import type { ContextMessage, ContextToolResult, MessagePart, WorkContext } from "./context"
import { decisions } from "./decision"
import { findings } from "./finding-text"
import { select, type SelectLimit } from "./history-selector"
import { milliseconds } from "./time"
import { READERS } from "./tool"

/** The return itself is how artifacts arrive, not one of them. */
const RETURN = "pass_over_return"

const toolResult = (part: MessagePart): WorkArtifact[] => {
  if (part.type !== "tool" || !part.tool_name || part.tool_name === RETURN) return []
  if (part.tool_status !== "completed" && part.tool_status !== "error") return []
  const failed = part.tool_status === "error"
  return [
    {
      type: "tool_result",
      tool_name: part.tool_name,
      call_id: part.call_id ?? part.id,
      input: part.tool_input ?? {},
      output: (failed ? part.tool_error : part.tool_output) ?? "",
      status: failed ? "error" : "success",
    },
  ]
}

// Where the exact contents before and after are known they travel in the part's metadata; see session/message-v2.ts.
const modification = (part: MessagePart): WorkArtifact[] => {
  const changes = part.metadata?.file_changes
  if (part.type !== "tool" || part.tool_status !== "completed" || !Array.isArray(changes)) return []
  return changes.flatMap((change: unknown) => {
    if (typeof change !== "object" || change === null) return []
    const { path, old_content, new_content } = change as Record<string, unknown>
    if (typeof path !== "string" || typeof old_content !== "string" || typeof new_content !== "string") return []
    if (old_content === new_content) return []
    return [
      {
        type: "file_modification",
        path,
        old_content,
        new_content,
        reason: `${part.tool_name} by the agent`,
        confidence: "high",
      },
    ]
  })
}

/** The messages of one pass, where its child's session is older than it: all from the one that handed it over. */
export function since(messages: readonly ContextMessage[], pass_over_id: string): ContextMessage[] {
  const handed = ({ role, parts }: ContextMessage) =>
    role === "user" && parts.some(({ text }) => text?.includes(pass_over_id) === true)
  const from = messages.findIndex(handed)
  return from < 0 ? [] : messages.slice(from)
}

/** What a message history shows that its agent did: tool results, file modifications, decisions, findings. */
export function artifacts(messages: readonly ContextMessage[], agentID: string): WorkArtifact[] {
  return messages
    .filter((message) => message.role === "assistant" && message.agent_name === agentID)
    .flatMap((message) => message.parts)
    .flatMap((part) => [...toolResult(part), ...modification(part), ...decisions(part), ...findings(part)])
}

/** The agent's last words: what it said after its last tool call, or the last that it said at all. */
export function lastWords(messages: readonly ContextMessage[], agentID: string): string {
  const texts = messages
    .filter((message) => message.role === "assistant" && message.agent_name === agentID)
    .flatMap((message) => message.parts)
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text?.trim() ?? "")
  return texts.findLast((text) => text.length > 0) ?? ""
}

const pathOf = (part: MessagePart) => {
  const input = part.tool_input ?? {}
  const path = input.filePath ?? input.path ?? input.file
  return typeof path === "string" ? path : undefined
}

/** How many different files the agent opened. Searching is not reviewing. */
export const filesRead = (messages: readonly ContextMessage[]) =>
  new Set(
    messages
      .flatMap((message) => message.parts)
      .filter((part) => part.tool_name === "read" && part.tool_status === "completed")
      .flatMap((part) => pathOf(part) ?? []),
  ).size

/** Whether the agent did something that a second run from scratch would do twice. */
export const touched = (messages: readonly ContextMessage[]) =>
  messages.some((message) =>
    message.parts.some(
      (part) => part.type === "tool" && part.tool_name !== RETURN && !READERS.includes(part.tool_name ?? ""),
    ),
  )

/** The tool calls of a history as context for another agent, the latest of each call id. */
export const toolResults = (messages: readonly ContextMessage[]): ContextToolResult[] =>
  uniqueBy(
    messages.flatMap((message) => message.parts.flatMap((part) => contextResult(part, message.timestamp))).toReversed(),
    (result) => result.call_id,
  ).toReversed()

const STATUS = { pending: "pending", running: "in_progress", completed: "completed", error: "error" } as const

function contextResult(part: MessagePart, timestamp: number): ContextToolResult[] {
  if (part.type !== "tool" || !part.tool_name) return []
  return [
    {
      tool_name: part.tool_name,
      call_id: part.call_id ?? part.id,
      status: STATUS[part.tool_status ?? "pending"],
      input: part.tool_input ?? {},
      timestamp: part.timestamp ?? timestamp,
      ...(part.tool_output === undefined ? {} : { output: part.tool_output }),
      ...(part.tool_error === undefined ? {} : { error: part.tool_error }),
    },
  ]
}

const at = (part: MessagePart): MessagePart =>
  part.timestamp === undefined ? part : { ...part, timestamp: milliseconds(part.timestamp) }

/** A message with all of its times in milliseconds. */
const timed = (message: ContextMessage): ContextMessage => ({
  ...message,
  timestamp: milliseconds(message.timestamp),
  parts: message.parts.map(at),
})

/** The guide's entry (4.1): a session as the context of a pass. Files come with their contents from the caller. */
export function workContext(
  session: Pick<WorkContext, "session_id" | "directory" | "messages" | "objective"> & Partial<WorkContext>,
  files: WorkContext["files"],
  limit: SelectLimit & { now: number },
): WorkContext {
  const messages = select(session.messages, limit).map(timed)
  return { ...session, files, messages, tool_results: session.tool_results ?? toolResults(messages) }
}

export * as Extract from "./extract"
