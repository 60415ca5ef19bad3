import { PassOverErrorCode, type Refusal } from "../domain/errors"
import { NOBODY } from "../domain/id"
import type { FlowCatalog } from "../handoff/catalog"
import { advance } from "../handoff/machine"
import { MACHINE } from "../handoff/fold"
import type { FlowPlan } from "../handoff/plan"
import { ENDED, newRun, type FlowInputEntry, type RunState } from "../handoff/state"
import type { Engine, Project } from "./engine"
import { bringEnds, endAnswered, endMissed } from "./flow-deliver"
import { foreign, handsOf, hold, stateOf, takeOver, type FlowOptions, type Hands } from "./flow-hands"
import { vain, inputProblem, no, planOf, strangerIn } from "./flow-plan"
import { firstHandoff } from "./flow-record"
import { flowEvent } from "./flow-journal"
import type { Carried } from "./flow-run"
import { tidy } from "./flow-tidy"
import type { FlowCommand, FlowRun } from "./port-flow"
import type { Alive } from "./recover"

export type StartFlow = {
  name: string
  inputs: Record<string, string>
  /** Null where there is none: an opencode of the project makes one when it takes the run. */
  session_id: string | null
  originator: string
  by: "person" | "model"
  model: string | null
  /** Asks whether work may be passed to the agents of the plan, where a model starts it. */
  permit?: (plan: FlowPlan) => Promise<Refusal | undefined>
}

export type Started = { ok: true; run: FlowRun } | { ok: false; refusal: Refusal }
export type Told = { ok: true; text: string; command_id?: string } | { ok: false; refusal: Refusal }

export type Flows = {
  catalog(): Promise<FlowCatalog>
  start(wanted: StartFlow): Promise<Started>
  /** Waits until a run has ended or waits for a person, or for so long. */
  rest(run_id: string, wait_ms?: number): Promise<RunState | undefined>
  state(run_id: string): Promise<{ run: FlowRun; state: RunState } | undefined>
  /** Pause, resume, cancel, retry and skip; by whoever, from wherever. */
  order(run_id: string, input: FlowInputEntry, actor: string): Promise<Told>
  /** Takes over what an earlier process left. */
  recover(alive: Alive): Promise<number>
  /** Withdraws questions that were being put when their process ended, and that no run has any more. */
  tidy(): Promise<void>
  /** Carries out what is asked from elsewhere: of this process's runs, and of those that nobody carries any more. */
  attend(alive: Alive): Promise<void>
  carried(run_id: string): Carried | undefined
  /** Takes a run in hand that nobody carries any more, because somebody here is about to wait for it. */
  take(run_id: string, alive: Alive): Promise<void>
  /** Brings what ended before its process could bring it. */
  bring(alive: Alive): Promise<void>
  /** The tool call that waited for a run was given up. */
  missed(run_id: string): Promise<void>
  /** A tool call has its answer stored. */
  answered(call: { session_id: string; call_id: string; message_id: string }): Promise<void>
}

function newFlowRun({ engine, project, options }: Hands, plan: FlowPlan, wanted: StartFlow): FlowRun {
  return {
    run_id: engine.ids.make("run"),
    flow: plan.name,
    plan,
    plan_hash: engine.hash(JSON.stringify(plan)),
    machine: MACHINE,
    inputs: wanted.inputs,
    directory: project.directory,
    session_id: wanted.session_id ?? "",
    originator: plan.originator ?? wanted.originator,
    started_by: wanted.by,
    starter: wanted.by === "model" ? wanted.originator : null,
    model: wanted.model,
    status: "running",
    reason: null,
    seq: 1,
    owner_id: wanted.session_id === null || options.elsewhere ? NOBODY : engine.owner_id,
    fence: 1,
    time_created: engine.clock.now(),
    time_ended: null,
  }
}

async function start(hands: Hands, wanted: StartFlow): Promise<Started> {
  const { project, options } = hands
  const planned = planOf(await options.catalog(), wanted.name)
  if (!planned.ok) return planned
  const problem = inputProblem(planned.flow, wanted.inputs)
  if (problem) return no(PassOverErrorCode.CONFIG_INVALID, problem, "Give the inputs that the flow names.")
  // Where no opencode is, nobody knows the agents; the one that takes the run refuses each pass of a stranger.
  const stranger = options.elsewhere ? undefined : strangerIn(planned.plan, await project.host.agents())
  const refusal = stranger ?? (await wanted.permit?.(planned.plan))
  if (refusal) return { ok: false, refusal }
  const run = await begin(hands, newFlowRun(hands, planned.plan, wanted))
  // One that has nothing to do is over before anybody could take it in hand.
  if (run.owner_id !== NOBODY && !ENDED.includes(run.status)) await hold(hands, run, true)
  return { ok: true, run }
}

/**
 * Writes a run down with its first entry, which is carried out as after a crash: there is only one way to go on. What
 * begins in the same session meanwhile, here or in another process, may have taken its numbers: then it has the next.
 */
async function begin(hands: Hands, made: FlowRun, before?: number): Promise<FlowRun> {
  const { engine, options } = hands
  const first_handoff = firstHandoff({ hash: engine.hash, files: options.files }, made, before)
  const run = { ...made, plan: { ...made.plan, first_handoff } }
  const entry = { seq: 1, at: run.time_created, input: { type: "start" as const } }
  const first = advance(run.plan, newRun(run.inputs), entry.input, entry.at)
  const { status } = first.state
  const begun: FlowRun = { ...run, status, time_ended: ENDED.includes(status) ? entry.at : null }
  const event = flowEvent(begun, first.state, "flow.started", entry.at)
  if (await engine.store.startRun({ run: begun, entry, event })) return begun
  return begin(hands, made, first_handoff)
}

