import type { PassID } from "../pass-over/domain/id"
import { standing } from "../pass-over/domain/queue"
import { ended } from "../pass-over/domain/return-context"
import type { PassRow } from "../pass-over/service/port-query"
import type { ServerDeps } from "./deps"
import { limitsOf } from "./scene"
import type { PassSummary } from "./schema"

export type Standing = Pick<PassSummary, "queue" | "tree">

/** Where passes that have not ended stand in line and why, and what the tree that each belongs to has used. */
export async function standings(deps: ServerDeps, rows: readonly PassRow[]): Promise<Map<PassID, Standing>> {
  const { store, clock } = deps.engine
  const open = rows.filter(({ pass }) => !ended(pass.status) && pass.status !== "returned").map(({ pass }) => pass)
  if (open.length === 0) return new Map()
  const now = clock.now()
  const { slots, cooling } = await store.line(now)
  const directories = [...new Set(open.map(({ directory }) => directory))]
  const limits = new Map(await Promise.all(directories.map(async (one) => [one, await limitsOf(deps, one)] as const)))
  const traces = [...new Set(open.map(({ trace_id }) => trace_id))]
  const used = new Map(await Promise.all(traces.map(async (one) => [one, await store.used(one)] as const)))
  return new Map(
    open.flatMap((pass) => {
      const limit = limits.get(pass.directory)
      const tree = used.get(pass.trace_id)
      if (!limit || !tree) return []
      const queue = standing(slots, pass.id, { limits: limit, now, cooling }) ?? null
      return [[pass.id, { queue, tree: { ...tree, limits: limit.tree } }] as const]
    }),
  )
}
