import { posix } from "node:path"
import { constraintLayers } from "../../../src/pass-over/domain/constraint"
import type { Place } from "../../../src/pass-over/domain/demand"
import type { Layer, Rule } from "../../../src/pass-over/domain/right"

export const place: Place = {
  directory: "/project/sub",
  worktree: "/project",
  relative: posix.relative,
  resolve: posix.resolve,
}

/** What a child is held to by constraints alone. */
export const rights = (...constraints: string[]) => {
  const open: Layer = { who: "audit", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
  return { own: open, above: [{ ...open, who: "alice" }, ...constraintLayers(constraints)], grant: [] as Rule[] }
}
