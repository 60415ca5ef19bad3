import { Environment, type ASTNode } from "@marcbachmann/cel-js"
import { meant } from "./nearest"

/**
 * Conditions and templates are written in CEL. It has no loops and no assignment, so what is evaluated here always ends;
 * what could still take long (a regular expression, a loop over lists inside another) is refused when it is read.
 */

const LIMITS = { maxAstNodes: 300, maxDepth: 40, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 10 }
const LONGEST = 2_000

const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
  .registerVariable("inputs", "map<string, dyn>")
  .registerVariable("steps", "map<string, dyn>")
  .registerVariable("flow", "map<string, dyn>")
  .registerVariable("round", "int")

const OPERATORS: Record<string, (left: number, right: number) => number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
}

// Numbers that a step left are fractions to CEL, whole or not; a whole number in a condition has to go with them.
for (const [sign, reckon] of Object.entries(OPERATORS)) {
  const pairs = ["int|double", "double|int", ...(sign === "%" ? ["double|double"] : [])]
  for (const pair of pairs)
    environment.registerOperator(
      `${pair.replace("|", ` ${sign} `)}: double`,
      (left: number | bigint, right: number | bigint) => reckon(Number(left), Number(right)),
    )
}

// The other way round comes with it.
environment.registerOperator(
  "int == double",
  (left: number | bigint, right: number | bigint) => Number(left) === Number(right),
)

/** The fields of `steps.<id>`. */
export const STEP_FIELDS = [
  "status",
  "decision",
  "passed",
  "skipped",
  "summary",
  "files",
  "concerns",
  "rounds",
  "tokens",
  "cost",
  "findings",
] as const

export type Scope = {
  /** Steps that are over when this is evaluated; none of them may be named where this is left out. */
  steps?: readonly string[] | undefined
  inputs: readonly string[]
}

export type Values = {
  inputs: Readonly<Record<string, string>>
  steps: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  flow: Readonly<Record<string, string>>
  round: number
}

const MACROS = new Set(["all", "exists", "exists_one", "map", "filter"])

type Fault = { message: string; at: number }

const isNode = (value: unknown): value is ASTNode => typeof value === "object" && value !== null && "op" in value

function* nodes(node: ASTNode, inside = 0): Generator<{ node: ASTNode; inside: number }> {
  yield { node, inside }
  const macro = node.op === "rcall" && MACROS.has(node.args[0])
  const below: unknown[] = Array.isArray(node.args) ? node.args.flat(3) : [node.args]
  for (const each of below) if (isNode(each)) yield* nodes(each, inside + (macro ? 1 : 0))
}

/** The name that a node takes out of another: `steps.a` and `steps["a"]`. */
function member(node: ASTNode): { of: ASTNode; name: string } | undefined {
  if (node.op === ".") return { of: node.args[0], name: node.args[1] }
  if (node.op !== "[]") return undefined
  const [of, key] = node.args
  return key.op === "value" && typeof key.args === "string" ? { of, name: key.args } : undefined
}

const isRoot = (node: ASTNode, name: string) => node.op === "id" && node.args === name

function unknown(kind: string, name: string, known: readonly string[], at: number): Fault {
  return { message: `there is no ${kind} "${name}" here.${meant(name, known)}`, at }
}

function memberFault(node: ASTNode, scope: Scope): Fault | undefined {
  const taken = member(node)
  if (!taken) return undefined
  const { of, name } = taken
  const at = node.range.start
  if (isRoot(of, "inputs") && !scope.inputs.includes(name)) return unknown("input", name, scope.inputs, at)
  if (isRoot(of, "steps") && scope.steps && !scope.steps.includes(name))
    return unknown("earlier step", name, scope.steps, at)
  const outer = member(of)
  const fields: readonly string[] = STEP_FIELDS
  if (outer && isRoot(outer.of, "steps") && !fields.includes(name)) return unknown("field of a step", name, fields, at)
  return undefined
}

function fault(node: ASTNode, inside: number, scope: Scope): Fault | undefined {
  const at = node.range.start
  if (node.op === "id" && node.args === "steps" && scope.steps === undefined)
    return { message: "what earlier steps left goes along as data (takes), never into the words of a task", at }
  const asked = node.op === "call" && node.args[0] === "has" ? node.args[1][0] : undefined
  const given = asked ? member(asked) : undefined
  if (given && isRoot(given.of, "inputs"))
    return { message: `an input that is not given is empty; ask inputs.${given.name} != ""`, at }
  if (node.op === "rcall" && node.args[0] === "matches")
    return { message: "matches() is not open here; use contains(), startsWith() or ==", at }
  if (node.op === "rcall" && MACROS.has(node.args[0]) && inside > 0)
    return { message: `${node.args[0]}() inside another one is not open here`, at }
  return memberFault(node, scope)
}

