import { isPlainObject, mapValues } from "remeda"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import { schemaFaults } from "./output-schema-check"
import { RULES } from "./output-schema-rule"

type Given = Readonly<Record<string, unknown>>
type Checked = { ok: true } | { ok: false; problem: string }
type Patterns = ReadonlyMap<string, (text: string) => boolean>
type Read = { ok: true; patterns: Patterns } | { ok: false; problem: string }

/** What a child is told at once; the rest is there again when it has mended these. */
const MOST_FAULTS = 10

// No format of the validator begins like this.
const FORMAT = "pattern "

/**
 * A copy in which patterns are formats of ours. The validator would run them on the host's regular expressions, and a
 * model may bring both the schema and the text that is held against it.
 */
function withFormats(schema: unknown): unknown {
  if (!isPlainObject(schema)) return schema
  const { pattern, $schema: _draft, ...rest } = schema
  const copy: Record<string, unknown> = mapValues(rest, (value, keyword) => {
    const below = RULES.get(keyword)?.below
    if (below === "one") return withFormats(value)
    if (below === "list" && Array.isArray(value)) return value.map(withFormats)
    return below === "map" && isPlainObject(value) ? mapValues(value, withFormats) : value
  })
  if (typeof pattern !== "string") return copy
  return { ...copy, allOf: [...(Array.isArray(copy.allOf) ? copy.allOf : []), { format: FORMAT + pattern }] }
}

function patternsOf(schema: unknown): string[] {
  if (!isPlainObject(schema)) return []
  const own = typeof schema.pattern === "string" ? [schema.pattern] : []
  return Object.entries(schema).reduce<string[]>((all, [keyword, value]) => {
    const below = RULES.get(keyword)?.below
    if (below === "one") return [...all, ...patternsOf(value)]
    const several = below !== undefined && typeof value === "object" && value !== null ? Object.values(value) : []
    return [...all, ...several.flatMap(patternsOf)]
  }, own)
}

/** The patterns of a schema on an engine whose time is in proportion to the text, whatever the pattern. */
async function compiled(schema: Given): Promise<Read> {
  const patterns = [...new Set(patternsOf(schema))]
  if (patterns.length === 0) return { ok: true, patterns: new Map() }
  const { RE2JS } = await import("re2js")
  try {
    const all = patterns.map((pattern) => {
      const engine = RE2JS.compile(RE2JS.translateRegExp(pattern))
      return [FORMAT + pattern, (text: string) => engine.matcher(text).find()] as const
    })
    return { ok: true, patterns: new Map(all) }
  } catch (error) {
    return {
      ok: false,
      problem: `a pattern cannot be used (${error instanceof Error ? error.message : String(error)})`,
    }
  }
}

async function read(schema: Given): Promise<Read> {
  const [first] = schemaFaults(schema)
  if (!first) return compiled(schema)
  const { path, message, suggestion } = first
  const where = path.length > 0 ? `${path.join(".")}: ` : ""
  return { ok: false, problem: `${where}${message}${suggestion ? `; ${suggestion}` : ""}` }
}

/** A schema that cannot be read would let everything by, so a pass is refused before it starts. */
export async function unreadable(subagent: string, schema: Given | undefined): Promise<Refusal | undefined> {
  if (!schema) return undefined
  const found = await read(schema)
  if (found.ok) return undefined
  return refuse(
    PassOverErrorCode.CONFIG_INVALID,
    `The output_schema of ${subagent} is no JSON Schema that can be checked: ${found.problem}.`,
    {
      suggestion: `Correct subagents.${subagent}.output_schema in pass-over.json, or set validate_output to false.`,
    },
  )
}

/** A place in a return as its writer knows it: "findings.0.message". */
const placeOf = (location: string) =>
  location
    .split("/")
    .slice(1)
    .map((piece) => decodeURIComponent(piece).replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".")

const said = (error: string) =>
  error.replace(new RegExp(`^String does not match format "${FORMAT}([\\s\\S]*)"\\.$`), "It does not match $1")

/** Whether a return is what the user's own schema for this subagent asks for. */
export async function conforms(schema: Given, report: unknown): Promise<Checked> {
  const found = await read(schema)
  if (!found.ok) return found
  const { Validator, format } = await import("@cfworker/json-schema")
  const fitting = withFormats(schema)
  const validator = new Validator(isPlainObject(fitting) ? fitting : {}, "2020-12", false)
  for (const [name, test] of found.patterns) format[name] = test
  const { valid, errors } = validator.validate(report)
  for (const name of found.patterns.keys()) delete format[name]
  if (valid) return { ok: true }
  // Somebody above only says that something below it is wrong.
  const leaves = errors.filter(({ instanceLocation, keywordLocation }) =>
    errors.every(
      (other) =>
        other.keywordLocation === keywordLocation ||
        !other.keywordLocation.startsWith(`${keywordLocation}/`) ||
        !other.instanceLocation.startsWith(instanceLocation),
    ),
  )
  const lines = leaves.map(({ instanceLocation, error }) => {
    const where = placeOf(instanceLocation)
    return `${where ? `${where}: ` : ""}${said(error)}`
  })
  const more = lines.length > MOST_FAULTS ? [`… and ${lines.length - MOST_FAULTS} more`] : []
  return { ok: false, problem: [...new Set(lines)].slice(0, MOST_FAULTS).concat(more).join("\n") }
}
