import type { z } from "zod"
import { impossible } from "./aggregate"
import {
  type Branch,
  FlowOutline,
  isFlow,
  isGate,
  isParallel,
  isPass,
  KINDS,
  Detour,
  type Critic,
  type FlowDefinition,
  type GateStep,
  type ParallelStep,
  type PassStep,
  type Step,
  type StepKey,
} from "./definition"
import { issueText } from "../domain/issue-text"
import { expressionFault, holes, unclosed, type Scope } from "./expression"
import { meant } from "./nearest"
import { idleInParallel, idleInPass, twice } from "./no-effect"
import { clear, measurable } from "./text"

export type Path = (string | number)[]

/** What is wrong with a definition: where, and what to do about it. `key` points at a name instead of its value. */
export type FlowFault = { path: Path; message: string; key?: boolean; offset?: number }

const KEYS: readonly StepKey[] = ["agent", "parallel", "gate", "flow"]

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function faultsOf(error: z.ZodError, at: Path, known: readonly string[]): FlowFault[] {
  return error.issues.flatMap((issue): FlowFault[] => {
    const path = [...at, ...issue.path.map((piece) => (typeof piece === "symbol" ? String(piece) : piece))]
    if (issue.code !== "unrecognized_keys") return [{ path, message: issueText(issue) }]
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `"${key}" is not known here.${meant(key, known)}`,
      key: true,
    }))
  })
}

function read<T>(schema: z.ZodObject, value: unknown, at: Path, faults: FlowFault[]): T | undefined {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data as T
  faults.push(...faultsOf(parsed.error, at, Object.keys(schema.shape)))
  return undefined
}

function readStep(value: unknown, at: Path, faults: FlowFault[]): Step | undefined {
  if (!isRecord(value)) {
    faults.push({ path: at, message: "a step is a list of fields, beginning with its id" })
    return undefined
  }
  const kinds = KEYS.filter((key) => Object.hasOwn(value, key))
  const [kind] = kinds
  if (kind !== undefined && kinds.length === 1) {
    const step = read<Step>(KINDS[kind], value, at, faults)
    return step
  }
  const near =
    Object.keys(value)
      .map((key) => meant(key, KEYS))
      .find(Boolean) ?? ""
  faults.push({
    path: at,
    message:
      kinds.length === 0
        ? `a step needs one of: ${KEYS.join(", ")}.${near}`
        : `a step is one thing: ${kinds.join(" and ")} do not go together`,
  })
  return undefined
}

type Place = { path: Path; scope: Scope }

function expression(text: string | undefined, { path, scope }: Place, faults: FlowFault[]) {
  if (text === undefined) return
  const found = expressionFault(text, scope, "bool")
  if (found) faults.push({ path, message: found.message, offset: found.at })
}

function template(text = "", { path, scope }: Place, faults: FlowFault[]) {
  const offset = unclosed(text)
  if (offset >= 0) faults.push({ path, message: "what begins here with {{ has no }} behind it", offset })
  for (const hole of holes(text)) {
    const found = expressionFault(hole.text, { inputs: scope.inputs }, "any")
    if (found) faults.push({ path, message: `{{ ${hole.text} }}: ${found.message}`, offset: hole.at })
  }
}

/** Lines of words; what is filled in when the run begins cannot be judged before. */
function lines(given: readonly string[] | undefined, { path, scope }: Place, faults: FlowFault[], why: Judge) {
  for (const [index, line] of (given ?? []).entries()) {
    const at = [...path, index]
    template(line, { path: at, scope }, faults)
    const found = holes(line).length > 0 ? undefined : why(line)
    if (found) faults.push({ path: at, message: found })
  }
}

type Judge = (line: string) => string | undefined

const criterion: Judge = (line) =>
  measurable(line) ? undefined : `"${line}" cannot be measured; say what is counted or what must pass`

const constraint: Judge = (line) =>
  clear(line) ? undefined : `"${line}" means something else to everybody; say how much, or what must not happen`

const fine: Judge = () => undefined

const below = ({ path, scope }: Place, ...more: Path): Place => ({ path: [...path, ...more], scope })

function critic(step: Critic | undefined, place: Place, faults: FlowFault[]) {
  if (!step) return
  template(step.objective, below(place, "critic", "objective"), faults)
  lines(step.success_criteria, below(place, "critic", "success_criteria"), faults, criterion)
  lines(step.constraints, below(place, "critic", "constraints"), faults, constraint)
}

function pass(step: Branch | PassStep | Detour, place: Place, faults: FlowFault[], detours: readonly string[]) {
  template(step.objective, below(place, "objective"), faults)
  template(step.deliverable, below(place, "deliverable"), faults)
  lines(step.files, below(place, "files"), faults, fine)
  lines(step.success_criteria, below(place, "success_criteria"), faults, criterion)
  lines(step.constraints, below(place, "constraints"), faults, constraint)
  faults.push(...idleInPass(step, place.path))
  if ("spec_path" in step) template(step.spec_path, below(place, "spec_path"), faults)
  if ("takes" in step) earlier(step.takes, [...place.path, "takes"], place.scope, faults)
  if ("critic" in step) critic(step.critic, place, faults)
  if (!("detours" in step)) return
  for (const [index, id] of (step.detours ?? []).entries()) {
    if (detours.includes(id)) continue
    faults.push({
      path: [...place.path, "detours", index],
      message: `there is no detour "${id}".${meant(id, detours)}`,
    })
  }
}

