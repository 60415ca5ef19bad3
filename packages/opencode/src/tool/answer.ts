import type { ToolContext, ToolResult } from "@opencode-ai/plugin"
import { z } from "zod"
import { PassOverError, PassOverErrorCode, refuse, toRefusal, type Refusal } from "../pass-over/domain/errors"
import type { Log } from "../pass-over/service/port"
import { refusalText } from "./refusal-text"

/** A tool of ours: what the model is told of it, how its arguments are read, and what it does. */
export type ToolSpec<S extends z.ZodType> = {
  name: string
  description: string
  schema: S
  /** What the model is shown, where that is less than what is checked. */
  shown?: z.ZodType
  run(args: z.output<S>, context: ToolContext): Promise<ToolResult | Refusal>
}

export type Tool = {
  name: string
  description: string
  /** The JSON schema that the model sees. */
  parameters: Record<string, unknown>
  execute(raw: unknown, context: ToolContext): Promise<ToolResult>
}

const NOISE = ["$schema", "additionalProperties", "minLength", "maxLength", "pattern", "format", "minimum", "maximum"]

// What the schema checks on our side costs tokens on the model's; it needs names, types and choices.
function lean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lean)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !NOISE.includes(key) && !(key === "exclusiveMinimum" && typeof inner === "number"))
      .map(([key, inner]) => [key, lean(inner)]),
  )
}

export const parametersOf = (schema: z.ZodType) =>
  lean(z.toJSONSchema(schema, { io: "input" })) as Record<string, unknown>

const isRefusal = (value: ToolResult | Refusal): value is Refusal =>
  typeof value === "object" && "code" in value && "suggestion" in value

// The code that a script's call and a flow's start have for the same.
const wrongCall = (name: string, error: z.ZodError) =>
  refuse(PassOverErrorCode.CONFIG_INVALID, `The arguments of ${name} are not right:\n${z.prettifyError(error)}`, {
    suggestion: `Correct them and call ${name} again.`,
  })

/** Makes a tool of a spec: arguments are parsed here because the host does not, and nothing of ours is ever thrown at it. */
export function tool<S extends z.ZodType>(spec: ToolSpec<S>, log: Log): Tool {
  return {
    name: spec.name,
    description: spec.description,
    parameters: parametersOf(spec.shown ?? spec.schema),
    async execute(raw, context) {
      const parsed = spec.schema.safeParse(raw)
      if (!parsed.success) return refusalText(wrongCall(spec.name, parsed.error))
      try {
        const result = await spec.run(parsed.data, context)
        return isRefusal(result) ? refusalText(result) : result
      } catch (error) {
        return refusalText(trouble(spec.name, error, log))
      }
    },
  }
}

function trouble(name: string, error: unknown, log: Log): Refusal {
  if (error instanceof PassOverError) return toRefusal(error)
  log("error", `${name} failed`, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return refuse(PassOverErrorCode.SUBAGENT_CRASHED, `Something went wrong in ${name} itself: ${String(error)}.`, {
    suggestion: "Do this part yourself; the details are in opencode's log.",
  })
}