const rests = ({ status }: RunState) => ENDED.includes(status) || status === "waiting" || status === "paused"

async function rest(hands: Hands, run_id: string, wait_ms?: number): Promise<RunState | undefined> {
  const carried = hands.carrying.get(run_id)
  if (!carried) return (await stateOf(hands, run_id))?.state
  if (rests(carried.state)) return carried.state
  const resting = Promise.withResolvers<void>()
  const off = carried.watch((now) => (rests(now) ? resting.resolve() : undefined))
  const unarm = wait_ms === undefined ? () => {} : hands.engine.clock.after(wait_ms, resting.resolve)
  await Promise.race([resting.promise, carried.over])
  off()
  unarm()
  return carried.state
}

async function here({ carrying }: Hands, carried: Carried, input: FlowInputEntry): Promise<Told> {
  const refusal = vain(carried.run.plan, carried.state, input)
  if (refusal) {
    // What has ended was only taken in hand for this.
    if (ENDED.includes(carried.state.status)) carrying.delete(carried.run.run_id)
    return { ok: false, refusal }
  }
  const done = await carried.input(input)
  if (done === "stale") return no(PassOverErrorCode.STALE_REVISION, "Another process has taken this run over.")
  return { ok: true, text: `Done: ${input.type}. The run is ${carried.state.status}.` }
}

type Order = { run_id: string; input: FlowInputEntry; actor: string }

async function order(hands: Hands, { run_id, input, actor }: Order): Promise<Told> {
  const { engine, options, carrying } = hands
  const carried = carrying.get(run_id)
  if (carried) return here(hands, carried, input)
  const known = await engine.store.run(run_id)
  const strange = known && foreign(known)
  if (strange) return { ok: false, refusal: strange }
  const found = await stateOf(hands, run_id)
  if (!found) {
    const message = `No run ${run_id} is known in this project.`
    return no(PassOverErrorCode.NOT_FOUND, message, "pass-over flow list shows them.")
  }
  const refusal = vain(found.run.plan, found.state, input)
  if (refusal) return { ok: false, refusal }
  if (ENDED.includes(found.state.status) && !options.elsewhere) {
    // Nobody carries what has ended: it is taken in hand once more, to be done again from a step.
    const again = await takeOver(hands, found.run, () => "dead")
    if (again) return here(hands, again, input)
  }
  const command_id = engine.ids.make("cmd")
  await engine.store.flowCommand({ command_id, run_id, input, actor }, engine.clock.now())
  return { ok: true, text: "Handed to the opencode that carries this run.", command_id }
}

const answered = (engine: Engine, command_id: string, told: Told) =>
  engine.store.answerFlowCommand({
    command_id,
    status: told.ok ? "done" : "refused",
    result: told.ok ? told.text : told.refusal.message,
    at: engine.clock.now(),
  })

async function obey(hands: Hands, alive: Alive, command: FlowCommand) {
  const { engine } = hands
  const run = await engine.store.run(command.run_id)
  const strange = run && foreign(run)
  if (strange) return answered(engine, command.command_id, { ok: false, refusal: strange })
  const carried = run && (await takeOver(hands, run, alive))
  if (carried) await answered(engine, command.command_id, await here(hands, carried, command.input))
}

async function attend(hands: Hands, alive: Alive) {
  const { engine, project } = hands
  for (const command of await engine.store.flowCommands(project.directory)) {
    try {
      await obey(hands, alive, command)
    } catch (error) {
      engine.log("error", "what was asked of a flow could not be done", {
        run_id: command.run_id,
        error: String(error),
      })
      const why = no(PassOverErrorCode.STALE_REVISION, `The run cannot be carried on here: ${String(error)}`)
      await answered(engine, command.command_id, why)
    }
  }
}

async function recover(hands: Hands, alive: Alive): Promise<number> {
  const { engine, project, carrying } = hands
  let taken = 0
  for (const run_id of await engine.store.openRuns(project.directory)) {
    if (carrying.has(run_id)) continue
    // One that cannot be taken up keeps none of the others from going on.
    try {
      const run = await engine.store.run(run_id)
      if (run && (await takeOver(hands, run, alive))) taken += 1
    } catch (error) {
      engine.log("error", "a flow could not be taken up", { run_id, error: String(error) })
    }
  }
  if (taken > 0) engine.log("info", `${taken} interrupted flows go on`)
  return taken
}

/** The flows of a project, in this process's hands. */
export function createFlows(engine: Engine, project: Project, options: FlowOptions): Flows {
  const hands = handsOf(engine, project, options)
  return {
    catalog: options.catalog,
    start: (wanted) => start(hands, wanted),
    rest: (run_id, wait_ms) => rest(hands, run_id, wait_ms),
    state: (run_id) => stateOf(hands, run_id),
    order: (run_id, input, actor) => order(hands, { run_id, input, actor }),
    recover: (alive) => recover(hands, alive),
    tidy: () => tidy(hands),
    attend: (alive) => attend(hands, alive),
    carried: (run_id) => hands.carrying.get(run_id),
    take: async (run_id, alive) => {
      const run = await engine.store.run(run_id)
      if (run && !ENDED.includes(run.status)) await takeOver(hands, run, alive, true)
    },
    bring: (alive) => bringEnds(engine, project, alive, (run_id) => stateOf(hands, run_id)),
    missed: async (run_id) => {
      hands.carrying.get(run_id)?.quiet()
      const found = await stateOf(hands, run_id)
      if (found && ENDED.includes(found.state.status)) await endMissed(engine, project, found)
    },
    answered: (call) => endAnswered(engine, call),
  }
}
