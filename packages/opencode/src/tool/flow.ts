import type { ToolContext } from "@opencode-ai/plugin"
import { z } from "zod"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { told } from "../pass-over/domain/gate"
import type { ToolCall } from "../pass-over/service/port-host"
import { progressOf } from "../pass-over/handoff/diagram"
import type { FlowPlan } from "../pass-over/handoff/plan"
import { ENDED } from "../pass-over/handoff/state"
import { standStill, type Engine, type Project } from "../pass-over/service/engine"
import type { Flows } from "../pass-over/service/flow"
import { agentsOf } from "../pass-over/service/flow-plan"
import { tellRun } from "../pass-over/service/flow-tell"
import { answerTo, openGate, withdrawGate } from "../pass-over/service/gate"
import type { FlowRun } from "../pass-over/service/port-flow"
import { overAlready, standing } from "../pass-over/service/standing"
import { tool } from "./answer"
import { alive, headless } from "../identity"
import { callerOf } from "./caller"
import { dialog } from "./dialog"
import { permitted } from "./permitted"
import description from "./flow.txt"

export const FlowArgs = z.strictObject({
  action: z.enum(["start", "watch", "resume"]),
  name: z.string().trim().min(1).max(60).optional(),
  inputs: z.record(z.string(), z.string().max(20_000)).optional(),
  run: z.string().trim().min(1).max(60).optional(),
  wait: z.boolean().optional().describe("false: its end comes later, as a message"),
})

const no = (message: string, suggestion: string) => refuse(PassOverErrorCode.NOT_FOUND, message, { suggestion })

const SHOWN_EVERY_MS = 500

/** Shows a run's progress in the tool call that waits for it. */
function shown(engine: Engine, project: Project, flows: Flows, of: { run: FlowRun; caller: ToolCall }) {
  const carried = flows.carried(of.run.run_id)
  if (!carried) return
  let last = -Infinity
  let unarm: (() => void) | undefined
  const show = () => {
    unarm = undefined
    last = engine.clock.mono()
    const { state } = carried
    const { step, steps, working, usage } = progressOf(of.run.plan, state)
    const who = working.slice(0, 3).map((each) => `${each.step} (${each.agent})`)
    const lines = { flow: of.run.flow, run: of.run.run_id, step: `${step}/${steps}`, working: who.join(", "), ...usage }
    project.host
      .progress(of.caller, {
        title: `${of.run.flow} ${step}/${steps}: ${who.join(", ") || state.status}`,
        lines,
      })
      .catch(() => {})
  }
  const changed = () =>
    void (unarm ??= engine.clock.after(Math.max(0, last + SHOWN_EVERY_MS - engine.clock.mono()), show))
  changed()
  const off = carried.watch(changed)
  return () => {
    off()
    unarm?.()
  }
}

/** `short`: this opencode ends with its prompt, and whatever runs here then with it. */
type World = { engine: Engine; project: Project; flows: Flows; short: boolean }

/** Waits until a run rests. Who stops waiting does not stop the run: what it comes to is brought as a message. */
async function waited(flows: Flows, run: FlowRun, context: ToolContext) {
  const { session_id, call_id } = callerOf(context)
  const stopped = Promise.withResolvers<void>()
  const stop = () => stopped.resolve()
  context.abort.addEventListener("abort", stop)
  const done = flows.carried(run.run_id)?.waitedBy({ session_id, call_id })
  if (context.abort.aborted) stop()
  await Promise.race([flows.rest(run.run_id), stopped.promise])
  context.abort.removeEventListener("abort", stop)
  done?.()
  if (context.abort.aborted) await flows.missed(run.run_id)
}

/** A run that goes on by itself. */
const begun = (run: FlowRun) => ({
  title: `${run.flow}: begun`,
  output: `Run ${run.run_id} has begun. You need not wait: what it comes to is brought as a message. flow with action "watch" tells how it goes meanwhile.`,
  metadata: { flow: { run_id: run.run_id } },
})

async function watched({ engine, project, flows }: World, run: FlowRun, context: ToolContext, wait: boolean) {
  const { session_id, call_id } = callerOf(context)
  const off = shown(engine, project, flows, { run, caller: { session_id, call_id } })
  if (wait) await waited(flows, run, context)
  off?.()
  const now = await flows.state(run.run_id)
  const state = now?.state
  if (!state) return no(`No run ${run.run_id} is known.`, "Look at the run's id.")
  return {
    title: `${run.flow}: ${state.status}`,
    output: await tellRun(engine, run, state),
    metadata: { flow: { run_id: run.run_id } },
  }
}

/** That the caller's own pass has ended already: what it begins now nobody waits for, and somebody pays for. */
async function leftBehind({ engine, project }: World, context: ToolContext): Promise<Refusal | undefined> {
  const caller = callerOf(context)
  const { over } = await standing(engine, project, caller)
  return over && overAlready(caller, over)
}