// The library draws the place under its message; ours is told as line and column.
const short = (error: unknown) => (error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error))

const placeOf = (error: unknown) => {
  const range = error instanceof Error && "range" in error ? error.range : undefined
  return typeof range === "object" && range !== null && "start" in range && typeof range.start === "number"
    ? range.start
    : 0
}

/** What is wrong with an expression before anything is run; nothing where it may be used. */
export function expressionFault(text: string, scope: Scope, wants: "bool" | "any"): Fault | undefined {
  if (text.length > LONGEST) return { message: `it is longer than ${LONGEST} characters`, at: 0 }
  try {
    const parsed = environment.parse(text)
    for (const { node, inside } of nodes(parsed.ast)) {
      const found = fault(node, inside, scope)
      if (found) return found
    }
    const checked = parsed.check()
    if (!checked.valid) return { message: short(checked.error), at: placeOf(checked.error) }
    if (wants === "bool" && checked.type !== "bool" && checked.type !== "dyn")
      return { message: `it gives ${checked.type}, where a yes or no is wanted`, at: 0 }
    return undefined
  } catch (error) {
    return { message: short(error), at: placeOf(error) }
  }
}

// The evaluator asks a record for its constructor, and that may be a name in a file.
function native(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(native)
  if (typeof value !== "object" || value === null) return value
  return new Map(Object.entries(value).map(([key, inner]) => [key, native(inner)]))
}

const variables = ({ inputs, steps, flow, round }: Values) => ({
  inputs: native(inputs),
  steps: native(steps),
  flow: native(flow),
  round: BigInt(round),
})

/** The steps that a condition names; nothing where that cannot be told before it is evaluated. */
export function stepsIn(text: string): string[] | undefined {
  try {
    const all = [...nodes(environment.parse(text).ast)].map(({ node }) => node)
    const named = all.flatMap((node) => {
      const taken = member(node)
      return taken && isRoot(taken.of, "steps") ? [taken.name] : []
    })
    return all.filter((node) => isRoot(node, "steps")).length === named.length ? named : undefined
  } catch {
    return undefined
  }
}

export type Evaluated<T> = { ok: true; value: T } | { ok: false; message: string }

function evaluate(text: string, values: Values): Evaluated<unknown> {
  try {
    return { ok: true, value: environment.parse(text)(variables(values)) }
  } catch (error) {
    return { ok: false, message: `${text}: ${short(error)}` }
  }
}

/** A condition's yes or no. What is neither is not taken for either. */
export function holds(text: string, values: Values): Evaluated<boolean> {
  const given = evaluate(text, values)
  if (!given.ok) return given
  if (typeof given.value === "boolean") return { ok: true, value: given.value }
  return { ok: false, message: `${text}: it gives ${String(given.value)}, where a yes or no is wanted` }
}

const HOLE = /\{\{([\s\S]*?)\}\}/g

/** The expressions in a template, with where each begins. */
export const holes = (template: string) =>
  [...template.matchAll(HOLE)].map((match) => ({ text: (match[1] ?? "").trim(), at: match.index }))

/** Where one begins that has no end, and would be read as it stands; -1 where none does. Others write braces too. */
export const unclosed = (template: string) =>
  template.replaceAll(HOLE, (whole) => " ".repeat(whole.length)).search(/\{\{\s*(?:inputs|steps|flow|round)\b/)

const written = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(written).join(", ")
    : typeof value === "object" && value !== null
      ? ""
      : String(value)

// More than any text of a flow may have. Flows that hand on twice what they were given would have no end.
const MOST_FILLED = 200_000

/** A template with its holes filled in. A hole that cannot be filled stays empty: its validator has seen it. */
export function fill(template: string, values: Values): string {
  let room = MOST_FILLED
  return template.replaceAll(HOLE, (_whole, text: string) => {
    const given = room > 0 ? evaluate(text.trim(), values) : undefined
    const filled = given?.ok ? written(given.value).slice(0, room).toWellFormed() : ""
    room -= filled.length
    return filled
  })
}
