import type { ToolContext } from "@opencode-ai/plugin"
import { z } from "zod"
import type { Caller } from "../pass-over/service/api-send"
import { modelName } from "../session/host-model"
import { toMessage, type Stored } from "../session/message-v2"

// What the host's context carries beyond its published type. None of it is relied on: what is missing is asked for.
const Extra = z.object({
  callID: z.string().optional(),
  extra: z.object({ model: z.object({ id: z.string(), providerID: z.string() }).optional() }).optional(),
  messages: z
    .array(
      z.looseObject({
        info: z.looseObject({ id: z.string(), role: z.string(), time: z.looseObject({ created: z.number() }) }),
        parts: z.array(z.unknown()),
      }),
    )
    .optional(),
})

const Variant = z.object({ info: z.object({ role: z.literal("assistant"), variant: z.string() }) })

/** The caller, from what the host says of it and never from what the model says. */
export function callerOf(context: ToolContext): Omit<Caller, "by"> {
  const parsed = Extra.safeParse(context)
  const known = parsed.success ? parsed.data : {}
  const model = known.extra?.model
  const variant = known.messages?.map((message) => Variant.safeParse(message)).findLast((found) => found.success)?.data
    .info.variant
  const messages = known.messages
  return {
    agent: context.agent,
    session_id: context.sessionID,
    message_id: context.messageID,
    call_id: known.callID ?? null,
    model: model ? modelName({ providerID: model.providerID, modelID: model.id, variant }) : null,
    // The host has the history in its hands already; reading it again would cost a request.
    ...(messages ? { history: () => (messages as unknown as Stored[]).map(toMessage) } : {}),
  }
}
