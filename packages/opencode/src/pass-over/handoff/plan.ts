import {
  isFlow,
  isGate,
  isParallel,
  isPass,
  type Branch,
  type FlowDefinition,
  type GateStep,
  type ParallelStep,
  type PassStep,
} from "./definition"
import { fill, type Values } from "./expression"
import { named } from "./named"
import { meant } from "./nearest"

/** Where the words and conditions of a step are read: its own flow, with that flow's inputs. */
export type PlanScope = {
  /** Before the ids of its steps: "check." */
  prefix: string
  parent: number | null
  with: Record<string, string>
  defaults: Record<string, string>
  feature: string | null
  /** What its flow allows: it holds for all of its steps and for those of the flows in it. */
  policy: NonNullable<FlowDefinition["policy"]>
  budget: NonNullable<FlowDefinition["budget"]>
  /** The ids that its own conditions use, and the steps that they mean: a sub-flow stands for its last step. */
  ids: Record<string, string>
}

export type Guard = { text: string; scope: number }

type At = { id: string; scope: number; guards: Guard[] }

/** The steps whose results go along, a sub-flow by the name of its step; null where the run decides. */
type Takes = { takes: string[] | null }

export type PassNode = At & Takes & { kind: "pass"; step: PassStep }
export type BranchNode = At & Takes & { kind: "branch"; step: Branch; of: string }
export type ParallelNode = At & { kind: "parallel"; step: Omit<ParallelStep, "parallel">; branches: BranchNode[] }
export type GateNode = At & Takes & { kind: "gate"; step: GateStep; on_reject: string | null }
export type PlanNode = PassNode | ParallelNode | GateNode

/** A flow made ready to run: sub-flows put in their places, every step under its full id. What runs is this, for good. */
export type FlowPlan = {
  name: string
  originator: string | null
  /** Where each session's handoffs are kept; null where they are not. */
  archive: string | null
  run_base: string
  /** The number of its first handoff: those of a session's runs go on behind one another. */
  first_handoff: number
  scopes: PlanScope[]
  nodes: PlanNode[]
  detours: PassNode[]
}

/** The documents' own folders; a flow may name others. */
const RUN_BASE = ".opencode/runs"
const ARCHIVE = ".project/07-audit/sessions"

export type Planned = { ok: true; plan: FlowPlan } | { ok: false; message: string; step?: string }

type Building = {
  scopes: PlanScope[]
  nodes: PlanNode[]
  detours: PassNode[]
  flows: ReadonlyMap<string, FlowDefinition>
  /** Flows whose files are not in order. */
  broken: ReadonlySet<string>
  archive: string | null
}

const MOST_NODES = 5_000

class Refused extends Error {
  constructor(
    message: string,
    readonly step?: string,
  ) {
    super(message)
  }
}

