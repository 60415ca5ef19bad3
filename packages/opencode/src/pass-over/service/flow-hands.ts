import { PassOverErrorCode, refuse, toError, type Refusal } from "../domain/errors"
import { NOBODY } from "../domain/id"
import type { FlowCatalog } from "../handoff/catalog"
import { fold, MACHINE } from "../handoff/fold"
import type { RunState } from "../handoff/state"
import type { Engine, Project } from "./engine"
import type { FlowWorld } from "./flow-pass"
import { carry, type Carried } from "./flow-run"
import type { FlowFiles, FlowRun } from "./port-flow"
import { dead, type Alive } from "./recover"

export type FlowOptions = {
  files: FlowFiles
  catalog: () => Promise<FlowCatalog>
  /** Makes a session of its own for a run that was started outside of one. */
  session?: (title: string) => Promise<string>
  /** Ends with a prompt of its own, so that it takes no run in hand but those that it begins and waits for. */
  short?: boolean
  /** Only asks for things and carries nothing: there is no host here. */
  elsewhere?: boolean
}

/** What this process has in hand of a project's runs. */
export type Hands = { engine: Engine; project: Project; options: FlowOptions; carrying: Map<string, Carried> }

// The runs that this process carries, whichever of its instances began them.
const registry = new WeakMap<Engine, Map<string, Carried>>()

export function handsOf(engine: Engine, project: Project, options: FlowOptions): Hands {
  const carrying = registry.get(engine) ?? new Map<string, Carried>()
  registry.set(engine, carrying)
  return { engine, project, options, carrying }
}

/** Takes a run of ours in hand, once: somebody else in this process may just be doing so too. */
export async function hold(
  { engine, project, options, carrying }: Hands,
  run: FlowRun,
  begun = false,
): Promise<Carried> {
  const entries = await engine.store.entries(run.run_id)
  const known = carrying.get(run.run_id)
  if (known) return known
  const world: FlowWorld = { engine, project, files: options.files }
  const carried = carry(world, { ...run, seq: entries.length }, entries, begun)
  carrying.set(run.run_id, carried)
  void carried.over.then(() => carrying.delete(run.run_id))
  return carried
}

/** Why a run cannot be read here: a machine of another version began it. */
export function foreign(run: FlowRun): Refusal | undefined {
  if (run.machine === MACHINE) return undefined
  return refuse(
    PassOverErrorCode.STALE_REVISION,
    `Run ${run.run_id} was begun by another version of Pass Over (machine ${run.machine}, here ${MACHINE}), which may read its journal differently.`,
    { suggestion: `Go on with it in that version, or start ${run.flow} anew.` },
  )
}

/** A run that is ours by now, with a session that its passes can hang on. */
async function housed({ engine, options }: Hands, run: FlowRun): Promise<FlowRun | undefined> {
  const mine =
    run.owner_id === engine.owner_id
      ? run
      : await engine.store.claimRun({ run_id: run.run_id, from: run.owner_id, owner_id: engine.owner_id })
  if (!mine || mine.session_id !== "") return mine
  const session_id = await options.session?.(`Flow ${mine.flow}`)
  if (session_id === undefined) return undefined
  await engine.store.houseRun({ run_id: mine.run_id, fence: mine.fence, session_id })
  return { ...mine, session_id }
}

/**
 * Takes a run that nobody carries any more; nothing where somebody does. Who ends soon takes only what somebody here waits
 * for.
 */
export async function takeOver(hands: Hands, run: FlowRun, alive: Alive, waited = false): Promise<Carried | undefined> {
  const { engine, options, carrying } = hands
  const known = carrying.get(run.run_id)
  if (known) return known
  if (foreign(run) || (options.short && !waited)) return undefined
  const free = run.owner_id === engine.owner_id || run.owner_id === NOBODY || (await dead(engine, alive, run.owner_id))
  const mine = free ? await housed(hands, run) : undefined
  return mine && hold(hands, mine)
}

/** A run of this project and where it stands, whoever carries it. */
export async function stateOf({ engine, project, carrying }: Hands, run_id: string) {
  const here = carrying.get(run_id)
  if (here) return { run: here.run, state: here.state }
  const run = await engine.store.run(run_id)
  if (!run || run.directory !== project.directory) return undefined
  const strange = foreign(run)
  if (strange) throw toError(strange)
  const state: RunState = fold(run.plan, run.inputs, await engine.store.entries(run_id))
  return { run, state }
}