/** A run of this session's tree; the runs of others are unknown here. */
async function mine(
  { project, flows }: World,
  run_id: string | undefined,
  context: ToolContext,
): Promise<FlowRun | Refusal> {
  const unknown = no(`No run ${run_id ?? ""} is known in this session.`, 'Call flow with action "start" first.')
  const found = run_id === undefined ? undefined : await flows.state(run_id)
  if (!found) return unknown
  const roots = await Promise.all([context.sessionID, found.run.session_id].map((id) => project.host.root(id)))
  return roots[0] === roots[1] ? found.run : unknown
}

/** One question for each agent of the flow, one after the other, as where its originator passes to them itself. */
async function permittedAll(
  { engine, project }: World,
  plan: FlowPlan,
  context: ToolContext,
): Promise<Refusal | undefined> {
  for (const to of agentsOf(plan)) {
    const said = await permitted({ engine, project, context }, { to, originator: plan.originator })
    if (said && said !== "asked") return said
  }
  return undefined
}

// Whoever has paused a run looks at something. After that the agent goes on with something else.
const RESUME_TTL_MS = 10 * 60_000

/** Only people pause a run, so a person is asked before an agent goes on with one. */
async function released({ engine, project, flows, short }: World, run: FlowRun, context: ToolContext) {
  const said = (why: string): Refusal =>
    refuse(PassOverErrorCode.DECLINED, `A person has paused run ${run.run_id} of ${run.flow}, and ${why}.`, {
      suggestion: `Leave it paused. They go on with it themselves: pass-over flow resume ${run.run_id}`,
    })
  if (short || engine.headless) return said("nobody is here to be asked")
  const { gate } = await openGate(engine, {
    key: `${run.run_id}:resume:${engine.ids.make("cmd")}`,
    kind: "question",
    pass: undefined,
    session_id: context.sessionID,
    directory: project.directory,
    asked_by: context.agent,
    question: `${run.flow} is paused. May ${context.agent} go on with it?`,
    detail: { run: run.run_id, from: context.agent },
    policy: "a run that a person has paused",
    default_action: "reject",
    ttl_ms: RESUME_TTL_MS,
  })
  // Nobody is to answer what the call is not there for any more, or what is done already.
  const withdraw = () => void withdrawGate(engine, gate.gate_id).catch(() => {})
  const off = flows.carried(run.run_id)?.watch(({ paused }) => (paused ? undefined : withdraw()))
  context.abort.addEventListener("abort", withdraw)
  if (context.abort.aborted) withdraw()
  // In a child no limit runs while a person is asked, as at every other gate.
  const above = engine.running.byChild(context.sessionID)
  const answered = await standStill(engine.running, above, () => answerTo(engine, gate, dialog(context, project.host)))
  context.abort.removeEventListener("abort", withdraw)
  off?.()
  // Where the person goes on with it themselves, the agent is told that it is not paused.
  const paused = (await flows.state(run.run_id))?.state.paused
  if (!context.abort.aborted && (answered.status === "approved" || !paused)) return undefined
  return said(`the question was ${told(answered)}`)
}

async function start(world: World, args: z.infer<typeof FlowArgs>, context: ToolContext) {
  const { flows } = world
  if (args.name === undefined) {
    const { flows: known, faults } = await flows.catalog()
    const lines = [...known.values()].map(
      ({ flow }) => `${flow.name}(${Object.keys(flow.inputs ?? {}).join(", ")}): ${flow.description ?? ""}`,
    )
    return { title: "flows", output: [...lines, ...faults.flatMap((fault) => fault.lines)].join("\n") }
  }
  const caller = callerOf(context)
  const started = await flows.start({
    name: args.name,
    inputs: args.inputs ?? {},
    session_id: context.sessionID,
    originator: context.agent,
    by: "model",
    model: caller.model,
    permit: (plan) => permittedAll(world, plan, context),
  })
  if (!started.ok) return started.refusal
  const { run } = started
  const goesOn = args.wait === false && !world.short && !ENDED.includes(run.status)
  return goesOn ? begun(run) : watched(world, run, context, true)
}

export const flowTool = (engine: Engine, project: Project, flows: Flows, short = headless()) =>
  tool(
    {
      name: "flow",
      description: description.trim(),
      schema: FlowArgs,
      async run(args, context) {
        const world = { engine, project, flows, short }
        const wait = short || (args.wait ?? true)
        const late = args.action === "watch" ? undefined : await leftBehind(world, context)
        if (late) return late
        if (args.action === "start") return start(world, args, context)
        const run = await mine(world, args.run, context)
        if ("code" in run) return run
        // Where opencode goes on it is in hand already, or soon.
        if (short) await flows.take(run.run_id, alive)
        if (args.action === "watch") return watched(world, run, context, wait)
        const state = (await flows.state(run.run_id))?.state
        if (state && ENDED.includes(state.status)) return watched(world, run, context, false)
        const kept = state?.paused ? await released(world, run, context) : undefined
        if (kept) return kept
        const done = await flows.order(run.run_id, { type: "resume", actor: context.agent }, context.agent)
        return done.ok ? watched(world, run, context, wait) : done.refusal
      },
    },
    engine.log,
  )
