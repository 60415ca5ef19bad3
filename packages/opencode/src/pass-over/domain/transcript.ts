import { z } from "zod"
import type { Turn } from "./circle"
import type { ContextMessage, MessagePart } from "./context"
import { redact } from "./secret"

/** What a child's session was told, and what the child said and thought there, each when it was whole. */
export type Said = {
  /** The host's own, by which it is known again. */
  id: string
  kind: "told" | "said" | "thought"
  text: string
  /** Who said it; it may be one that the host sent in between. */
  agent?: string | undefined
  at?: number | undefined
}

/** How much of one text is kept; the whole session is with the host. */
export const SAID_CHARACTERS = 8_000
export const TOOL_CHARACTERS = 2_000
/** A child that talks without an end: from here on only the beginnings are kept. */
export const PASS_CHARACTERS = 1_000_000
const BEGINNING = 200

// No secret is longer than this and yet unknown to the rules when its end is missing.
const MARGIN = 4_096

/**
 * The beginning of a text, and how much more there was. Secrets are taken out first: one that is cut in two is a secret
 * to no rule any more.
 */
export function beginning(text: string, most: number): { text: string; more: number } {
  const seen = text.slice(0, most + MARGIN)
  const clean = redact(seen).text
  const sure = seen.length < text.length ? clean.length - MARGIN : clean.length
  const shown = clean.slice(0, Math.max(0, Math.min(most, sure))).toWellFormed()
  return { text: shown, more: clean.length - shown.length + text.length - seen.length }
}

const place = { seq: z.int().positive(), at: z.number(), part: z.string().nullable() }

/** One line of a transcript as it is read. `more` is how many characters of it were not kept. */
export const TranscriptItem = z.union([
  z.strictObject({
    ...place,
    kind: z.enum(["told", "said", "thought"]),
    agent: z.string().nullable(),
    text: z.string(),
    more: z.int().nonnegative(),
  }),
  z.strictObject({
    ...place,
    kind: z.literal("tool"),
    call_id: z.string().nullable(),
    tool: z.string(),
    failed: z.boolean(),
    input: z.string(),
    input_more: z.int().nonnegative(),
    output: z.string(),
    output_more: z.int().nonnegative(),
  }),
])
export type TranscriptItem = z.infer<typeof TranscriptItem>

/** What a text leaves in the events, with so much room for it in all. */
export function saidData({ id, kind, text, agent, at }: Said, room: number) {
  const short = beginning(text, room > 0 ? SAID_CHARACTERS : BEGINNING)
  return { part: id, kind, agent: agent ?? null, ...short, ...(at === undefined ? {} : { began: at }) }
}

/** What a tool call leaves in the events. */
export function turnData({ id, call_id, tool, input, output, failed, at }: Turn) {
  const [given, answer] = [beginning(input, TOOL_CHARACTERS), beginning(output, TOOL_CHARACTERS)]
  return {
    part: id ?? null,
    call_id: call_id ?? null,
    tool,
    failed,
    input: given.text,
    input_more: given.more,
    output: answer.text,
    output_more: answer.more,
    ...(at === undefined ? {} : { began: at }),
  }
}

type Kept = { seq: number; at: number; type: string; data: Record<string, unknown> }

/** A stored event as a line of the transcript, where it is one. */
export function transcriptItem({ seq, at, type, data }: Kept): TranscriptItem[] {
  const { began = at, ...rest } = data
  const kind = type === "pass.artifact" ? { kind: "tool" } : {}
  const read = TranscriptItem.safeParse({ part: null, ...rest, ...kind, seq, at: began })
  return read.success ? [read.data] : []
}

function told(message: ContextMessage, part: MessagePart): Said[] {
  if (part.type !== "text" && part.type !== "reasoning") return []
  if (part.synthetic || part.ignored || !part.text?.trim()) return []
  const { id, text } = part
  if (message.role === "user") return [{ id, kind: "told", text, at: message.timestamp }]
  const kind = part.type === "text" ? "said" : "thought"
  return [{ id, kind, text, agent: message.agent_name, at: part.timestamp }]
}

function done(part: MessagePart): Turn[] {
  const { id, call_id, tool_name: tool, tool_status: status } = part
  if (part.type !== "tool" || tool === undefined || (status !== "completed" && status !== "error")) return []
  const failed = status === "error"
  const output = (failed ? part.tool_error : part.tool_output) ?? ""
  return [
    {
      id,
      tool,
      input: JSON.stringify(part.tool_input ?? {}),
      output,
      failed,
      at: part.timestamp,
      call_id: call_id ?? id,
    },
  ]
}

/** The same out of messages that were read. */
export const transcriptOf = (messages: readonly ContextMessage[]): ({ said: Said } | { turn: Turn })[] =>
  messages.flatMap((message) =>
    message.parts.flatMap((part) => [
      ...told(message, part).map((said) => ({ said })),
      ...done(part).map((turn) => ({ turn })),
    ]),
  )
