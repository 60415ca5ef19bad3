import type { ToolContext } from "@opencode-ai/plugin"
import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { passOverMarker, returnMarker } from "../pass-over/domain/marker"
import { headline } from "../pass-over/domain/envelope"
import { InlineOverride } from "../pass-over/domain/preference"
import { ExpectedOutputType, Priority } from "../pass-over/domain/request"
import { DurationMs } from "../pass-over/domain/time"
import { send, type Caller } from "../pass-over/service/api-send"
import { answerText, missed } from "../pass-over/service/deliver"
import type { Engine, Project } from "../pass-over/service/engine"
import type { Outcome } from "../pass-over/service/port"
import type { Runner } from "../pass-over/service/runner"
import { callerOf } from "./caller"
import { dialog } from "./dialog"
import { tool } from "./answer"
import description from "./pass-over.txt"

const Text = z.string().trim().min(1).max(20_000)

export const PassOverArgs = z.strictObject({
  subagent: z.string().trim().min(1).describe("audit, scout, inspector or another agent"),
  objective: Text.describe("What to do and when it is done"),
  reason: z.string().trim().min(1).max(2_000).describe("Why, in a few words"),
  background: Text.optional().describe("What it must know"),
  files: z.array(z.string().trim().min(1)).max(200).optional().describe("Paths that matter"),
  constraints: z
    .array(z.string().trim().min(1))
    .max(50)
    .optional()
    .describe('Enforced: read_only, no_network, "paths: …", "commands: …"'),
  expected_output_type: ExpectedOutputType.optional(),
  priority: Priority.optional(),
  timeout_ms: DurationMs.optional(),
  model: z
    .string()
    .regex(/^[^/]+\/.+$/, 'A model is written "provider/model".')
    .optional(),
  wait: z.boolean().optional().describe("false: do not wait; the result comes later"),
  return_required: z.boolean().optional(),
  auto_apply_on_success: z.boolean().optional(),
  override: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Settings to narrow for this pass")
    .transform((value, context): InlineOverride | undefined => {
      const parsed = InlineOverride.safeParse(value ?? {})
      if (parsed.success) return value === undefined ? undefined : parsed.data
      for (const issue of parsed.error.issues)
        context.addIssue({ code: "custom", message: issue.message, path: issue.path.map(String) })
      return z.NEVER
    }),
})

/** The user's own opencode rules for passes. */
async function permitted(context: ToolContext, from: string, to: string): Promise<Refusal | undefined> {
  const pattern = `${from}->${to}`
  try {
    await context.ask({ permission: "pass_over", patterns: [pattern], always: [pattern], metadata: { from, to } })
    return undefined
  } catch (error) {
    // A rejection that goes on upwards would end the originator's turn; as a sentence it can be acted on.
    return refuse(PassOverErrorCode.DECLINED, `A person or a permission rule said no to ${pattern}: ${String(error)}.`)
  }
}

const marker = (runner: Runner, outcome?: Outcome) => ({
  pass_over: passOverMarker(runner.pass),
  sessionId: runner.pass.child_session_id,
  ...(outcome ? { pass_over_return: returnMarker(outcome.output) } : {}),
})

async function waited(engine: Engine, project: Project, runner: Runner, context: ToolContext) {
  const onAbort = () =>
    runner.input({
      type: "cancel",
      failure: { code: PassOverErrorCode.CANCELLED, message: `${runner.pass.originating_agent_id} was stopped` },
    })
  if (context.abort.aborted) onAbort()
  context.abort.addEventListener("abort", onAbort)
  const outcome = await runner.outcome
  // The host's signal fires after a normal end too; what happens then is not about this pass.
  context.abort.removeEventListener("abort", onAbort)
  // The host has given this call up and takes no answer for it any more.
  if (context.abort.aborted)
    void missed(engine, project, runner.pass, outcome).catch((error: unknown) =>
      engine.log("warn", "a result waits for the next start", { error: String(error) }),
    )
  if (outcome.taken) {
    return {
      title: `${runner.pass.subagent_id}: taken over`,
      output: `Pass ${runner.pass.id} was taken over by another opencode on this machine's database; its result comes as a message. Go on with something else, or end your turn.`,
      metadata: marker(runner),
    }
  }
  if (outcome.held) {
    return {
      title: `${runner.pass.subagent_id}: held for a person`,
      output: `Pass ${runner.pass.id} has ended; its result is held for a person, who sees it first. It comes as a message when they let it. Go on with something else, or end your turn.`,
      metadata: marker(runner),
    }
  }
  return {
    title: headline(outcome.output, outcome.usage.cost),
    output: answerText(engine, outcome),
    metadata: marker(runner, outcome),
  }
}

export const passOverTool = (engine: Engine, project: Project) =>
  tool(
    {
      name: "pass_over",
      description: description.trim(),
      schema: PassOverArgs,
      async run(args, context) {
        const no = await permitted(context, context.agent, args.subagent)
        if (no) return no
        const caller: Caller = {
          ...callerOf(context),
          by: "model",
          surface: dialog(context, project.host),
        }
        const sent = await send(engine, project, caller, args)
        if (!sent.ok) return sent.refusal
        if (sent.runner.pass.wait) return waited(engine, project, sent.runner, context)
        return {
          title: `${args.subagent}: handed over`,
          output: `Handed over to ${args.subagent} as pass ${sent.runner.pass.id}. You need not wait: the result comes as a message. pass_over_read tells its state meanwhile.`,
          metadata: marker(sent.runner),
        }
      },
    },
    engine.log,
  )
