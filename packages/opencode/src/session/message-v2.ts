import type { Message, Part } from "@opencode-ai/sdk/v2"
import type { ContextMessage, MessagePart } from "../pass-over/domain/context"
import { plainRecord } from "../pass-over/domain/plain"
import { fileChanges } from "./file-changes"

/** A message as the host stores it. Hosts of other versions send more and other things, so nothing here is relied on. */
export type Stored = { info: Message; parts: readonly Part[] }

/** Whatever it may be: fields are read by name and used only as what they turn out to be. */
type Raw = Record<string, unknown>

const raw = (value: unknown): Raw => (typeof value === "object" && value !== null ? (value as Raw) : {})
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const whole = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined

// An answer larger than this is cut: what is kept of it has to fit into one row.
const MOST = 4_000_000
const bounded = (value: string) => (value.length <= MOST ? value : `${value.slice(0, MOST - 20)}\n[…] (cut here)`)

const STATES = ["pending", "running", "completed", "error"] as const

/** Drops what has no value, so that a part has no empty fields. */
const lean = <T extends Raw>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

const names = (value: unknown) =>
  Array.isArray(value)
    ? value.map((one) => text(raw(one).filename) ?? text(raw(one).mime) ?? "attachment").slice(0, 50)
    : []

function tool(part: Raw): Partial<MessagePart> {
  const state = raw(part.state)
  const status = STATES.find((one) => one === state.status)
  const input = plainRecord(state.input)
  const name = text(part.tool) ?? "unknown"
  const title = text(state.title)
  const known = plainRecord(state.metadata)
  const changes =
    status === "completed" ? fileChanges({ tool: name, ...(title ? { title } : {}), input, metadata: known }) : []
  const attached = names(state.attachments)
  const metadata = {
    ...known,
    ...(changes.length > 0 && !known.file_changes ? { file_changes: changes } : {}),
    ...(attached.length > 0 ? { attachments: attached } : {}),
    ...(raw(state.time).compacted === undefined ? {} : { compacted: true }),
  }
  return {
    tool_name: name,
    tool_input: input,
    ...lean({
      call_id: text(part.callID),
      tool_status: status,
      tool_output: status === "completed" ? bounded(text(state.output) ?? "") : undefined,
      tool_error: status === "error" ? bounded(text(state.error) ?? "failed") : undefined,
      timestamp: whole(raw(state.time).start),
    }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** What the host notes on its own account: for a reader, but nobody's word. */
const noted = (said: string, metadata?: Raw): Partial<MessagePart> & Pick<MessagePart, "type"> => ({
  type: "text",
  text: said,
  synthetic: true,
  ignored: true,
  ...(metadata ? { metadata } : {}),
})

const told = (part: Raw): Partial<MessagePart> & Pick<MessagePart, "type"> => ({
  type: part.type === "reasoning" ? "reasoning" : "text",
  text: bounded(text(part.text) ?? ""),
  ...lean({
    synthetic: part.synthetic === true ? true : undefined,
    ignored: part.ignored === true ? true : undefined,
    timestamp: whole(raw(part.time).start),
    metadata: part.metadata === undefined ? undefined : plainRecord(part.metadata),
  }),
})

function file(part: Raw): Partial<MessagePart> & Pick<MessagePart, "type"> {
  const mime = text(part.mime)
  const url = text(part.url)
  const source = raw(part.source)
  return {
    type: "file",
    ...lean({
      file_mime: mime,
      // The bytes of an attachment are not for a context; where it came from is.
      file_url: url?.startsWith("data:") ? `data:${mime ?? ""}` : url,
      file_path: text(source.path) ?? text(part.filename),
    }),
  }
}

const paths = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === "string") : [])

/** Marks between the steps, without any content for a reader. */
const SILENT = ["step-start", "step-finish", "snapshot", "agent"]

function known(part: Raw): (Partial<MessagePart> & Pick<MessagePart, "type">) | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return told(part)
    case "tool":
      return { type: "tool", ...tool(part) }
    case "file":
      return file(part)
    case "subtask":
      return noted(`A task for ${text(part.agent)}: ${text(part.description)}\n${text(part.prompt)}`)
    case "patch":
      return noted(
        `Files changed: ${paths(part.files).join(", ")}`,
        plainRecord({ hash: part.hash, files: part.files }),
      )
    case "retry":
      return noted(`Attempt ${String(part.attempt)} failed: ${text(raw(raw(part.error).data).message) ?? "no reason"}`)
    case "compaction":
      return noted("What came before was summarised by the host.")
    default:
      // A kind of a later version: kept as it is, for whoever knows it.
      return noted(`[${String(part.type)}]`, { host_part: plainRecord(part) })
  }
}

/** One of the host's parts as the core knows parts. What carries no content for a reader is left out. */
export function toPart(part: Part): MessagePart | undefined {
  try {
    const given = raw(part)
    if (SILENT.includes(String(given.type))) return undefined
    const made = known(given)
    return made && { id: text(given.id) ?? "unknown", ...made }
  } catch {
    // Nothing that a part is made of may break an outcome.
    return { id: "unreadable", ...noted("[a part that could not be read]") }
  }
}

/** An answer that broke off says so; one that was stopped on purpose is no error. */
function broken(info: Raw): MessagePart[] {
  const error = raw(info.error)
  const name = text(error.name)
  if (name === undefined || name === "MessageAbortedError") return []
  const reason = text(raw(error.data).message) ?? text(error.message) ?? ""
  return [{ id: `${text(info.id)}_error`, ...noted(`This answer failed: ${name} ${reason}`.trim()) }]
}

export function toMessage(stored: Stored): ContextMessage {
  const info = raw(stored.info)
  const parts: readonly Part[] = Array.isArray(stored.parts) ? stored.parts : []
  return {
    id: text(info.id) ?? "unknown",
    role: info.role === "user" ? "user" : "assistant",
    ...lean({ agent_name: text(info.agent) ?? text(info.mode) }),
    timestamp: whole(raw(info.time).created) ?? 0,
    parts: [...parts.flatMap((part) => toPart(part) ?? []), ...broken(info)],
  }
}
