import type { ToolContext, ToolResult } from "@opencode-ai/plugin"
import { isDefined, pickBy } from "remeda"
import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { passOverMarker, returnMarker } from "../pass-over/domain/marker"
import { headline } from "../pass-over/domain/envelope"
import { InlineOverride } from "../pass-over/domain/preference"
import type { Pass } from "../pass-over/domain/pass"
import { ExpectedOutputType, Priority } from "../pass-over/domain/request"
import { DurationMs } from "../pass-over/domain/time"
import { valuesOf } from "../pass-over/domain/policy"
import { send, turnedDown, type Caller } from "../pass-over/service/api-send"
import { answerText, missedAll } from "../pass-over/service/deliver"
import type { Told } from "../pass-over/service/answers"
import type { Engine, Project } from "../pass-over/service/engine"
import { heldText } from "../pass-over/service/kept"
import type { Outcome } from "../pass-over/service/port"
import type { Runner } from "../pass-over/service/runner"
import { whole } from "../pass-over/service/recover"
import { MOST_AT_ONCE, sendMany } from "../pass-over/service/send-many"
import { headless } from "../identity"
import { callerOf } from "./caller"
import { dialog } from "./dialog"
import { permitted } from "./permitted"
import { refusalText } from "./refusal-text"
import { tool } from "./answer"
import description from "./pass-over.txt"

const Text = z.string().trim().min(1).max(20_000)

