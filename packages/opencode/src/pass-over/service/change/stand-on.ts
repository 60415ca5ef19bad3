import { operations, same, type ChangeSet, type FileChange, type FileState, type Op } from "../../domain/change/change"
import type { PassID } from "../../domain/id"
import type { Store } from "../port"
import type { Tree } from "../port-tree"
import type { ChangeDeps } from "./deps"
import { rebase } from "./merge"
import { putBack } from "./put-back"

/** An earlier pass whose work another one stands on. */
export type Layer = {
  pass: PassID
  /** What it stood on itself. */
  over: readonly Layer[]
  /** Its proposal holds that too; one in words alone holds only what it says. */
  whole: boolean
}

/** What a pass proposes by now. What it did in the project itself is there, and no proposal. */
export async function proposalOf(store: Pick<Store, "changes">, pass: PassID): Promise<ChangeSet | undefined> {
  return (await store.changes(pass)).findLast(({ origin }) => origin !== "direct")
}

function cover(covered: Set<PassID>, { pass, over, whole }: Layer) {
  covered.add(pass)
  if (whole) for (const layer of over) cover(covered, layer)
}

/** Whether all that a layer stood on is in place, so that only its own part is missing. */
const onlyOwn = (covered: ReadonlySet<PassID>, { over, whole }: Layer) =>
  whole && over.length > 0 && over.every(({ pass }) => covered.has(pass))

/** What layers come to together, path by path. */
async function effects(store: Store, layers: readonly Layer[]): Promise<Map<string, Op>> {
  const found = new Map<string, Op>()
  const covered = new Set<PassID>()
  for (const layer of layers) {
    for (const op of (await filesOf(store, layer, covered)).flatMap((file) => operations(file)))
      found.set(op.path, { ...op, before: found.has(op.path) ? (found.get(op.path)?.before ?? null) : op.before })
    cover(covered, layer)
  }
  return found
}

/** A file as its child found it, where the work below had changed it already; nothing where the child left it as it was. */
function ownOf(file: FileChange, below: ReadonlyMap<string, Op>): FileChange[] {
  const ops = operations(file)
  if (!ops.some(({ path }) => below.has(path))) return [file]
  return ops.flatMap(({ path, before, after }) => {
    const old = below.has(path) ? (below.get(path)?.after ?? null) : before
    return same(old, after) ? [] : [{ ...file, path, old_path: null, old, new: after }]
  })
}

/** The files of a layer that are to be put in place on top of what is there of others already. */
async function filesOf(store: Store, layer: Layer, covered: ReadonlySet<PassID>): Promise<FileChange[]> {
  const files = (await proposalOf(store, layer.pass))?.files ?? []
  if (!onlyOwn(covered, layer)) return files
  const below = await effects(store, layer.over)
  return files.flatMap((file) => ownOf(file, below))
}

/** How a file was left by the layers below, the newest first. */
async function* before(store: Store, layers: readonly Layer[], path: string): AsyncGenerator<FileState | null> {
  for (const { pass, over } of layers.toReversed()) {
    const ops = ((await proposalOf(store, pass))?.files ?? []).flatMap((file) => operations(file))
    for (const op of ops) if (op.path === path) yield op.after
    yield* before(store, over, path)
  }
}

/**
 * A file as it is to be put in place. Somebody may have applied meanwhile what the layers below had made of it: then it
 * is that which it is compared with.
 */
async function fitted(deps: ChangeDeps, tree: Tree, file: FileChange, below: readonly Layer[]): Promise<FileChange> {
  if (file.refused !== null || file.old_path !== null || below.length === 0) return file
  const found = await tree.look(file.path)
  if (found.kind === "refused") return file
  const now = found.kind === "file" ? found.state : null
  if (same(now, file.old) || same(now, file.new)) return file
  const known = [file.old]
  for await (const old of before(deps.store, below, file.path)) {
    if (same(now, old)) return { ...file, old }
    known.push(old)
  }
  for (const old of known) if ((await rebase(deps, tree, { ...file, old })).ok) return { ...file, old }
  return file
}

/**
 * Puts the work of earlier passes into a tree, on top of what is there, one after another. What is there already as it
 * should be is left; comes back with a word for each file that did not fit.
 */
export async function standOn(deps: ChangeDeps, layers: readonly Layer[], directory: string): Promise<string[]> {
  const notes: string[] = []
  const covered = new Set<PassID>()
  for (const layer of layers) {
    const change = await proposalOf(deps.store, layer.pass)
    const files = await filesOf(deps.store, layer, covered)
    cover(covered, layer)
    if (!change || files.length === 0) continue
    const tree = await deps.openTree(directory)
    const fits: FileChange[] = []
    try {
      for (const file of files) fits.push(await fitted(deps, tree, file, layer.over))
    } finally {
      tree.close()
    }
    const told = await putBack(deps, { ...change, files: fits }, directory)
    notes.push(...told.map((note) => `${note} (pass ${layer.pass})`))
  }
  return notes
}

/** The files that layers leave, as they leave them: null for one that is deleted. */
export async function leftBy(store: Store, layers: readonly Layer[]): Promise<Map<string, FileState | null>> {
  return new Map([...(await effects(store, layers))].map(([path, { after }]) => [path, after]))
}
