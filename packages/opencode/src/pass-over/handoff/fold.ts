import { advance } from "./machine"
import type { FlowPlan } from "./plan"
import { newRun, type FlowInputEntry, type RunState } from "./state"

export type Entry = { input: FlowInputEntry; at: number }

/** The state of a run, from everything that has happened to it. */
export const fold = (plan: FlowPlan, inputs: Record<string, string>, entries: readonly Entry[]): RunState =>
  entries.reduce((state, entry) => advance(plan, state, entry.input, entry.at).state, newRun(inputs))
