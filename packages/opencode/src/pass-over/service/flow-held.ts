import { ofFlow } from "../domain/call"
import type { ChangeSet } from "../domain/change/change"
import type { Pass } from "../domain/pass"
import { proposalOf, type Layer } from "./change/stand-on"
import { groundOfPass } from "./flow-ground"
import type { Store } from "./port"

const within = (layers: readonly Layer[]): Pass["id"][] => layers.flatMap(({ pass, over }) => [pass, ...within(over)])

async function unapplied(store: Store, id: Pass["id"]): Promise<boolean> {
  const all = await store.applications({ pass_over_id: id })
  return !all.some(({ kind, status }) => kind === "apply" && status === "done")
}

/**
 * The earlier passes of its run whose work a change holds as well: a step proposes the whole of what it stands on. Their
 * own settings say what may become of their work, too.
 */
export async function heldIn(store: Store, pass: Pass, { files }: Pick<ChangeSet, "files">): Promise<Pass[]> {
  if (!ofFlow(pass)) return []
  const paths = new Set(files.map(({ path }) => path))
  const found: Pass[] = []
  for (const id of new Set(within(await groundOfPass(store, pass)))) {
    if (id === pass.id) continue
    const change = await proposalOf(store, id)
    if (!change?.files.some(({ path }) => paths.has(path)) || !(await unapplied(store, id))) continue
    const other = await store.find(id)
    if (other) found.push(other)
  }
  return found
}
