import { advance } from "./machine"
import type { FlowPlan } from "./plan"
import { newRun, type FlowInputEntry, type RunState } from "./state"

/**
 * What the machine makes of a journal changes when the machine does. Whoever changes that raises this number, so that a
 * run which an earlier machine began is not folded into another state than the one that it was in.
 */
export const MACHINE = 4

export type Entry = { input: FlowInputEntry; at: number }

/** The state of a run, from everything that has happened to it. */
export const fold = (plan: FlowPlan, inputs: Record<string, string>, entries: readonly Entry[]): RunState =>
  entries.reduce((state, entry) => advance(plan, state, entry.input, entry.at).state, newRun(inputs))
