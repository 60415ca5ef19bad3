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

type Told = z.output<typeof Extra>["messages"]

// The host makes the message of a step after it has collected these, so the user's newest is what tells of a step. By
// time and not by place: after a compaction, what was kept of the end stands behind newer ones.
const Prompt = z.object({ model: z.object({ variant: z.string().optional() }) })

/** The variant that the user works with now: they may have switched since the answer before. */
function variantOf(messages: Told): string | undefined {
  const prompts = (messages ?? []).map(({ info }) => info).filter(({ role }) => role === "user")
  const [newest] = prompts.toSorted((a, b) => b.time.created - a.time.created || (a.id < b.id ? 1 : -1))
  return Prompt.safeParse(newest).data?.model.variant
}

/** The caller, from what the host says of it and never from what the model says. */
export function callerOf(context: ToolContext): Omit<Caller, "by"> {
  const parsed = Extra.safeParse(context)
  const known = parsed.success ? parsed.data : {}
  const model = known.extra?.model
  const messages = known.messages
  const variant = variantOf(messages)
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