const One = z.strictObject({
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
  continue: z
    .string()
    .trim()
    .min(1)
    .optional()
    .describe("Id of an ended pass to the same subagent: it goes on there and knows what it did, e.g. to rework it"),
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

const more = "Further passes at once, side by side: objects with these fields; what one leaves out is taken from above"

export const PassOverArgs = One.extend({
  more: z
    .array(One.partial().required({ objective: true }))
    .min(1)
    .max(MOST_AT_ONCE - 1)
    .optional(),
})

// The fields of a further pass need not be told a second time.
const Shown = One.extend({ more: z.array(z.looseObject({})).optional().describe(more) })

type Args = z.output<typeof One>

/** `short`: this opencode ends with its prompt, and whatever runs here then with it. `came`: what the answer will hold. */
type World = { engine: Engine; project: Project; context: ToolContext; short: boolean; came: Told[] }

const marker = (pass: Pass, outcome?: Outcome) => ({
  pass_over: passOverMarker(pass),
  sessionId: pass.child_session_id,
  ...(outcome ? { pass_over_return: returnMarker(outcome.output) } : {}),
})

/** Waits until a pass has ended, and stops it when its originator is stopped. */
async function ended({ context }: World, runner: Runner): Promise<Outcome> {
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
  return outcome
}

/** The outcome of a pass, as its originator has it in the answer to its call. */
async function outcomeOf(world: World, runner: Runner): Promise<Outcome> {
  const { engine, project, came } = world
  const outcome = await ended(world, runner)
  // Whoever opens the project next brings it.
  if (outcome.left) return { ...outcome, taken: true }
  const read = await whole(engine, project, runner.pass, outcome)
  // However fast a person was: what was held comes as a message, and is not told twice.
  const all = outcome.held ? { ...read, held: true } : read
  came.push({ pass: runner.pass, outcome: all })
  return all
}

/** What the originator reads of a pass that it has waited for. */
function told(engine: Engine, pass: Pass, outcome: Outcome, among = 1) {
  if (outcome.taken) {
    return {
      title: `${pass.subagent_id}: taken over`,
      output: `Pass ${pass.id} was taken over by another opencode on this machine's database; its result comes as a message. Go on with something else, or end your turn.`,
      metadata: marker(pass),
    }
  }
  if (outcome.held || outcome.dropped) {
    return {
      title: `${pass.subagent_id}: held for a person`,
      output: `${heldText(pass)} Go on with something else, or end your turn.`,
      metadata: marker(pass),
    }
  }
  engine.answers.add({ pass, outcome })
  return {
    title: headline(outcome.output, outcome.usage.cost),
    output: answerText(engine, outcome, among),
    metadata: marker(pass, outcome),
  }
}

// What is still at work when a child has returned twice is ended.
const until = ({ parent_pass_id }: Pass) => (parent_pass_id === null ? "" : " while you are at work")

const comes = (pass: Pass) =>
  pass.return_required
    ? `You need not wait: the result comes as a message${until(pass)}.`
    : "No result was asked for: it is recorded, the user is told, and no message comes."

// Where a person would see it first, nobody else reads it afterwards.
const readable = (pass: Pass) => {
  if (pass.return_required) return " meanwhile"
  return valuesOf(pass).auto_return ? " and its result" : ""
}

const readableNow = (pass: Pass) => (valuesOf(pass).auto_return ? " pass_over_read tells it." : "")

const handed = (pass: Pass) => ({
  title: `${pass.subagent_id}: handed over`,
  output: `Handed over to ${pass.subagent_id} as pass ${pass.id}. ${comes(pass)} pass_over_read tells its state${readable(pass)}.`,
  metadata: marker(pass),
})

const LAST = "opencode run ends with its prompt, so this was waited for."

/** Nobody asked for its result, and all the same it has to end before this opencode does. */
const recorded = (pass: Pass, { output, usage, unrecorded }: Outcome) => ({
  title: headline(output, usage.cost),
  output: [
    `Pass ${pass.id} to ${pass.subagent_id} has ended: ${headline(output, usage.cost)}. ${LAST}`,
    unrecorded === undefined
      ? `No result was asked for: it is recorded.${readableNow(pass)}`
      : `No result was asked for, and it could not be written down: ${unrecorded} Tell the user this.`,
  ].join(" "),
  metadata: marker(pass),
})

const callerIn = ({ project, context }: World, asked: readonly string[] = []): Caller => ({
  ...callerOf(context),
  by: "model",
  permitted: new Set(asked),
  surface: dialog(context, project.host),
})

/** Who ends soon waits for whatever it passes on. */
const waited = ({ short }: World, ask: Args): Args => (short ? { ...ask, wait: true } : ask)

async function one(world: World, args: Args): Promise<ToolResult | Refusal> {
  const { engine, project } = world
  const { refused, asked } = await allowed(world, [args])
  const no = refused.get(args.subagent)
  if (no) return no
  const sent = await send(engine, project, callerIn(world, asked), waited(world, args))
  if (!sent.ok) return sent.refusal
  return answer(world, args, sent.runner)
}

/** What the originator reads of a pass that was sent. */
async function answer(world: World, { wait }: Args, runner: Runner, among = 1) {
  const { engine, short } = world
  if (!runner.pass.wait && !short) return handed(runner.pass)
  // The pass as it is when it has ended.
  if (!runner.pass.wait) {
    const outcome = await ended(world, runner)
    return recorded(runner.pass, outcome)
  }
  const outcome = await outcomeOf(world, runner)
  const all = told(engine, runner.pass, outcome, among)
  return short && wait === false ? { ...all, output: `${LAST}\n${all.output}` } : all
}

/** One question for each agent, one after the other: a "no" to one of the host's questions answers all that are open. */
async function allowed(world: World, asks: readonly Args[]) {
  const refused = new Map<string, Refusal>()
  const asked: string[] = []
  for (const to of new Set(asks.map(({ subagent }) => subagent))) {
    const said = await permitted(world, { to })
    if (said === "asked") asked.push(to)
    if (said && said !== "asked") refused.set(to, said)
  }
  const { engine, project } = world
  for (const ask of asks) {
    const no = refused.get(ask.subagent)
    if (no) await turnedDown(engine, project, { caller: callerIn(world), ask }, no)
  }
  return { refused, asked }
}

type Line = { title: string; output: string; metadata: Record<string, unknown>; refused?: true }

const notDone = (refusal: Refusal): Line => ({
  title: refusal.code,
  output: refusalText(refusal),
  metadata: { refused: refusal.code },
  refused: true,
})

/** Several passes at once: each with its own outcome, in the order of the asks, whatever becomes of the others. */
async function many(world: World, asks: readonly Args[]): Promise<ToolResult> {
  const { engine, project } = world
  const { refused, asked } = await allowed(world, asks)
  const permittedAsks = asks.filter(({ subagent }) => !refused.has(subagent))
  const { sent } = await sendMany(
    engine,
    project,
    callerIn(world, asked),
    permittedAsks.map((ask) => waited(world, ask)),
  )
  const left = [...sent]
  const results = await Promise.all(
    asks.map(async (ask): Promise<Line> => {
      const no = refused.get(ask.subagent)
      if (no) return notDone(no)
      const each = left.shift()
      if (!each) return notDone(refuse(PassOverErrorCode.SUBAGENT_CRASHED, "This pass could not be made."))
      if (!each.ok) return notDone(each.refusal)
      return answer(world, ask, each.runner, asks.length)
    }),
  )
  const not = results.filter((each) => each.refused).length
  return {
    title: `${asks.length} passes${not > 0 ? ` · ${not} not done` : ""}: ${results.map(({ title }) => title).join(" | ")}`,
    output: [
      `${asks.length} passes, in the order in which you asked for them.`,
      ...results.map(({ output }, at) => `\n${at + 1}. ${asks[at]?.subagent}\n${output}`),
    ].join("\n"),
    metadata: { passes: results.map(({ metadata }) => metadata) },
  }
}

export const passOverTool = (engine: Engine, project: Project, short = headless()) =>
  tool(
    {
      name: "pass_over",
      description: description.trim(),
      schema: PassOverArgs,
      shown: Shown,
      async run({ more: further, ...first }, context) {
        const world: World = { engine, project, context, short, came: [] }
        // Only one can continue a pass.
        const above = { ...first, continue: undefined }
        const others = further?.map((each): Args => ({ ...above, ...pickBy(each, isDefined) }))
        const result = await (others ? many(world, [first, ...others]) : one(world, first))
        // The host has given this call up and takes no answer for it any more.
        if (context.abort.aborted) missedAll(engine, project, world.came)
        return result
      },
    },
    engine.log,
  )
