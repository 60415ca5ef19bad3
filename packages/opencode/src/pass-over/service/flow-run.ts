import { PassOverErrorCode } from "../domain/errors"
import { advance } from "../handoff/machine"
import {
  ENDED,
  type FlowEffect,
  type FlowInputEntry,
  type GateWork,
  type Leave,
  type PassWork,
  type RunState,
  type Verdict,
  type Work,
} from "../handoff/state"
import { taskOf, type Task } from "../handoff/task"
import type { Project } from "./engine"
import { bringEndNow, type Waiter } from "./flow-deliver"
import { askFor } from "./flow-gate"
import { madeBy, type Made } from "./flow-ground"
import { pause, PAUSES_MS, replayed, unasked, writeDown } from "./flow-journal"
import { refusedLeave } from "./flow-leave"
import { callOff, perform, type FlowWorld, type Standing } from "./flow-pass"
import { createRecord, type FlowRecord } from "./flow-record"
import { lookAtGates } from "./gate"
import type { FlowEntry, FlowRun } from "./port-flow"

/** A run in this process's hands. */
export type Carried = {
  readonly run: FlowRun
  readonly state: RunState
  /** Comes when the run has ended, or when another process has taken it over. */
  readonly over: Promise<RunState>
  /** Tells the run that something has happened; "stale" where it is no longer ours. */
  input(input: FlowInputEntry): Promise<"written" | "stale" | "nothing">
  /** Called on every change. */
  watch(heard: (state: RunState) => void): () => void
  /** A tool call that has the end of the run in its answer; until it is called off. */
  waitedBy(waiter: Waiter): () => void
  /** Its originator was stopped: what the run comes to does not make it go on by itself. */
  quiet(): void
}

type Holding = {
  world: FlowWorld
  run: FlowRun
  record: FlowRecord
  seq: number
  state: RunState
  /** What later passes stand on. */
  made: Made[]
  /** Another process has it, or it cannot be written down. */
  halted: boolean
  tail: Promise<unknown>
  over: PromiseWithResolvers<RunState>
  watching: Set<(state: RunState) => void>
  waiting: Set<Waiter>
  /** Whether its originator's model may go on by itself when it has ended. */
  start: boolean
}

/** Whether an input still means anything to a state. */
const meant = (state: RunState, input: FlowInputEntry) =>
  input.type === "left" || input.type === "answered" ? state.open[input.key] !== undefined : true

function standing({ halted, state }: Holding, { key }: Work): Standing {
  if (state.open[key] === undefined) return "dropped"
  return halted ? "elsewhere" : "open"
}

const words = (error: unknown) => (error instanceof Error ? error.message : String(error))

function halt(holding: Holding) {
  holding.halted = true
  holding.over.resolve(holding.state)
}

/** Whoever opens the project next takes the run up where it is. */
function haltWith({ closing }: Project, holding: Holding) {
  if (!closing) return
  const leave = () => halt(holding)
  if (closing.aborted) return leave()
  closing.addEventListener("abort", leave)
  void holding.over.promise.then(() => closing.removeEventListener("abort", leave))
}

function ended(holding: Holding) {
  const { world, run, state, start } = holding
  holding.over.resolve(state)
  bringEndNow(world.engine, world.project, { run, state, start }).catch((error: unknown) =>
    world.engine.log("warn", "the end of a flow waits for the next start", {
      run_id: run.run_id,
      error: String(error),
    }),
  )
}

async function step(holding: Holding, input: FlowInputEntry): Promise<"written" | "stale" | "nothing"> {
  if (holding.halted) return "stale"
  if (!meant(holding.state, input)) return "nothing"
  const at = holding.world.engine.clock.now()
  const next = advance(holding.run.plan, holding.state, input, at)
  if (next.state === holding.state) return "nothing"
  const { world, run, seq, waiting } = holding
  if ((await writeDown(world, run, { entry: { seq: seq + 1, at, input }, next, waiting })) === "stale") {
    halt(holding)
    return "stale"
  }
  holding.seq += 1
  holding.made.push(...madeBy(holding.state, input))
  holding.state = next.state
  for (const effect of next.effects) act(holding, effect)
  if (unasked(next).length > 0) lookAtGates(world.engine).catch(failed(holding, "withdrawing questions"))
  for (const heard of holding.watching) heard(holding.state)
  if (ENDED.includes(holding.state.status)) ended(holding)
  return "written"
}

/** One thing after the other: what happens meanwhile waits for its turn. */
function enter(holding: Holding, input: FlowInputEntry) {
  const { world, run } = holding
  const result = holding.tail.then(() => step(holding, input))
  holding.tail = result.catch((error: unknown) => {
    world.engine.log("error", "a flow stands still until the next start", { run_id: run.run_id, error: String(error) })
    halt(holding)
  })
  return result
}

