import { z } from "zod"
import { Severity } from "../pass-over/domain/artifact"
import { ReviewDecision } from "../pass-over/domain/output"
import { returnFromPassOver } from "../pass-over/service/api-return"
import type { Engine } from "../pass-over/service/engine"
import { tool } from "./answer"
import { RETURN, RETURNED } from "./returned"
import description from "./pass-over-return.txt"

// What the model is shown is lean; what it sends is checked against the full schema (domain/report.ts), so that a
// mistake comes back with everything that is wrong at once.
const Shown = z.looseObject({
  status: z.enum(["completed", "partial", "failed"]),
  decision: ReviewDecision.optional(),
  decision_reason: z.string().optional(),
  findings: z
    .array(
      z.looseObject({
        severity: Severity,
        category: z.string(),
        message: z.string(),
        path: z.string().optional(),
        line: z.int().optional(),
        suggested_fix: z.string().optional(),
        replaces: z.string().optional().describe("exact text that the fix replaces"),
      }),
    )
    .optional(),
  recommendations: z.array(z.string()).optional(),
  artifacts: z
    .array(z.looseObject({}))
    .optional()
    .describe(
      '{type:"file_modification",path,reason,new_content or edits:[{old_string,new_string}]} | {type:"decision",question,answer:yes|no|unknown,reasoning} | {type:"message",content}',
    ),
  auto_apply_allowed: z.boolean().optional(),
  evidence: z
    .array(z.looseObject({}))
    .optional()
    .describe(
      'What proves it; checked: {type:"file",path,line} | {type:"command",command,exit_code} | {type:"tool",tool} | {type:"url",url}',
    ),
})

export const passOverReturnTool = (engine: Engine) =>
  tool(
    {
      name: RETURN,
      description: description.trim(),
      schema: z.unknown(),
      shown: Shown,
      async run(report, context) {
        const returned = await returnFromPassOver(engine, {
          session_id: context.sessionID,
          agent: context.agent,
          report,
        })
        return returned.ok ? { title: RETURNED, output: returned.text } : returned.refusal
      },
    },
    engine.log,
  )
