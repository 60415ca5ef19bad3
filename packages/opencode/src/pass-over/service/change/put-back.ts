import { operations, type ChangeSet, type FileChange } from "../../domain/change/change"
import type { Tree } from "../port-tree"
import type { ChangeDeps } from "./deps"
import { rebase } from "./merge"
import { carryOut, problems, type Problem } from "./write"

type Fit = { file: FileChange } | { why: string } | "there"

/** A file of an earlier proposal as it fits on what is there now. */
async function fit(deps: ChangeDeps, tree: Tree, file: FileChange): Promise<Fit> {
  if (file.refused !== null) return { why: file.refused }
  try {
    const step = await rebase(deps, tree, file)
    if (!step.ok) return { why: step.why }
    if (!step.file) return "there"
    const kept = step.file.new === null || (await deps.store.blob(step.file.new.hash))
    return kept ? { file: step.file } : { why: "its content is not kept any more" }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

async function written(deps: ChangeDeps, tree: Tree, files: readonly FileChange[]): Promise<Problem[]> {
  const ops = files.flatMap((file) => operations(file))
  const found = await problems(tree, ops)
  if (found.length > 0) return found
  const problem = await carryOut(deps, tree, { apply_id: deps.ids.make("apl"), directory: "", ops })
  return problem ? [problem] : []
}

const note = (path: string, why: string) => `${path} as it was proposed before is not in the tree: ${why}`

/** Writes all of these, without those that stand in the way of the others. */
async function place(deps: ChangeDeps, tree: Tree, files: readonly FileChange[]): Promise<string[]> {
  const found = files.length > 0 ? await written(deps, tree, files) : []
  const [first] = found
  if (!first) return []
  const why = new Map(found.map((problem) => [problem.path, problem.why]))
  const against = ({ path, old_path }: FileChange) => why.get(path) ?? why.get(old_path ?? path)
  const left = files.filter((file) => against(file) === undefined)
  if (left.length === files.length) return files.map(({ path }) => note(path, first.why))
  const out = files.flatMap((file) => {
    const word = against(file)
    return word === undefined ? [] : [note(file.path, word)]
  })
  return [...out, ...(await place(deps, tree, left))]
}

/**
 * Brings what a child had made back into its tree, on top of the user's as that is now. Each file of it comes whole,
 * merged, or not at all; comes back with a word for each that did not.
 */
export async function putBack(deps: ChangeDeps, change: ChangeSet, directory: string): Promise<string[]> {
  const tree = await deps.openTree(directory)
  try {
    const fits: { path: string; fit: Fit }[] = []
    for (const file of change.files) fits.push({ path: file.path, fit: await fit(deps, tree, file) })
    const notes = fits.flatMap(({ path, fit }) => (fit !== "there" && "why" in fit ? [note(path, fit.why)] : []))
    const files = fits.flatMap(({ fit }) => (fit !== "there" && "file" in fit ? [fit.file] : []))
    return [...notes, ...(await place(deps, tree, files))]
  } finally {
    tree.close()
  }
}
