import { collisions, refusePath } from "../../domain/change/path"
import { same, type FileState, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import type { Application } from "../port-change"
import type { Barrier, Found, Help, Tree } from "../port-tree"
import { keepStream, stream } from "./blob"
import type { ChangeDeps } from "./deps"

export type Problem = { path: string; why: string; stale: boolean; help?: Help }

/** What stands in the way, at a path. */
const barredAt = (path: string, { why, help }: Barrier): Problem => ({
  path,
  why,
  stale: false,
  ...(help ? { help } : {}),
})

const stateOf = (found: Found): FileState | null => (found.kind === "file" ? found.state : null)

const gone = (found: Exclude<Found, Barrier>, before: FileState | null): string => {
  if (found.kind === "none") return "it has been deleted since"
  if (before === null) return "a file is there already"
  return "it has changed since"
}

const against = (path: string, found: Found, before: FileState | null): Problem =>
  found.kind === "refused" ? barredAt(path, found) : { path, why: gone(found, before), stale: true }

/** What stands against one operation, from its path and from what is there. */
async function problemOf(tree: Tree, op: Op, leaving: ReadonlySet<string>): Promise<Problem | undefined> {
  const { path, before, after } = op
  const bad = refusePath(path)
  if (bad !== undefined) return { path, why: bad, stale: false }
  if (before?.mode === "120000" || after?.mode === "120000") {
    return { path, why: "symbolic links are shown and never written", stale: false }
  }
  const found = await tree.look(path)
  if (found.kind === "refused") return barredAt(path, found)
  if (!same(stateOf(found), before)) return against(path, found, before)
  if (before !== null) return
  const barrier = await tree.roomFor(path, leaving)
  return barrier && barredAt(path, barrier)
}

/** Everything that stands against a set of operations; nothing is written while there is anything. */
export async function problems(tree: Tree, ops: readonly Op[]): Promise<Problem[]> {
  const leaving = new Set(ops.filter((op) => op.after === null).map((op) => op.path))
  const found: Problem[] = collisions(ops.filter((op) => op.after !== null).map((op) => op.path)).map(
    ([first, path]) => ({
      path,
      why: `${JSON.stringify(first)} is changed too and looks the same`,
      stale: false,
    }),
  )
  for (const op of ops) {
    const problem = await problemOf(tree, op, leaving)
    if (problem) found.push(problem)
  }
  return found
}

const shown = (all: readonly Problem[]) =>
  all
    .slice(0, 10)
    .map(({ path, why }) => `${JSON.stringify(path)}: ${why}`)
    .join("; ") + (all.length > 10 ? `; and ${all.length - 10} more` : "")

const STALE: Help = {
  code: PassOverErrorCode.STALE_BASE,
  suggestion: "Ask for a merge with what is there now, or leave these files out.",
}
const BARRED: Help = {
  code: PassOverErrorCode.PERMISSION_DENIED,
  suggestion: "Leave these files out; they can only be changed by hand.",
}

export function refusalOf(all: readonly Problem[]): Refusal {
  const stale = all.every((problem) => problem.stale)
  // What lies with the machine comes first: without it the others may be none.
  const help = all.find((problem) => problem.help)?.help
  const { code, suggestion } = help ?? (stale ? STALE : BARRED)
  return refuse(code, `Nothing was written. ${shown(all)}.`, {
    suggestion,
    detail: { problems: all.slice(0, 100).map(({ path, why, stale }) => ({ path, why, stale })) },
  })
}

type Step = {
  tree: Tree
  token: string
  op: Op
  /** The file that it was before, whose readers may read it. */
  like?: string | undefined
}

/** Drafts the content that an operation ends with. */
async function draft(deps: ChangeDeps, { tree, token, op, like }: Step): Promise<Problem | undefined> {
  if (op.after === null) return
  const drafted = await tree.draft(token, { ...op, after: op.after, like }, stream(deps, op.after.hash))
  return drafted === "drafted" ? undefined : barredAt(op.path, drafted)
}

/** Puts an operation into its place, unless what is there is not what was expected. */
async function perform({ tree, token, op }: Step): Promise<Problem | undefined> {
  const { path, before, after } = op
  if (after !== null) {
    const placed = await tree.place(token, { path, before, after })
    return placed === "placed" ? undefined : against(path, placed, before)
  }
  if (before === null) return
  const removed = await tree.remove(path, before)
  return removed === "removed" ? undefined : against(path, removed, before)
}

const inverse = ({ path, before, after, rights }: Op): Op => ({
  path,
  before: after,
  after: before,
  ...(rights === undefined ? {} : { rights }),
})

const tokenOf = ({ apply_id }: Pick<Application, "apply_id">) => apply_id.slice(4)

// Files are made before files are taken away: in between there is rather one too many than one too few.
const ordered = (ops: readonly Op[]) => [
  ...ops.filter((op) => op.after !== null),
  ...ops.filter((op) => op.after === null),
]

const discard = async (tree: Tree, token: string, ops: readonly Op[]) => {
  for (const op of ops) await tree.discard(token, op.path)
}

// So many at a time: one by one each waits for the disk, and all together would take the room of all of them again.
const RESTORED_TOGETHER = 64

/** What only the machine keeps from being ended is not given up: it stays written down, and is ended later. */
function insist({ help, why }: { help?: Help; why: string }, path: string) {
  if (help) throw new Error(`${path}: ${why}`)
}

/** Takes back what was written of a set of operations. What somebody else has changed meanwhile stays as it is. */
async function takeBack(deps: ChangeDeps, tree: Tree, token: string, done: readonly Op[]) {
  const tell = (problem: Problem) => {
    insist(problem, problem.path)
    deps.log("warn", "a file could not be put back", { path: problem.path, why: problem.why })
  }
  const back = done.map(inverse).toReversed()
  for (let from = 0; from < back.length; from += RESTORED_TOGETHER) {
    const steps: Step[] = []
    for (const op of back.slice(from, from + RESTORED_TOGETHER)) {
      const problem = await draft(deps, { tree, token, op })
      if (problem) tell(problem)
      if (!problem) steps.push({ tree, token, op })
    }
    const undrafted = await tree.drafted()
    if (undrafted) tell(barredAt(back[from]?.path ?? "", undrafted))
    for (const step of steps) {
      const problem = await perform(step)
      if (!problem) continue
      tell(problem)
      await tree.discard(token, step.op.path)
    }
  }
  await tree.flush()
}

/** Where a new file comes from that goes elsewhere in the same moment. */
function movedFrom({ before, after, from }: Op, ops: readonly Op[]): string | undefined {
  if (before !== null || after === null) return
  const left = ops.filter((other) => other.after === null)
  return (left.find(({ path }) => path === from) ?? left.find((other) => other.before?.hash === after.hash))?.path
}

type Work = Pick<Application, "apply_id" | "directory" | "ops">

/** Writes all of an application or nothing. For the user's own tree its intent has been written down before. */
export async function carryOut(deps: ChangeDeps, tree: Tree, application: Work): Promise<Problem | undefined> {
  const ops = ordered(application.ops)
  const token = tokenOf(application)
  const done: Op[] = []
  try {
    for (const op of ops) {
      const problem = await draft(deps, { tree, token, op, like: movedFrom(op, ops) })
      if (problem) return problem
    }
    const undrafted = await tree.drafted()
    if (undrafted) return barredAt(application.directory, undrafted)
    for (const op of ops) {
      const problem = await perform({ tree, token, op })
      if (problem) {
        await takeBack(deps, tree, token, done)
        return problem
      }
      done.push(op)
    }
    await tree.flush()
    return undefined
  } catch (error) {
    await takeBack(deps, tree, token, done)
    const why = error instanceof Error ? error.message : String(error)
    return { path: application.directory, why, stale: false }
  } finally {
    if (done.length < ops.length) await discard(tree, token, ops)
  }
}

/** Carries an application through that its process left in the middle, or takes it back. Either way it ends whole. */
export async function finish(
  deps: ChangeDeps,
  tree: Tree,
  application: Application,
): Promise<{ done: true } | { done: false; why: string }> {
  const token = tokenOf(application)
  // First the drafts: one that was being linked into its place gives its file a second name.
  await discard(tree, token, application.ops)
  const now: { op: Op; state: FileState | null | undefined }[] = []
  for (const op of application.ops) {
    const found = await tree.look(op.path)
    if (found.kind === "refused") insist(found, op.path)
    now.push({ op, state: found.kind === "refused" ? undefined : stateOf(found) })
  }
  const at = (side: "before" | "after") =>
    now.filter(({ op, state }) => state !== undefined && same(state, op[side])).map(({ op }) => op)
  const [before, after] = [at("before"), at("after")]
  if (after.length === application.ops.length) return { done: true }
  // Not begun: then nobody misses it, and whoever wanted it sees that it did not happen.
  if (after.length === 0) return { done: false, why: "the process that was to write it ended before it began" }
  if (before.length + after.length === application.ops.length) {
    const problem = await carryOut(deps, tree, { ...application, ops: before })
    if (!problem) return { done: true }
    await takeBack(deps, tree, token, after)
    return { done: false, why: `${problem.path}: ${problem.why}` }
  }
  const others = now.filter(
    ({ op, state }) => state === undefined || (!same(state, op.before) && !same(state, op.after)),
  )
  await takeBack(deps, tree, token, after)
  return { done: false, why: `${others.map(({ op }) => op.path).join(", ")}: changed by somebody else meanwhile` }
}

/** Keeps the contents that are there now, so that they can come back. */
export async function keepPresent(deps: ChangeDeps, tree: Tree, ops: readonly Op[]): Promise<Problem | undefined> {
  const hashes = ops.flatMap(({ before }) => (before ? [before.hash] : []))
  const known = new Set(await deps.store.hasBlobs(hashes, deps.clock.now()))
  for (const { path, before } of ops) {
    if (!before || known.has(before.hash)) continue
    if (!(await keepStream(deps, before, tree.pieces(path)))) return { path, why: "it has just changed", stale: true }
    known.add(before.hash)
  }
  return undefined
}

/** The same operations, with who may read what they take away. */
export const withRights = (tree: Pick<Tree, "rights">, ops: readonly Op[]): Op[] =>
  ops.map((op) => {
    const rights = op.before === null ? undefined : tree.rights(op.path)
    return rights === undefined ? op : { ...op, rights }
  })
