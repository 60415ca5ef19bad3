import { z } from "zod"
import { PassOverErrorCode, refuse, TELL } from "../pass-over/domain/errors"
import type { Log } from "../pass-over/service/port"
import { tool, type Tool } from "./answer"

/** Our tools where the database cannot be used: they stay in their place and say why they do nothing. */
export const brokenTools = (problem: string, log: Log): Record<string, Tool> =>
  Object.fromEntries(
    ["pass_over", "pass_over_read", "pass_over_review", "pass_over_return", "flow"].map((name) => [
      name,
      tool(
        {
          name,
          description: "Not available in this session.",
          schema: z.unknown(),
          run: async () => refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, problem, { suggestion: TELL }),
        },
        log,
      ),
    ]),
  )
