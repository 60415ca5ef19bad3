import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"

type Checked = { ok: true } | { ok: false; problem: string }

type Compiled = { ok: true; schema: z.ZodType } | { ok: false; problem: string }

function compile(schema: Record<string, unknown>): Compiled {
  try {
    return { ok: true, schema: z.fromJSONSchema(schema) }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** A schema that cannot be read would let everything by, so a pass is refused before it starts. */
export function unreadable(subagent: string, schema: Record<string, unknown> | undefined): Refusal | undefined {
  if (!schema) return
  const compiled = compile(schema)
  if (compiled.ok) return
  return refuse(
    PassOverErrorCode.CONFIG_INVALID,
    `The output_schema of ${subagent} is no JSON Schema that can be checked: ${compiled.problem}.`,
    {
      suggestion: `Correct subagents.${subagent}.output_schema in pass-over.json, or set validate_output to false.`,
    },
  )
}

/** Whether a return is what the user's own schema for this subagent asks for. */
export function conforms(schema: Record<string, unknown>, report: unknown): Checked {
  const compiled = compile(schema)
  if (!compiled.ok) return compiled
  const parsed = compiled.schema.safeParse(report)
  return parsed.success ? { ok: true } : { ok: false, problem: z.prettifyError(parsed.error) }
}
