import type { ChangeSet } from "./change"
import type { Verdict } from "./review"

const HUNK = /^(.*)#(\d+)$/s

/** What somebody decided in words: "src/a.ts", "src/a.ts#2" for a hunk of it, "*" for everything. */
export type Words = {
  accept?: readonly string[] | undefined
  reject?: Readonly<Record<string, string>> | undefined
}

/** "src/a.ts#2" is a hunk, unless a file has that very name. */
function verdictOf(paths: ReadonlySet<string>, target: string, accepted: boolean, reason: string | null): Verdict[] {
  if (target === "*") return Array.from(paths, (path) => ({ path, hunk: null, accepted, reason }))
  const [, path, hunk] = paths.has(target) ? [] : (HUNK.exec(target) ?? [])
  if (path !== undefined && hunk !== undefined) return [{ path, hunk: Number(hunk), accepted, reason }]
  return [{ path: target, hunk: null, accepted, reason }]
}

/** The verdicts that words mean. What is said of a hunk goes before what is said of its file, in whatever order. */
export function verdictsOf(change: ChangeSet, { accept = [], reject = {} }: Words): Verdict[] {
  const paths = new Set(change.files.map(({ path }) => path))
  const all = [
    ...accept.flatMap((target) => verdictOf(paths, target, true, null)),
    ...Object.entries(reject).flatMap(([target, reason]) => verdictOf(paths, target, false, reason || null)),
  ]
  return all.toSorted((a, b) => Number(a.hunk !== null) - Number(b.hunk !== null))
}
