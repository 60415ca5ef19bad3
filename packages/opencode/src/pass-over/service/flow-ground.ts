import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"
import { roleOf } from "../handoff/draft"
import { advance } from "../handoff/machine"
import { fold, MACHINE } from "../handoff/fold"
import { nodeOf, type FlowPlan } from "../handoff/plan"
import { newRun, type FlowInputEntry, type RunState } from "../handoff/state"
import { mayModify } from "./change/place"
import type { Layer } from "./change/stand-on"
import type { FlowRun } from "./port-flow"
import type { Store } from "./port"

/**
 * What the passes of a run stand on: the work that its earlier passes have made and that nobody may have applied yet. It
 * follows from the run's journal and from the change sets of its passes, so that it is the same after a crash.
 */

/** A work that came back, in the order of the journal. Who only looks at things or answers a question makes nothing. */
export type Made = { node: string; pass: PassID }

export function madeBy(state: RunState, input: FlowInputEntry): Made[] {
  if (input.type !== "left" || input.leave.pass_over_id === null) return []
  const work = state.open[input.key]
  if (work?.type !== "pass" || ["critic", "clarify"].includes(roleOf(work))) return []
  return [{ node: work.node, pass: input.leave.pass_over_id as PassID }]
}

type Kind = "whole" | "words" | "nothing"

async function kindOf(store: Store, pass: PassID): Promise<Kind> {
  const [first] = (await store.changes(pass)).filter(({ origin }) => origin !== "direct")
  if (!first) return "nothing"
  // An empty one of its own tree is one that has taken back all that was there before.
  if (first.origin === "isolated") return "whole"
  if (first.files.length === 0) return "nothing"
  // What somebody suggests who only looks is for whoever reads it.
  const of = await store.find(pass)
  return of && (await mayModify(store, of)) ? "words" : "nothing"
}

// What a pass that came back proposes does not change its kind.
const kinds = new WeakMap<Made, Kind>()

async function learn(store: Store, made: Made): Promise<Kind> {
  const kind = await kindOf(store, made.pass)
  kinds.set(made, kind)
  return kind
}

type Lane = readonly Layer[]

function next(lane: Lane, pass: PassID, kind: Kind, over = lane): Lane {
  if (kind === "nothing") return lane
  return kind === "whole" ? [{ pass, over, whole: true }] : [...lane, { pass, over: lane, whole: false }]
}

/** The branches of a parallel step, each with what it stands on by now; all began on the same. */
type Fork = { of: string; from: Lane; lanes: Map<string, Lane> }

/** All branches together, in the order of the flow. What one of them holds whole is not there a second time. */
function joined(plan: FlowPlan, fork: Fork): Lane {
  const node = nodeOf(plan, fork.of)
  const branches = node?.kind === "parallel" ? node.branches.map(({ id }) => id) : []
  const lanes = branches.map((id) => fork.lanes.get(id) ?? fork.from)
  const held = lanes.some((lane) => fork.from.some((layer) => !lane.includes(layer)))
  return [...(held ? [] : fork.from), ...lanes.flatMap((lane) => lane.filter((layer) => !fork.from.includes(layer)))]
}

/** What a pass of a step stands on, or without one what the run has come to. */
export async function groundOf(
  store: Store,
  plan: FlowPlan,
  made: readonly Made[],
  node?: string,
): Promise<readonly Layer[]> {
  let main: Lane = []
  let fork: Fork | undefined
  const branch = (id: string | undefined) => {
    const at = id === undefined ? undefined : nodeOf(plan, id)
    return at?.kind === "branch" ? at : undefined
  }
  for (const each of made) {
    const kind = kinds.get(each) ?? (await learn(store, each))
    const at = branch(each.node)
    if (fork && fork.of !== at?.of) {
      main = joined(plan, fork)
      fork = undefined
    }
    if (!at) {
      main = next(main, each.pass, kind)
      continue
    }
    fork ??= { of: at.of, from: main, lanes: new Map() }
    fork.lanes.set(at.id, next(fork.lanes.get(at.id) ?? main, each.pass, kind, kind === "whole" ? main : undefined))
  }
  if (!fork) return main
  const at = branch(node)
  return at?.of === fork.of ? (fork.lanes.get(at.id) ?? main) : joined(plan, fork)
}

/** What has been made in a run so far, out of its journal. */
export async function madeIn(store: Store, run: FlowRun): Promise<Made[]> {
  const made: Made[] = []
  let state = newRun(run.inputs)
  for (const { input, at } of await store.entries(run.run_id)) {
    made.push(...madeBy(state, input))
    state = advance(run.plan, state, input, at).state
  }
  return made
}

/** The run that a pass belongs to, and its work there; nothing where it is no flow's, or another machine's. */
async function runOf(store: Store, { call_id, session_id }: Pass) {
  const [flow, run_id = "", key = ""] = call_id?.split(":") ?? []
  const run = flow === "flow" ? await store.run(run_id) : undefined
  return !run || run.session_id !== session_id || run.machine !== MACHINE ? undefined : { run, key }
}

/** What a pass stands on that goes on in another process than the one which asked for it. */
export async function groundOfPass(store: Store, pass: Pass): Promise<readonly Layer[]> {
  const of = await runOf(store, pass)
  if (!of) return []
  return groundOf(store, of.run.plan, await madeIn(store, of.run), of.key.slice(0, of.key.lastIndexOf("#")))
}

/** Whether the run of a pass goes on without it: it was cancelled, or the step was left out, before anybody could say so. */
export async function dropped(store: Store, pass: Pass): Promise<boolean> {
  const of = await runOf(store, pass)
  if (!of) return false
  const { open } = fold(of.run.plan, of.run.inputs, await store.entries(of.run.run_id))
  return open[of.key] === undefined
}
