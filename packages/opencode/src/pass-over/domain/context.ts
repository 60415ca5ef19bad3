import { z } from "zod"
import { SessionID } from "./id"
import { Timestamp } from "./time"

const Json = z.record(z.string(), z.unknown())

/** A piece of a message as the core sees it, whatever the host calls its own pieces. */
export const MessagePart = z.strictObject({
  id: z.string(),
  type: z.enum(["text", "tool", "file", "reasoning"]),
  text: z.string().optional(),
  synthetic: z.boolean().optional(),
  ignored: z.boolean().optional(),
  tool_name: z.string().optional(),
  call_id: z.string().optional(),
  tool_status: z.enum(["pending", "running", "completed", "error"]).optional(),
  tool_input: Json.optional(),
  tool_output: z.string().optional(),
  tool_error: z.string().optional(),
  file_url: z.string().optional(),
  file_path: z.string().optional(),
  file_mime: z.string().optional(),
  timestamp: Timestamp.optional(),
  metadata: Json.optional(),
})
export type MessagePart = z.infer<typeof MessagePart>

export const ContextMessage = z.strictObject({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  agent_name: z.string().optional(),
  parts: z.array(MessagePart),
  timestamp: Timestamp,
})
export type ContextMessage = z.infer<typeof ContextMessage>

export const ContextFile = z.strictObject({
  path: z.string().min(1),
  content: z.string().optional(),
  metadata: z
    .strictObject({ size_bytes: z.int().nonnegative(), last_modified: Timestamp, is_binary: z.boolean() })
    .optional(),
  /** The caller has given its content; it was not read from the disk. */
  given: z.literal(true).optional(),
})
export type ContextFile = z.infer<typeof ContextFile>

export const ContextToolResult = z.strictObject({
  tool_name: z.string().min(1),
  call_id: z.string(),
  status: z.enum(["pending", "in_progress", "completed", "error"]),
  input: Json,
  output: z.string().optional(),
  error: z.string().optional(),
  timestamp: Timestamp,
})
export type ContextToolResult = z.infer<typeof ContextToolResult>

/** The host's todo, kept open: hosts add fields to it. */
export const Todo = z.looseObject({ content: z.string(), status: z.string(), priority: z.string().optional() })
export type Todo = z.infer<typeof Todo>

export const ContextError = z.strictObject({
  type: z.string(),
  message: z.string(),
  context: z.string().optional(),
})
export type ContextError = z.infer<typeof ContextError>

/** Everything that goes along with a pass. What was left out, and why, stands in the manifest beside it. */
export const WorkContext = z.strictObject({
  session_id: SessionID,
  directory: z.string().min(1),
  files: z.array(ContextFile),
  messages: z.array(ContextMessage),
  tool_results: z.array(ContextToolResult).optional(),
  todos: z.array(Todo).optional(),
  errors: z.array(ContextError).optional(),
  objective: z.string().trim().min(1).max(100_000),
  background: z.string().max(100_000).optional(),
})
export type WorkContext = z.infer<typeof WorkContext>
