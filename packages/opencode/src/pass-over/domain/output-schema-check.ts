import { isPlainObject } from "remeda"
import { nearest } from "./nearest"
import { INSTEAD, RULES, type Rule } from "./output-schema-rule"

/** What is wrong with a JSON Schema, and where in it. */
export type SchemaFault = { path: (string | number)[]; message: string; suggestion?: string }

type Path = SchemaFault["path"]
/** Every schema in a schema by its place, as a reference writes it: "#/$defs/name". */
type Places = Map<string, { schema: unknown; path: Path }>

const escaped = (piece: string | number) => String(piece).replaceAll("~", "~0").replaceAll("/", "~1")
const pointer = (path: Path) => ["#", ...path.map(escaped)].join("/")

/** How many schemas may look at one value: those that name one another twice are twice as many with every level. */
const MOST_AT_ONCE = 1_000

const fault = (path: Path, message: string, suggestion?: string): SchemaFault => ({
  path,
  message,
  ...(suggestion ? { suggestion } : {}),
})

// What runs it takes a time in proportion to the text, and knows neither of these.
const LOOKS_AROUND = /\\(?:[1-9]|k<)|\(\?<?[=!]/

function unread(pattern: string): string | undefined {
  try {
    return void RegExp(pattern, "u")
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function ofPattern(pattern: string, path: Path): SchemaFault[] {
  const broken = unread(pattern)
  if (broken !== undefined) return [fault(path, broken, "correct the regular expression")]
  return LOOKS_AROUND.test(pattern.replaceAll("\\\\", ""))
    ? [fault(path, "a pattern may look neither ahead nor back, because that can take for ever", "write it without")]
    : []
}

/** The schemas below a keyword, each with its way. */
function below(rule: Rule, value: unknown): [Path, unknown][] {
  if (rule.below === "one") return [[[], value]]
  if (rule.below === "map" && isPlainObject(value)) return Object.entries(value).map(([name, each]) => [[name], each])
  return rule.below === "list" && Array.isArray(value) ? value.map((each: unknown, index) => [[index], each]) : []
}

function ofKeyword(keyword: string, value: unknown, path: Path): SchemaFault[] {
  const rule = RULES.get(keyword)
  if (!rule) {
    const near = nearest(keyword, [...RULES.keys()])
    const suggestion = INSTEAD.get(keyword) ?? (near ? `did you mean \`${near}\`?` : "leave it out")
    return [fault(path, `"${keyword}" is no keyword that returns are checked for`, suggestion)]
  }
  if (!rule.holds.safeParse(value).success) return [fault(path, `must be ${rule.wants}`)]
  return keyword === "pattern" ? ofPattern(String(value), path) : []
}

function walk(schema: unknown, path: Path, places: Places): SchemaFault[] {
  places.set(pointer(path), { schema, path })
  if (typeof schema === "boolean") return []
  if (Array.isArray(schema)) return [fault(path, "must be one schema, not a list", "write prefixItems")]
  if (!isPlainObject(schema)) return [fault(path, "must be a schema: an object in { }, true or false")]
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = [...path, keyword]
    const faults = ofKeyword(keyword, value, at)
    const rule = RULES.get(keyword)
    if (faults.length > 0 || !rule?.below) return faults
    return below(rule, value).flatMap(([way, each]) => walk(each, [...at, ...way], places))
  })
}

/** How many schemas look at one value in the end; without end where one leads back to itself. */
function weight(schema: unknown, places: Places, known: Map<unknown, number>): number {
  if (!isPlainObject(schema)) return 1
  const before = known.get(schema)
  if (before !== undefined) return before
  known.set(schema, Infinity)
  const beside = Object.entries(schema).flatMap(([keyword, value]) => {
    const rule = RULES.get(keyword)
    return rule?.at_once ? below(rule, value).map(([, each]) => each) : []
  })
  const others = "$ref" in schema ? [...beside, places.get(String(schema.$ref))?.schema] : beside
  const all = others.reduce<number>((sum, each) => sum + weight(each, places, known), 1)
  known.set(schema, all)
  return all
}

function ofReferences(places: Places): SchemaFault[] {
  const lost = [...places.values()].flatMap(({ schema, path }) => {
    if (!isPlainObject(schema) || !("$ref" in schema) || places.has(String(schema.$ref))) return []
    const suggestion = 'name a place in the schema itself, such as "#/$defs/name"'
    return [fault([...path, "$ref"], `there is no schema at ${String(schema.$ref)}`, suggestion)]
  })
  if (lost.length > 0) return lost
  const known = new Map<unknown, number>()
  const heavy = [...places.values()].find(({ schema }) => weight(schema, places, known) > MOST_AT_ONCE)
  return heavy
    ? [fault(heavy.path, "leads back to itself, or to too many others, for one value", "name fewer of them in it")]
    : []
}

/**
 * Everything in a schema that could not be checked as it is written. A keyword that is unknown, misspelt or of a wrong
 * form would let returns through that break it. Pure.
 */
export function schemaFaults(schema: Readonly<Record<string, unknown>>): SchemaFault[] {
  const places: Places = new Map()
  const faults = walk(schema, [], places)
  return faults.length > 0 ? faults : ofReferences(places)
}
