import type { Over, Reserve, Used } from "../domain/budget"
import type { PassID } from "../domain/id"
import type { Limits, TreeBudget } from "../domain/limit"
import type { Slot } from "../domain/queue"

/** What a new pass asks for: a place among those that run, and a part of its tree's budget. */
export type SlotRequest = {
  limits: Limits
  reserve: Reserve
  /** A person is asked first: it stands in no line yet. */
  waiting: boolean
}

export type Place = { state: "running" } | { state: "queued"; place: number }

/** Who may run, over all processes that share the database. Each method is one whole operation. */
export type SlotStore = {
  /** Takes a place if it is this pass's turn, else says how many are before it. */
  takeSlot(input: { pass_over_id: PassID; limits: Limits; now: number }): Promise<Place | "gone">
  /** Writes down what a running pass has used and says what its tree has used with it. */
  spend(input: { pass_over_id: PassID; tokens: number; cost: number; tree: TreeBudget }): Promise<Over | undefined>
  /** What a tree of passes has used and promised. */
  used(trace_id: PassID): Promise<Used>
  /** Who runs and who stands in line just now, and how much providers that asked for less get. */
  line(now: number): Promise<{ slots: Slot[]; cooling: ReadonlyMap<string, number> }>
  /** A provider asked for less: half as many at once for a while. */
  cool(input: { provider: string; until: number; now: number }): Promise<number>
}