function gate(step: GateStep, place: Place, faults: FlowFault[]) {
  template(step.gate, below(place, "gate"), faults)
  lines(step.items, below(place, "items"), faults, fine)
  for (const [name, text] of Object.entries(step.options ?? {})) template(text, below(place, "options", name), faults)
  earlier(step.takes, [...place.path, "takes"], place.scope, faults)
  if (step.on_reject) earlier([step.on_reject], [...place.path, "on_reject"], place.scope, faults)
}

function earlier(ids: readonly string[] | undefined, path: Path, scope: Scope, faults: FlowFault[]) {
  const known = scope.steps ?? []
  for (const [index, id] of (ids ?? []).entries()) {
    if (known.includes(id)) continue
    faults.push({ path: [...path, index], message: `there is no earlier step "${id}" here.${meant(id, known)}` })
  }
}

function parallel(step: ParallelStep, { path, scope }: Place, faults: FlowFault[]) {
  const never = impossible(step.rule, step.parallel)
  if (never) faults.push({ path: [...path, "rule"], message: never })
  faults.push(...idleInParallel(step, path))
  const seen = new Set<string>()
  for (const [index, branch] of step.parallel.entries()) {
    const at = [...path, "parallel", index]
    if (seen.has(branch.id))
      faults.push({ path: [...at, "id"], message: `the id "${branch.id}" is there twice in this step` })
    seen.add(branch.id)
    expression(branch.when, { path: [...at, "when"], scope }, faults)
    pass(branch, { path: at, scope }, faults, [])
  }
}

function step(each: Step, place: Place, faults: FlowFault[], detours: readonly string[]) {
  const { path, scope } = place
  expression(each.when, { path: [...path, "when"], scope }, faults)
  if (isPass(each)) return pass(each, place, faults, detours)
  if (isParallel(each)) return parallel(each, place, faults)
  if (isGate(each)) return gate(each, place, faults)
  if (!isFlow(each)) return
  for (const [name, value] of Object.entries(each.with ?? {}))
    template(value, { path: [...path, "with", name], scope }, faults)
}

/** What no reader of YAML or JSON hands on as a name. */
function unspeakable(value: unknown, path: Path, faults: FlowFault[]) {
  if (!isRecord(value) || !Object.hasOwn(value, "__proto__")) return
  faults.push({ path: [...path, "__proto__"], key: true, message: "an input cannot be called __proto__" })
}

type Steps = { value: Step; index: number }[]

function checkSteps(steps: Steps, inputs: string[], detours: readonly string[], faults: FlowFault[]) {
  const known: string[] = []
  for (const { value, index } of steps) {
    const path: Path = ["steps", index]
    if (known.includes(value.id) || detours.includes(value.id))
      faults.push({ path: [...path, "id"], message: `the id "${value.id}" is there twice` })
    step(value, { path, scope: { steps: [...known], inputs } }, faults, detours)
    known.push(value.id)
  }
  return known
}

export type Checked = { ok: true; flow: FlowDefinition } | { ok: false; faults: FlowFault[] }

/** A definition that was read, or everything that is wrong with it at once. */
export function checkFlow(value: unknown): Checked {
  const faults: FlowFault[] = []
  if (!isRecord(value)) return { ok: false, faults: [{ path: [], message: "a flow has a name and a list of steps" }] }
  const outline = read<z.infer<typeof FlowOutline>>(FlowOutline, value, [], faults)
  const rawSteps = Array.isArray(value["steps"]) ? value["steps"] : []
  const rawDetours = Array.isArray(value["detours"]) ? value["detours"] : []
  const inputs = isRecord(value["inputs"]) ? Object.keys(value["inputs"]) : []
  unspeakable(value["inputs"], ["inputs"], faults)
  for (const [index, each] of rawSteps.slice(0, 2_000).entries())
    if (isRecord(each)) unspeakable(each["with"], ["steps", index, "with"], faults)
  const detours = rawDetours.slice(0, 50).map((each, index) => read<Detour>(Detour, each, ["detours", index], faults))
  const ids = detours.flatMap((each) => each?.id ?? [])
  const steps = rawSteps.slice(0, 2_000).map((each, index) => readStep(each, ["steps", index], faults))
  const known = checkSteps(
    steps.flatMap((each, index) => (each ? [{ value: each, index }] : [])),
    inputs,
    ids,
    faults,
  )
  faults.push(...twice(detours.map((each) => each?.id)))
  for (const [index, each] of detours.entries())
    if (each) pass(each, { path: ["detours", index], scope: { steps: known, inputs } }, faults, [])
  template(outline?.feature, { path: ["feature"], scope: { inputs } }, faults)
  if (faults.length > 0 || !outline) return { ok: false, faults }
  const { steps: _steps, detours: _detours, ...around } = outline
  return { ok: true, flow: { ...around, steps: steps.flatMap((each) => each ?? []), ...detourList(detours) } }
}

const detourList = (detours: readonly (Detour | undefined)[]) =>
  detours.length === 0 ? {} : { detours: detours.flatMap((each) => each ?? []) }
