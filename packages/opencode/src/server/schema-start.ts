import { z } from "zod"
import { SessionID } from "../pass-over/domain/id"
import { StartAsk, StartID, StartOrder } from "../pass-over/domain/start"
import { named } from "./schema"

export const StartPass = StartAsk.omit({ given: true }).extend({
  directory: z.string().min(1).max(4_096).describe("The project: an absolute path."),
  session_id: SessionID.optional().describe(
    "The opencode session that it belongs to; its result is brought there. Without it the pass gets one of its own.",
  ),
})

export const Started = named(
  "Started",
  StartOrder.omit({ ask: true, owner_id: true }).extend({
    start_id: StartID,
    objective: z.string(),
    subagent: z.string(),
    from: z.string(),
  }),
)
export type Started = z.infer<typeof Started>

export const StartParam = z.strictObject({ id: StartID })
