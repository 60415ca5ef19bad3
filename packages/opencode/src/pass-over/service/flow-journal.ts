import { event, type PassEvent } from "../domain/pass"
import type { PassID } from "../domain/id"
import { progressOf } from "../handoff/diagram"
import { advance, type FlowNext } from "../handoff/machine"
import { ENDED, newRun, type FlowEffect, type PassWork, type RunState } from "../handoff/state"
import { endOf, type Waiter } from "./flow-deliver"
import { gateKey } from "./flow-gate"
import { madeBy, type Made } from "./flow-ground"
import type { FlowWorld } from "./flow-pass"
import type { FlowEntry, FlowRun } from "./port-flow"

type LeftEffect = Extract<FlowEffect, { type: "left" }>

// A disk that is full now may have room in a moment; a run that cannot be written down stands still until the next start.
export const PAUSES_MS = [50, 250, 1_000]

export const pause = ({ engine }: Pick<FlowWorld, "engine">, ms: number) =>
  new Promise<void>((resolve) => void engine.clock.after(ms, resolve))

export const flowEvent = (run: FlowRun, state: RunState, type: PassEvent["type"], at: number): PassEvent => {
  const { working, waiting, ...rest } = progressOf(run.plan, state)
  return event(
    { id: run.run_id as unknown as PassID, session_id: run.session_id, directory: run.directory },
    type,
    at,
    {
      flow: run.flow,
      ...rest,
      working: working.slice(0, 20),
      waiting: waiting.slice(0, 20),
    },
  )
}

/** What has happened so far, and what of it may not have reached the project's files. */
export function replayed(run: FlowRun, entries: readonly FlowEntry[]) {
  const left: LeftEffect[] = []
  const dropped: PassWork[] = []
  const made: Made[] = []
  let state = newRun(run.inputs)
  for (const entry of entries) {
    made.push(...madeBy(state, entry.input))
    const next = advance(run.plan, state, entry.input, entry.at)
    state = next.state
    for (const effect of next.effects) {
      if (effect.type === "left") left.push(effect)
      if (effect.type === "drop" && effect.work.type === "pass") dropped.push(effect.work)
    }
  }
  return { state, before: { left, dropped }, made }
}

type Step = { entry: FlowEntry; next: FlowNext; waiting: Iterable<Waiter> }

/** The questions that a run goes on without. */
export const unasked = ({ effects }: FlowNext): string[] =>
  effects.flatMap((effect) => (effect.type === "drop" && effect.work.type === "gate" ? [effect.work.key] : []))

/** Writes down what happens to a run before anything follows from it. Its questions go with it: a crash leaves none. */
export async function writeDown({ engine }: FlowWorld, run: FlowRun, { entry, next: step, waiting }: Step) {
  const { state: next } = step
  const ended = ENDED.includes(next.status)
  const written = {
    run_id: run.run_id,
    fence: run.fence,
    entry,
    status: next.status,
    reason: next.reason,
    event: flowEvent(run, next, ended ? "flow.ended" : "flow.moved", entry.at),
    withdraw: unasked(step).map((key) => gateKey(run, key)),
    ...(ended ? { end: endOf(run, waiting, engine.owner_id) } : {}),
  }
  for (const ms of PAUSES_MS) {
    try {
      return await engine.store.journal(written)
    } catch (error) {
      engine.log("error", "a step of a flow could not be written down", { run_id: run.run_id, error: String(error) })
      await pause({ engine }, ms)
    }
  }
  return engine.store.journal(written)
}
