import type { Message } from "@opencode-ai/sdk/v2"
import type { ResultMessage } from "../pass-over/service/port-host"
import type { Client } from "./client"

/** The agent and the model that the user works with there now: they may have switched since the pass was made. */
function inUse(messages: readonly { info: Message }[]) {
  const last = messages.findLast(({ info }) => info.role === "user")?.info
  if (last?.role !== "user") return {}
  const { model, agent } = last
  return {
    agent,
    model: { providerID: model.providerID, modelID: model.modelID },
    ...(model.variant ? { variant: model.variant } : {}),
  }
}

/**
 * Writes a result into a session as a message of ours. On a busy session it joins the running loop at its next
 * boundary; on an idle one it starts the model only where that was asked for.
 */
export async function bringResult(client: Client, message: ResultMessage): Promise<"sent" | "gone"> {
  const { data: messages, response } = await client.session.messages({ sessionID: message.session_id })
  if (!messages) {
    if (response?.status === 404) return "gone"
    throw new Error(`opencode could not read session ${message.session_id}`)
  }
  const { error } = await client.session.promptAsync({
    sessionID: message.session_id,
    messageID: message.message_id,
    noReply: !message.start,
    ...inUse(messages),
    parts: [
      {
        type: "text",
        text: message.text,
        synthetic: true,
        metadata: message.metadata,
      },
    ],
  })
  if (error !== undefined) throw new Error(`opencode could not take a result: ${JSON.stringify(error)}`)
  return "sent"
}