/** What an input is that nobody gives; one that may be left out is empty then, in words and conditions alike. */
function defaultsOf(flow: FlowDefinition) {
  const given = Object.entries(flow.inputs ?? {}).flatMap(([name, input]) => {
    const value = input.default ?? (input.required === false ? "" : undefined)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(given)
}

type Inside = { scope: number; guards: Guard[]; above: readonly string[] }

function place(building: Building, flow: FlowDefinition, inside: Inside) {
  const { scope } = inside
  const prefix = building.scopes[scope]?.prefix ?? ""
  const at = (id: string, when: string | undefined): At => ({
    id: `${prefix}${id}`,
    scope,
    guards: [...inside.guards, ...(when === undefined ? [] : [{ text: when, scope }])],
  })
  const ids = building.scopes[scope]?.ids ?? named<string>()
  // Where a step begins: a sub-flow at its first step.
  const firsts = named<string>()
  const taken = (takes: readonly string[] | undefined) => takes?.map((id) => `${prefix}${id}`) ?? null
  for (const step of flow.steps) {
    if (building.nodes.length > MOST_NODES) throw new Refused(`the flow has more than ${MOST_NODES} steps`)
    const here = at(step.id, step.when)
    const begun = building.nodes.length
    if (isPass(step)) building.nodes.push({ ...here, kind: "pass", step, takes: taken(step.takes) })
    if (isParallel(step)) {
      const { parallel, ...rest } = step
      const branches = parallel.map((branch): BranchNode => {
        const own = at(`${step.id}.${branch.id}`, branch.when)
        return { ...own, kind: "branch", step: branch, takes: taken(branch.takes), of: here.id }
      })
      building.nodes.push({ ...here, kind: "parallel", step: rest, branches })
    }
    if (isGate(step)) {
      const on_reject = step.on_reject === undefined ? null : (firsts[step.on_reject] ?? null)
      building.nodes.push({ ...here, kind: "gate", step, takes: taken(step.takes), on_reject })
    }
    if (isFlow(step)) {
      sub(building, { name: step.flow, with: step.with ?? {}, step: here.id }, { ...inside, guards: here.guards })
    }
    ids[step.id] = isFlow(step) ? (building.nodes.at(-1)?.id ?? here.id) : here.id
    firsts[step.id] = building.nodes[begun]?.id ?? here.id
  }
  for (const step of flow.detours ?? [])
    building.detours.push({ ...at(step.id, undefined), kind: "pass", step, takes: [] })
}

type Called = { name: string; with: Record<string, string>; step: string }

function sub(building: Building, called: Called, inside: Inside) {
  if (inside.above.includes(called.name))
    throw new Refused(
      `the flow "${called.name}" contains itself: ${[...inside.above, called.name].join(" > ")}`,
      called.step,
    )
  const { flows, broken } = building
  if (broken.has(called.name))
    throw new Refused(`the flow "${called.name}" is not in order; pass-over flow validate says why`, called.step)
  const flow = flows.get(called.name)
  if (!flow) throw new Refused(`there is no flow "${called.name}".${meant(called.name, flows.keys())}`, called.step)
  const missing = required(flow).filter((name) => !Object.hasOwn(called.with, name))
  if (missing.length > 0) throw new Refused(`the flow "${called.name}" also needs: ${missing.join(", ")}`, called.step)
  building.scopes.push({ ...scopeOf(flow), prefix: `${called.step}.`, parent: inside.scope, with: called.with })
  // A flow whose handoffs are to be kept is not without them where it is a step of another.
  building.archive ??= archiveOf(flow)
  place(building, flow, {
    scope: building.scopes.length - 1,
    guards: inside.guards,
    above: [...inside.above, called.name],
  })
}

/** The inputs that somebody has to give. */
export const required = (flow: FlowDefinition) =>
  Object.entries(flow.inputs ?? {}).flatMap(([name, input]) =>
    input.default === undefined && input.required !== false ? [name] : [],
  )

const archiveOf = (flow: FlowDefinition) => (flow.archive === true ? ARCHIVE : flow.archive || null)

const scopeOf = (flow: FlowDefinition): PlanScope => ({
  prefix: "",
  parent: null,
  with: {},
  defaults: defaultsOf(flow),
  feature: flow.feature ?? null,
  policy: flow.policy ?? {},
  budget: flow.budget ?? {},
  ids: named(),
})

/** Puts a flow and all its sub-flows together, or says why that cannot be. */
export function planFlow(
  flow: FlowDefinition,
  flows: ReadonlyMap<string, FlowDefinition>,
  broken: ReadonlySet<string> = new Set(),
): Planned {
  const scopes = [scopeOf(flow)]
  const building: Building = { scopes, nodes: [], detours: [], flows, broken, archive: archiveOf(flow) }
  try {
    place(building, flow, { scope: 0, guards: [], above: [flow.name] })
  } catch (error) {
    if (error instanceof Refused)
      return { ok: false, message: error.message, ...(error.step === undefined ? {} : { step: error.step }) }
    throw error
  }
  const { nodes, detours, archive } = building
  return {
    ok: true,
    plan: {
      name: flow.name,
      originator: flow.originator ?? null,
      archive,
      run_base: flow.run_base ?? RUN_BASE,
      first_handoff: 1,
      scopes,
      nodes,
      detours,
    },
  }
}

const NOTHING = { steps: {}, flow: {}, round: 1 } satisfies Omit<Values, "inputs">

/** The inputs of a scope: the run's own for the flow itself, and what its step hands to it for a sub-flow. */
export function inputsOf(
  plan: FlowPlan,
  scope: number,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const here = plan.scopes[scope]
  if (!here) return {}
  if (here.parent === null) return { ...here.defaults, ...given }
  const above = inputsOf(plan, here.parent, given)
  const handed = Object.entries(here.with).map(([name, text]) => [name, fill(text, { ...NOTHING, inputs: above })])
  return { ...here.defaults, ...Object.fromEntries(handed) }
}

/** What a flow works on, in the words of the nearest flow around a step that says so. */
export function featureOf(plan: FlowPlan, scope: number, given: Readonly<Record<string, string>>): string {
  const here = plan.scopes[scope]
  if (!here) return plan.name
  if (here.feature === null) return here.parent === null ? plan.name : featureOf(plan, here.parent, given)
  return fill(here.feature, { ...NOTHING, inputs: inputsOf(plan, scope, given) }) || plan.name
}

type AnyNode = PlanNode | BranchNode

function indexed({ nodes, detours }: FlowPlan): Map<string, AnyNode> {
  const branches = nodes.flatMap((node) => (node.kind === "parallel" ? node.branches : []))
  // Where a name stands twice, the step itself is meant.
  return new Map([...branches, ...detours, ...nodes].map((node) => [node.id, node]))
}

// A run asks for its nodes by name at every turn, and its plan never changes.
const indexes = new WeakMap<FlowPlan, Map<string, AnyNode>>()

export function nodeOf(plan: FlowPlan, id: string): AnyNode | undefined {
  const known = indexes.get(plan)
  if (known) return known.get(id)
  const index = indexed(plan)
  indexes.set(plan, index)
  return index.get(id)
}
