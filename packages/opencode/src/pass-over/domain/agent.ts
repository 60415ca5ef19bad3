import { z } from "zod"
import { AgentID } from "./id"

/** What the rules need to know of an agent of the host. */
export const AgentInfo = z.strictObject({
  name: AgentID,
  mode: z.enum(["primary", "subagent", "all"]),
  description: z.string().optional(),
  hidden: z.boolean().optional(),
  /** What it is made to work with: "provider/model" or "provider/model#variant". */
  model: z.string().optional(),
  /** What it may do, in the host's own rules. */
  rules: z
    .array(z.strictObject({ permission: z.string(), pattern: z.string(), action: z.enum(["allow", "ask", "deny"]) }))
    .optional(),
})
export type AgentInfo = z.infer<typeof AgentInfo>
