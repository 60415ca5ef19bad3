import { approvalOf, same, type ChangeSet, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import { event, note, type Pass } from "../../domain/pass"
import type { Application, Ended, Told } from "../port-change"
import type { Tree } from "../port-tree"
import type { ChangeDeps } from "./deps"
import { plan } from "./plan"
import { targetOf, type Target } from "./target"
import { carryOut, keepPresent, problems, refusalOf, withRights } from "./write"

/** Asks for the right to write these files there, the way a tool would ask. A refusal is the answer "no". */
export type Permit = (ops: readonly Op[], target: Target) => Promise<Refusal | undefined>

export type Applying = {
  pass: Pass
  change: ChangeSet
  actor: string
  /** What the approval was given for. Where it is missing, the one who calls has decided on what stands now. */
  approval?: string | undefined
  permit?: Permit | undefined
}

/** `target` is told where it was not simply the project, `brought_back` where an undo was undone. */
export type Applied =
  | { ok: true; application: Application; target?: Target; brought_back?: boolean }
  | { ok: false; refusal: Refusal }

const no = (refusal: Refusal): Applied => ({ ok: false, refusal })

const BUSY = refuse(PassOverErrorCode.STALE_REVISION, "Another change is being written into this tree just now.", {
  suggestion: "Try again in a moment.",
})

export const GONE = refuse(PassOverErrorCode.NOT_FOUND, "The directory that this belongs to is not there any more.", {
  suggestion: "Where it was a tree of ours, decide about what the pass above it has proposed.",
})

const TWICE = refuse(PassOverErrorCode.STALE_REVISION, "This has been taken back already.", {
  suggestion: "Undo the undo to have it again.",
})

const CLOSED = refuse(PassOverErrorCode.STALE_BASE, "The pass whose tree this was to be written into has just ended.", {
  suggestion: "Look at it again: now it would be written into the project itself.",
})

// It stays written down as begun, and whoever looks after such things ends it.
const unended = (error: unknown) =>
  refuse(
    PassOverErrorCode.RESOURCE_EXHAUSTED,
    `It could be neither written whole nor taken back whole yet: ${error instanceof Error ? error.message : String(error)}.`,
    {
      suggestion:
        "Help with that. It is ended by itself soon after, one way or the other; until then nothing else is written into this tree.",
    },
  )

const MAY_NOT = { busy: BUSY, undone: TWICE, closed: CLOSED }

export const hashText = (deps: Pick<ChangeDeps, "sha">) => (text: string) => deps.sha(new TextEncoder().encode(text))

/** What an approval of these operations there is called. */
export const approvalFor = (deps: Pick<ChangeDeps, "sha">, { tree }: Target) => {
  return (ops: readonly Op[]) => approvalOf(ops, hashText(deps), tree?.directory)
}

/** What the audit and the outcome say once something was applied or taken back. */
export async function tell(
  deps: ChangeDeps,
  pass: Pass,
  application: Application,
  at: number,
): Promise<Pick<Ended, "metadata" | "told">> {
  const outcome = await deps.store.outcome(pass.id)
  const { kind, actor, apply_id, ops } = application
  const metadata =
    kind === "apply" ? { applied: true, applied_at: at, applied_by: actor } : await standing(deps, pass, application)
  const output = outcome && { ...outcome.output, metadata: { ...outcome.output.metadata, ...metadata } }
  const action = kind === "apply" ? "applied" : "undone"
  const told: Told = {
    note: note(pass, {
      action,
      actor,
      at,
      output,
      summary: `${ops.length} file operations (${apply_id})`,
      detail: { metadata },
    }),
    event: event(pass, `pass.${action}`, at, { apply_id, actor, files: ops.length }),
  }
  return { metadata, told }
}

/** After an undo something else of the same pass may still be applied. */
async function standing(deps: ChangeDeps, pass: Pass, undone: Application) {
  const all = await deps.store.applications({ pass_over_id: pass.id })
  const taken = all.find((one) => one.apply_id === undone.undoes)
  // Taking back an undo applies it again.
  if (taken?.kind === "undo") return { applied: true, applied_at: deps.clock.now(), applied_by: undone.actor }
  const left = all.find((one) => one.kind === "apply" && one.status === "done" && one.apply_id !== undone.undoes)
  return left
    ? { applied: true, applied_at: left.time_done ?? left.time_created, applied_by: left.actor }
    : { applied: false }
}

export type Writing = Pick<Application, "kind" | "undoes" | "ops" | "actor"> & {
  /** What was approved, where that is more than what is still to be written. */
  approval?: string | undefined
  pass: Pass
  change: Pick<ChangeSet, "change_id">
  target: Target
  permit?: Permit | undefined
}

const intent = (
  deps: ChangeDeps,
  { pass, change, target, kind, undoes, ops, actor, approval }: Writing,
): Application => ({
  apply_id: deps.ids.make("apl"),
  change_id: change.change_id,
  pass_over_id: pass.id,
  kind,
  undoes,
  directory: target.directory,
  ops,
  approval: approval ?? approvalFor(deps, target)(ops),
  actor,
  owner_id: deps.owner_id,
  status: "pending",
  problem: null,
  verification: null,
  time_created: deps.clock.now(),
  time_done: null,
})

/**
 * Checks, asks, writes the intent down, and only then the files: all of them or none. What was looked at in the tree, and
 * is as it was, is not read once more.
 */
export async function writeInto(deps: ChangeDeps, tree: Tree, writing: Writing): Promise<Applied> {
  const before = await problems(tree, writing.ops)
  if (before.length > 0) return no(refusalOf(before))
  const denied = await writing.permit?.(writing.ops, writing.target)
  if (denied) return no(denied)
  // A person may have thought about it for an hour.
  const since = writing.permit ? await problems(tree, writing.ops) : []
  if (since.length > 0) return no(refusalOf(since))
  const unkept = await keepPresent(deps, tree, writing.ops)
  if (unkept) return no(refusalOf([unkept]))
  const application = intent(deps, { ...writing, ops: withRights(tree, writing.ops) })
  deps.under_way.add(application.apply_id)
  try {
    return await committed(deps, tree, writing, application)
  } finally {
    deps.under_way.delete(application.apply_id)
  }
}

async function committed(deps: ChangeDeps, tree: Tree, writing: Writing, application: Application): Promise<Applied> {
  const may = await deps.store.intend(application, writing.target.tree)
  if (may !== "ok") return no(MAY_NOT[may])
  const carried = await carryOut(deps, tree, application).then(
    (problem) => ({ problem }),
    (error: unknown) => ({ error }),
  )
  if ("error" in carried) {
    const { apply_id } = application
    deps.log("error", "a write could not be ended", { apply_id, error: String(carried.error) })
    return no(unended(carried.error))
  }
  const { problem } = carried
  const at = deps.clock.now()
  if (problem) {
    await deps.store.endApply({ apply_id: application.apply_id, status: "not_applied", problem: problem.why, at })
    return no(refusalOf([problem]))
  }
  const told = await tell(deps, writing.pass, application, at)
  await deps.store.endApply({ apply_id: application.apply_id, status: "done", problem: null, at, ...told })
  const { target } = writing
  const there = target.tree || target.moved ? { target } : {}
  return { ok: true, application: { ...application, status: "done", time_done: at }, ...there }
}

const NOTHING = refuse(
  PassOverErrorCode.NOT_FOUND,
  "Nothing of this change has been accepted, so there is nothing to apply.",
  {
    suggestion: "Accept files or hunks first.",
  },
)

const THERE = refuse(PassOverErrorCode.STALE_REVISION, "What was accepted of this change is applied already.", {
  suggestion: "Accept more of it, or undo it.",
})

/** Writes what was accepted of a change into the tree that it is for. */
export async function apply(deps: ChangeDeps, { pass, change, actor, approval, permit }: Applying): Promise<Applied> {
  if (change.origin === "direct") {
    return no(
      refuse(PassOverErrorCode.STALE_REVISION, "These changes were made in the project itself and are there already.", {
        suggestion: "Undo them if they are not wanted.",
      }),
    )
  }
  const target = await targetOf(deps.store, pass, change.directory)
  const verdicts = await deps.store.verdicts(change.change_id)
  const planned = await plan(deps, change, verdicts, approvalFor(deps, target))
  if (!planned.ok) return no(planned.refusal)
  if (planned.planned.ops.length === 0) return no(NOTHING)
  if (approval !== undefined && approval !== planned.planned.approval) {
    return no(
      refuse(PassOverErrorCode.STALE_BASE, "What would be written is not what was shown and approved.", {
        suggestion: "Look at it again, then approve what stands there now.",
        detail: { approved: approval, now: planned.planned.approval },
      }),
    )
  }
  const tree = await deps.openTree(target.directory).catch(() => undefined)
  if (!tree) return no(GONE)
  try {
    const ops = await outstanding(deps, tree, change, planned.planned.ops)
    if (ops.length === 0) return no(await applied(deps, change, planned.planned.approval))
    const writing = { ops, approval: planned.planned.approval, actor, pass, change, target, permit }
    return await writeInto(deps, tree, { kind: "apply", undoes: null, ...writing })
  } finally {
    tree.close()
  }
}

/**
 * What is still to be written of a change: of one that is applied in parts, a part may be there already, and the next one
 * of the same file goes on from there.
 */
async function outstanding(deps: ChangeDeps, tree: Tree, change: ChangeSet, ops: readonly Op[]): Promise<Op[]> {
  const all = await deps.store.applications({ pass_over_id: change.pass_over_id })
  const mine = all.filter((one) => one.change_id === change.change_id && one.status === "done")
  if (mine.length === 0) return [...ops]
  const written = mine.flatMap((one) => one.ops)
  const left: Op[] = []
  for (const op of ops) {
    const found = await tree.look(op.path)
    const now = found.kind === "file" ? found.state : null
    if (found.kind !== "refused" && same(now, op.after)) continue
    const ours = written.some(({ path, after }) => path === op.path && same(after, now))
    left.push(found.kind !== "refused" && ours ? { ...op, before: now } : op)
  }
  return left
}

/** All of it is there: by which application, where one was just this. */
async function applied(deps: ChangeDeps, { change_id, pass_over_id }: ChangeSet, approval: string): Promise<Refusal> {
  const all = await deps.store.applications({ pass_over_id })
  const mine = all.filter((one) => one.kind === "apply" && one.status === "done" && one.change_id === change_id)
  const same = mine.find((one) => one.approval === approval)
  return same ? again(same) : THERE
}

const again = ({ apply_id, actor }: Application) =>
  refuse(PassOverErrorCode.STALE_REVISION, `This is applied already, by ${actor} (${apply_id}).`, {
    suggestion: "Undo it first, if it shall be written once more.",
  })
