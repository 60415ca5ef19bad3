import { plainUndo, undoStep, type UndoStep } from "../../domain/change/undo"
import type { FileState, Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import type { Pass } from "../../domain/pass"
import type { Application } from "../port-change"
import type { Tree } from "../port-tree"
import { GONE, writeInto, type Applied, type Permit } from "./apply"
import { keep, keepStream, whole } from "./blob"
import type { ChangeDeps } from "./deps"
import { targetOf, type Target } from "./target"

export type Undoing = { pass: Pass; application: Application; actor: string; permit?: Permit | undefined }

const MOST_BYTES = 64 * 1024 * 1024

type Step = { path: string; step: UndoStep }

const cannot = (why: string): UndoStep => ({ ok: false, why, conflicts: [] })

/** Takes one operation back, over what others have done to the file since. */
async function back(deps: ChangeDeps, tree: Tree, op: Op): Promise<UndoStep> {
  const found = await tree.look(op.path)
  if (found.kind === "refused") return cannot(found.why)
  const now: FileState | null = found.kind === "file" ? found.state : null
  const plain = plainUndo({ op, now })
  if (plain) return plain
  const { before, after } = op
  if (!now || !before || !after) return cannot("it cannot be told what it was")
  if (!(await keepStream(deps, now, tree.pieces(op.path)))) return cannot("it is being written just now")
  const contents = await Promise.all([before, after, now].map(({ hash }) => whole(deps, hash, MOST_BYTES)))
  const [was = null, became = null, is = null] = contents.map((content) => content ?? null)
  if (!was || !became || !is) return cannot("it is too large to be merged, and has been changed since")
  return undoStep({ op, now }, { before: was, after: became, now: is }, deps.sha)
}

function refusalOf(steps: readonly Step[]): Refusal | undefined {
  const bad = steps.flatMap(({ path, step }) => (step.ok ? [] : [{ path, why: step.why, conflicts: step.conflicts }]))
  if (bad.length === 0) return
  return refuse(
    PassOverErrorCode.STALE_BASE,
    `Nothing was taken back. ${bad
      .slice(0, 10)
      .map(({ path, why }) => `${JSON.stringify(path)}: ${why}`)
      .join("; ")}.`,
    {
      suggestion: "Put those lines back first, or take the change back by hand.",
      detail: { problems: bad.map(({ path, why, conflicts }) => ({ path, why, conflicts: conflicts.slice(0, 20) })) },
    },
  )
}

/** Takes back exactly what one application did. An undo is an application too, so it can be taken back itself. */
export async function undo(deps: ChangeDeps, { pass, application, actor, permit }: Undoing): Promise<Applied> {
  if (application.status !== "done") {
    const why = application.status === "undone" ? "has been taken back already" : "was never applied"
    return {
      ok: false,
      refusal: refuse(PassOverErrorCode.STALE_REVISION, `This ${why}.`, { suggestion: "There is nothing to undo." }),
    }
  }
  const target = await targetOf(deps.store, pass, application.directory)
  // What was applied to a tree that is gone is part of what its pass proposed, or of nothing.
  const tree = target.moved ? undefined : await deps.openTree(target.directory).catch(() => undefined)
  if (!tree) return { ok: false, refusal: GONE }
  try {
    return await takenBack(deps, tree, { pass, application, actor, permit }, target)
  } finally {
    tree.close()
  }
}

async function takenBack(deps: ChangeDeps, tree: Tree, undoing: Undoing, target: Target): Promise<Applied> {
  const { pass, application, actor, permit } = undoing
  const steps: Step[] = []
  for (const op of application.ops) steps.push({ path: op.path, step: await back(deps, tree, op) })
  const refusal = refusalOf(steps)
  if (refusal) return { ok: false, refusal }
  const done = steps.flatMap(({ step }) => (step.ok ? [step] : []))
  await keep(
    deps,
    done.flatMap(({ content }) => (content ? [{ hash: deps.sha(content), content }] : [])),
  )
  const taken = await writeInto(deps, tree, {
    kind: "undo",
    undoes: application.apply_id,
    ops: done.flatMap(({ op }) => op ?? []),
    actor,
    pass,
    change: application,
    target,
    permit,
  })
  return taken.ok && application.kind === "undo" ? { ...taken, brought_back: true } : taken
}
