export type ToolCall = { id: string; name: string; arguments: string }

export type ChatMessage = {
  role: string
  /** All text of the message, whatever form it came in. */
  text: string
  calls: ToolCall[]
  /** On a tool message: which call it answers. */
  call_id: string | undefined
}

export type OfferedTool = { name: string; description: string; schema: unknown }

export type ToolResult = { id: string; name: string; input: string; output: string }

/** What the model was sent, parsed. */
export type ModelRequest = {
  /** Position among all requests, from 1. */
  readonly number: number
  /** Position among the requests of this agent in this session, from 1. */
  readonly turn: number
  /** Empty when the client sent no `x-rehearsal-agent`. */
  readonly agent: string
  readonly session: string
  /** The parent session, if the session is a child. */
  readonly parent: string | undefined
  readonly model: string
  readonly messages: ChatMessage[]
  readonly system: string
  /** The last text of the user. */
  readonly user: string
  /** Results of the tools which the model called in its last turn. */
  readonly results: ToolResult[]
  /** The last result of that tool anywhere in the conversation. */
  result(name: string): string | undefined
  readonly tools: OfferedTool[]
  readonly stream: boolean
  readonly headers: Record<string, string>
  /** The body as it came, and its length in bytes. */
  readonly body: Record<string, unknown>
  readonly bytes: number
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : [])

const string = (value: unknown) => (typeof value === "string" ? value : "")

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  return records(content)
    .map((part) => string(part["text"]))
    .join("\n")
}

function messageOf(raw: Record<string, unknown>): ChatMessage {
  const calls = records(raw["tool_calls"]).map((item) => {
    const fn = isRecord(item["function"]) ? item["function"] : {}
    return { id: string(item["id"]), name: string(fn["name"]), arguments: string(fn["arguments"]) }
  })
  const call_id = typeof raw["tool_call_id"] === "string" ? raw["tool_call_id"] : undefined
  return { role: string(raw["role"]), text: textOf(raw["content"]), calls, call_id }
}

function toolOf(raw: Record<string, unknown>): OfferedTool {
  const fn = isRecord(raw["function"]) ? raw["function"] : {}
  return { name: string(fn["name"]), description: string(fn["description"]), schema: fn["parameters"] }
}

function resultsIn(messages: ChatMessage[]): ToolResult[] {
  const known = new Map(messages.flatMap((message) => message.calls.map((item) => [item.id, item] as const)))
  return messages
    .filter((message) => message.role === "tool")
    .map((message) => {
      const made = known.get(message.call_id ?? "")
      return {
        id: message.call_id ?? "",
        name: made?.name ?? "",
        input: made?.arguments ?? "",
        output: message.text,
      }
    })
}

// Header values are escaped by the plugin in the sandbox: names of agents need not be ASCII.
const header = (raw: Raw, name: string) => decodeURIComponent(raw.headers[name] ?? "")

export type Raw = { number: number; headers: Record<string, string>; text: string }

/** Undefined when the body is no JSON object. `turnOf` counts, so it is asked only for a request that parses. */
export function parseRequest(raw: Raw, turnOf: (agent: string, session: string) => number): ModelRequest | undefined {
  const body = parseBody(raw.text)
  if (!body) return undefined
  const agent = header(raw, "x-rehearsal-agent")
  const session = header(raw, "x-rehearsal-session")
  const messages = records(body["messages"]).map(messageOf)
  const answered = messages.findLastIndex((message) => message.role === "assistant")
  const all = resultsIn(messages)
  const fresh = new Set(messages.slice(answered + 1).map((message) => message.call_id))
  return {
    number: raw.number,
    turn: turnOf(agent, session),
    agent,
    session,
    parent: header(raw, "x-rehearsal-parent") || undefined,
    model: string(body["model"]),
    messages,
    system: messages
      .filter((message) => message.role === "system" || message.role === "developer")
      .map((message) => message.text)
      .join("\n"),
    user: messages.findLast((message) => message.role === "user")?.text ?? "",
    results: answered === -1 ? [] : all.filter((item) => fresh.has(item.id)),
    result: (name) => all.findLast((item) => item.name === name)?.output,
    tools: records(body["tools"]).map(toolOf),
    stream: body["stream"] === true,
    headers: raw.headers,
    body,
    bytes: Buffer.byteLength(raw.text),
  }
}

function parseBody(text: string) {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) ? body : undefined
  } catch {
    return undefined
  }
}
