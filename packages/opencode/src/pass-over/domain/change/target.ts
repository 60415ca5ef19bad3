import type { ChangeSet } from "./change"
import type { Verdict } from "./review"

const HUNK = /^(.*)#(\d+)$/s

/** What somebody decided in words: "src/a.ts", "src/a.ts#2" for a hunk of it, "*" for everything. */
export type Words = {
  accept?: readonly string[] | undefined
  reject?: Readonly<Record<string, string>> | undefined
}

/** "src/a.ts#2" is a hunk, unless a file has that very name. */
function verdictOf(change: ChangeSet, target: string, accepted: boolean, reason: string | null): Verdict[] {
  const paths = change.files.map(({ path }) => path)
  if (target === "*") return paths.map((path) => ({ path, hunk: null, accepted, reason }))
  const [, path, hunk] = paths.includes(target) ? [] : (HUNK.exec(target) ?? [])
  if (path !== undefined && hunk !== undefined) return [{ path, hunk: Number(hunk), accepted, reason }]
  return [{ path: target, hunk: null, accepted, reason }]
}

/** The verdicts that words mean. What is said of a hunk goes before what is said of its file, in whatever order. */
export function verdictsOf(change: ChangeSet, { accept = [], reject = {} }: Words): Verdict[] {
  const all = [
    ...accept.flatMap((target) => verdictOf(change, target, true, null)),
    ...Object.entries(reject).flatMap(([target, reason]) => verdictOf(change, target, false, reason || null)),
  ]
  return all.toSorted((a, b) => Number(a.hunk !== null) - Number(b.hunk !== null))
}
