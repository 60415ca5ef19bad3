import { z } from "zod"
import { SummaryRequest } from "../pass-over/domain/output"
import type { Engine, Project } from "../pass-over/service/engine"
import { readPass } from "../pass-over/service/read-pass"
import { tool } from "./answer"
import description from "./pass-over-read.txt"

export const PassOverReadArgs = z.strictObject({
  id: z.string().trim().min(1).optional(),
  offset: z.int().nonnegative().optional(),
  summary: SummaryRequest.shape.style.optional().describe("instead of the artifacts"),
  focus: SummaryRequest.shape.focus,
  max_length: z.int().positive().max(2_000).optional().describe("tokens"),
  wait: z.boolean().optional().describe("until it has ended"),
})

export const passOverReadTool = (engine: Engine, project: Project) =>
  tool(
    {
      name: "pass_over_read",
      description: description.trim(),
      schema: PassOverReadArgs,
      async run(args, context) {
        const read = await readPass(engine, project, { ...args, session_id: context.sessionID, stopped: context.abort })
        return read.ok ? { title: args.id ?? "passes", output: read.text } : read.refusal
      },
    },
    engine.log,
  )
