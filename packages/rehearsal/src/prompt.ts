import type { AssistantMessage, Message, OpencodeClient, Part } from "@opencode-ai/sdk/v2/client"

export type PromptInput = {
  text: string
  agent?: string
  /** Continues this session; without it, a new one is made. */
  sessionID?: string
  model?: { providerID: string; modelID: string }
  variant?: string
}

export type Answer = {
  sessionID: string
  /** The last message of the turn. A turn that failed has its reason in `info.error`. */
  info: AssistantMessage
  parts: Part[]
  /** The text parts of that message. */
  text: string
  /** All messages of the session. */
  messages: { info: Message; parts: Part[] }[]
}

/** Prompts and waits for the end of the turn. Throws when opencode refuses the prompt, not when the turn fails. */
export async function prompt(client: OpencodeClient, input: PromptInput): Promise<Answer> {
  const sessionID = input.sessionID ?? unwrap(await client.session.create()).id
  const answer = unwrap(
    await client.session.prompt({
      sessionID,
      ...(input.agent === undefined ? {} : { agent: input.agent }),
      ...(input.model === undefined ? {} : { model: input.model }),
      ...(input.variant === undefined ? {} : { variant: input.variant }),
      parts: [{ type: "text", text: input.text }],
    }),
  )
  const messages = unwrap(await client.session.messages({ sessionID }))
  const text = answer.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  return { sessionID, info: answer.info, parts: answer.parts, text, messages }
}

type Result<T> = { data?: T | undefined; error?: unknown; response?: Response | undefined }

/** The data of an SDK call, or an error that says what the server said. */
export function unwrap<T>(result: Result<T>): NonNullable<T> {
  if (result.data !== undefined && result.data !== null) return result.data
  const reason = result.error instanceof Error ? result.error.message : JSON.stringify(result.error)
  throw new Error(`opencode answered ${result.response?.status ?? "nothing"}: ${reason}`, { cause: result.error })
}
