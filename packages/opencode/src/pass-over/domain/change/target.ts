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

/** What is said of everything, of a file, of a hunk: the narrower word comes later, and so holds. */
const narrow = (target: string, { hunk }: Verdict) => (target === "*" ? 0 : hunk === null ? 1 : 2)

/** The verdicts that words mean. What is said of a hunk goes before what is said of its file, in whatever order. */
export function verdictsOf(change: ChangeSet, { accept = [], reject = {} }: Words): Verdict[] {
  const paths = new Set(change.files.map(({ path }) => path))
  const said = [
    ...accept.map((target) => ({ target, accepted: true, reason: null })),
    ...Object.entries(reject).map(([target, reason]) => ({ target, accepted: false, reason: reason || null })),
  ]
  const all = said.flatMap(({ target, accepted, reason }) =>
    verdictOf(paths, target, accepted, reason).map((verdict) => ({ verdict, narrow: narrow(target, verdict) })),
  )
  return all.toSorted((a, b) => a.narrow - b.narrow).map(({ verdict }) => verdict)
}
