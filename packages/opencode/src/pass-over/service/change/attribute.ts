import { same, type FileChange, type Op } from "../../domain/change/change"
import type { Pass } from "../../domain/pass"
import type { Store } from "../port"
import type { Application } from "../port-change"

type Known = Pick<Store, "find" | "applications">

/** A pass that was made below another, whoever is in between. */
async function under(store: Known, pass: Pass | undefined, above: Pass): Promise<boolean> {
  if (!pass || pass.parent_pass_id === null) return false
  if (pass.parent_pass_id === above.id) return true
  return under(store, await store.find(pass.parent_pass_id), above)
}

/** What stands in a tree of the work of others: applied and not taken back. */
function standing(all: readonly Application[]): Application[] {
  const kinds = new Map(all.map(({ apply_id, kind }) => [apply_id, kind]))
  const stands = ({ status, kind, undoes }: Application) =>
    status === "done" && (kind === "apply" || (undoes !== null && kinds.get(undoes) === "undo"))
  return all.filter(stands).toSorted((a, b) => (a.apply_id < b.apply_id ? -1 : 1))
}

type Share = { pass: Pass; op: Op }

/** Whether these operations, one after another, are all that happened to a file. */
function all({ old_path, old, new: after }: FileChange, shares: readonly Share[]): boolean {
  const linked = shares.every(({ op }, at) => same(op.before, at === 0 ? old : (shares[at - 1]?.op.after ?? null)))
  return old_path === null && linked && same(shares.at(-1)?.op.after ?? null, after)
}

function reason(file: FileChange, shares: readonly Share[]): string {
  if (shares.length === 0) return file.reason
  const whose = new Map(shares.map(({ pass }) => [pass.id, `${pass.subagent_id} in pass ${pass.id}`]))
  const by = `made by ${[...whose.values()].join(" and ")}, and applied to its tree`
  return all(file, shares) ? by : `${by}; ${file.reason} besides`
}

/** What passes below have changed in a tree is named as theirs, in the change of the one that works there. */
export async function attributed(
  store: Known,
  pass: Pass,
  { directory, files }: { directory: string; files: FileChange[] },
): Promise<FileChange[]> {
  const shares: Share[] = []
  for (const { pass_over_id, ops } of standing(await store.applications({ directory, limit: 1_000 }))) {
    const of = await store.find(pass_over_id)
    if (of && (await under(store, of, pass))) shares.push(...ops.map((op) => ({ pass: of, op })))
  }
  return files.map((file) => {
    const mine = shares.filter(({ op }) => op.path === file.path || op.path === file.old_path)
    return { ...file, reason: reason(file, mine) }
  })
}