const failed = (holding: Holding, what: string) => (error: unknown) => {
  const { world, run, halted } = holding
  if (!halted) world.engine.log("error", `${what} of a flow failed`, { run_id: run.run_id, error: String(error) })
}

/** Does something that can be done twice, and again where it fails: what fails every time is told to the caller. */
async function stubborn<T>(holding: Holding, what: string, once: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await once()
    } catch (error) {
      failed(holding, what)(error)
      await pause(holding.world, ms)
      if (holding.halted) throw error
    }
  }
  return once()
}

function question(holding: Holding, work: GateWork) {
  const { world, run, record, state } = holding
  const asked = { state, work, standing: () => standing(holding, work) }
  const asking = async (): Promise<Verdict | undefined> => askFor(world.engine, run, asked)
  stubborn(holding, "a question", asking)
    .then((answer) => (answer ? enter(holding, { type: "answered", key: work.key, answer }) : undefined))
    .catch(failed(holding, "a question"))
  record.asked(work, state)
}

/** Why a handoff holds more than its step takes; nothing where it does not. */
async function tooLarge({ engine }: FlowWorld, { handoff, request }: Task, most: number): Promise<string | undefined> {
  const count = await engine.tokens()
  const tokens = count(JSON.stringify(request ?? handoff))
  return tokens > most ? `its handoff has ${tokens} tokens, where ${most} are the budget of what goes in` : undefined
}

/**
 * What a pass left; nothing where nobody waits for it any more. One that cannot be made, or whose return cannot be read,
 * has failed: a person is asked about it.
 */
async function leaveFor(holding: Holding, work: PassWork): Promise<Leave | undefined> {
  const { world, run, record, state, made } = holding
  const refused = (code: PassOverErrorCode, message: string) =>
    refusedLeave(world.engine, run.flow, work, { code, message })
  try {
    const task = taskOf(run.plan, state, work)
    if ("fault" in task) {
      record.unmade(work, task.fault, state)
      return refused(PassOverErrorCode.CONFIG_INVALID, task.fault)
    }
    record.begun(work, task, state)
    const most = task.input_tokens
    const large = most === undefined ? undefined : await tooLarge(world, task, most)
    if (large !== undefined) return refused(PassOverErrorCode.BUDGET_EXCEEDED, large)
    const doing = { work, task, made: [...made], standing: () => standing(holding, work) }
    return await stubborn(holding, "a pass", () => perform(world, run, doing))
  } catch (error) {
    failed(holding, "a pass")(error)
    return refused(PassOverErrorCode.SUBAGENT_CRASHED, words(error))
  }
}

function begin(holding: Holding, work: Work) {
  if (work.type === "gate") return question(holding, work)
  leaveFor(holding, work)
    .then((leave) => (leave && !holding.halted ? enter(holding, { type: "left", key: work.key, leave }) : undefined))
    .catch(failed(holding, "a pass"))
}

function act(holding: Holding, effect: FlowEffect) {
  const { world, run, record, state } = holding
  if (effect.type === "pass" || effect.type === "ask") return begin(holding, effect.work)
  if (effect.type === "left") return record.left(effect, state)
  if (effect.type === "ended") {
    record.ended(state)
    return
  }
  // Its questions are withdrawn with the entry that drops them.
  if (effect.work.type === "gate") return
  record.dropped(effect.work)
  callOff(world, run, effect.work).catch(failed(holding, "taking something back"))
}

/**
 * Carries a run: writes down what happens before anything follows from it, and does what follows. Whatever it does can
 * be done again after a crash without being done twice: passes and questions are found by the names that they have.
 * `begun` tells that it began in this process.
 */
export function carry(world: FlowWorld, run: FlowRun, entries: readonly FlowEntry[], begun: boolean): Carried {
  const { state, before, made } = replayed(run, entries)
  const holding: Holding = {
    world,
    run,
    record: createRecord(world, run),
    seq: run.seq,
    state,
    made,
    halted: false,
    tail: Promise.resolve(),
    over: Promise.withResolvers<RunState>(),
    watching: new Set(),
    waiting: new Set(),
    // What an earlier process began spends no money without the user; who started it by hand reads it when they like.
    start: begun && run.started_by === "model",
  }
  haltWith(world.project, holding)
  holding.record.again(before, state)
  for (const work of Object.values(state.open))
    if (!holding.halted && !state.held.includes(work.key)) begin(holding, work)
  return {
    run,
    get state() {
      return holding.state
    },
    over: holding.over.promise,
    input: (input) => enter(holding, input),
    watch(heard) {
      holding.watching.add(heard)
      return () => void holding.watching.delete(heard)
    },
    waitedBy(waiter) {
      holding.waiting.add(waiter)
      return () => void holding.waiting.delete(waiter)
    },
    quiet: () => void (holding.start = false),
  }
}
