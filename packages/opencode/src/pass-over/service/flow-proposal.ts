import type { PassID } from "../domain/id"
import { proposalOf } from "./change/stand-on"
import { groundOf, madeIn } from "./flow-ground"
import type { Store } from "./port"
import type { FlowRun } from "./port-flow"

/** Files that a run proposes by now, with the pass that holds them. */
export type Proposed = { pass_over_id: PassID; agent: string; files: string[]; applied: boolean }

/**
 * What a run has come to in files. As a rule it is one proposal: that of the last step which changed any holds what came
 * before. Branches that changed files side by side have one each.
 */
export async function proposedBy(store: Store, run: FlowRun): Promise<Proposed[]> {
  const found: Proposed[] = []
  for (const { pass } of await groundOf(store, run.plan, await madeIn(store, run))) {
    const [change, of, applications] = await Promise.all([
      proposalOf(store, pass),
      store.find(pass),
      store.applications({ pass_over_id: pass }),
    ])
    if (!change || !of || change.files.length === 0) continue
    const verdicts = await store.verdicts(change.change_id)
    const declined = (path: string) =>
      verdicts.findLast((verdict) => verdict.path === path && verdict.hunk === null)?.accepted === false
    const files = change.files.flatMap(({ path }) => (declined(path) ? [] : [path]))
    const applied = applications.some(({ kind, status }) => kind === "apply" && status === "done")
    if (files.length > 0) found.push({ pass_over_id: pass, agent: of.subagent_id, files, applied })
  }
  return found
}

const waiting = (proposed: readonly Proposed[]) => proposed.filter(({ applied }) => !applied)

/** Where there is room for a few of them, and where all of them are told. */
export type Few = { most: number; run_id: string }

/** What of it waits for a person, and how it is taken; nothing where nothing does. No names: they are others' words. */
export function tellProposed(proposed: readonly Proposed[], few?: Few): string[] {
  const all = waiting(proposed)
  const shown = few ? all.slice(0, few.most) : all
  const lines = shown.map(({ pass_over_id, agent, files }) => {
    const [what, wait] = files.length === 1 ? ["file", "waits"] : ["files", "wait"]
    return `${files.length} ${what} of ${agent} ${wait} to be applied; the project is unchanged until then: pass-over apply ${pass_over_id} --all, or its page in the panel.`
  })
  if (few && shown.length < all.length)
    lines.push(`${all.length - shown.length} more wait like them: pass-over flow show ${few.run_id} names them all.`)
  return all.length > 1 ? [...lines, "One after another: what does not fit any more is told then."] : lines
}
