import { isDefined, pickBy } from "remeda"
import { z } from "zod"
import { DurationMs } from "./time"

const Count = z.int().positive().max(100_000)

/** What a whole tree of passes may use: everything that grew out of one pass that a user's agent made. */
export const TreeBudget = z
  .strictObject({
    passes: Count,
    tokens: z.int().positive(),
    cost: z.number().positive(),
    time_ms: DurationMs,
  })
  .partial()
export type TreeBudget = z.infer<typeof TreeBudget>

/** How much may happen at once, on this machine, and how much in one tree. */
export const LimitPreference = z
  .strictObject({
    running: Count,
    running_per_subagent: Count,
    running_per_model: Count,
    tree: TreeBudget,
  })
  .partial()
export type LimitPreference = z.infer<typeof LimitPreference>

export type Limits = { running: number; running_per_subagent: number; running_per_model: number; tree: TreeBudget }

/** Generous where it costs nobody anything, and a stop to what can only be a runaway. */
export const LIMITS: Limits = {
  running: 32,
  running_per_subagent: 16,
  running_per_model: 16,
  tree: { passes: 100 },
}

/** The limits that hold: of several places the first that names one decides about it. */
export function resolveLimits(places: readonly (LimitPreference | undefined)[]): Limits {
  const given = places.flatMap((place) => place ?? []).toReversed()
  const flat = Object.assign({}, ...given.map(({ tree: _tree, ...rest }) => pickBy(rest, isDefined)))
  const tree = Object.assign({}, ...given.map((place) => pickBy(place.tree ?? {}, isDefined)))
  return { ...LIMITS, ...flat, tree: { ...LIMITS.tree, ...tree } }
}
