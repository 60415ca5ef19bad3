import { z } from "zod"
import { AgentID } from "./id"

/** What the rules need to know of an agent of the host. */
export const AgentInfo = z.strictObject({
  name: AgentID,
  mode: z.enum(["primary", "subagent", "all"]),
  description: z.string().optional(),
  hidden: z.boolean().optional(),
})
export type AgentInfo = z.infer<typeof AgentInfo>
