import { z } from "zod"
import { ContextError, ContextFile, ContextMessage, ContextToolResult, Todo, type MessagePart } from "./context"

/** What a caller brings along that no session holds and no disk need have: a script's own context (§2.2). */
export const Given = z
  .strictObject({
    files: z.array(ContextFile.omit({ given: true }).extend({ content: z.string() })).max(200),
    messages: z.array(ContextMessage).max(10_000),
    tool_results: z.array(ContextToolResult).max(10_000),
    todos: z.array(Todo).max(1_000),
    errors: z.array(ContextError).max(1_000),
  })
  .partial()
export type Given = z.infer<typeof Given>

/** How much of it is kept until the pass begins; what of it goes along is chosen then. */
export const MOST_GIVEN = 4_000_000

const STATUS = {
  pending: "pending",
  in_progress: "running",
  completed: "completed",
  error: "error",
} as const satisfies Record<ContextToolResult["status"], NonNullable<MessagePart["tool_status"]>>

/** Results that no message shows, as messages of their own: so they are chosen, cut and accounted for as those are. */
export function resultMessages(
  results: readonly ContextToolResult[],
  messages: readonly ContextMessage[],
): ContextMessage[] {
  const shown = new Set(messages.flatMap(({ parts }) => parts.map((part) => part.call_id ?? part.id)))
  return results
    .filter(({ call_id }) => !shown.has(call_id))
    .map(({ call_id, tool_name, status, input, output, error, timestamp }) => ({
      id: call_id,
      role: "assistant",
      timestamp,
      parts: [
        {
          id: call_id,
          type: "tool",
          tool_name,
          call_id,
          tool_status: STATUS[status],
          tool_input: input,
          ...(output === undefined ? {} : { tool_output: output }),
          ...(error === undefined ? {} : { tool_error: error }),
        },
      ],
    }))
}
