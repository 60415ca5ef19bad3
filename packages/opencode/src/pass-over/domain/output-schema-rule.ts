import { z } from "zod"

/** What a keyword of JSON Schema may hold, and whether schemas stand below it. */
export type Rule = { holds: z.ZodType; wants: string; below?: "one" | "list" | "map"; at_once?: true }

const Whole = z.int().nonnegative()
const Type = z.enum(["null", "boolean", "object", "array", "number", "string", "integer"])
const Names = z.array(z.string())
const Group = z.record(z.string(), z.unknown())
const Several = z.array(z.unknown()).min(1)

/** Those that are looked at; `url` and `regex` are left out, because text can be made that keeps them busy for hours. */
const FORMATS = [
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uuid",
  "json-pointer",
] as const

const DRAFT = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-07)\/schema#?$/

const count: Rule = { holds: Whole, wants: "a whole number that is not negative" }
const number: Rule = { holds: z.number(), wants: "a number" }
const note: Rule = { holds: z.unknown(), wants: "anything" }
// What stands below is looked at on its own.
const one: Rule = { holds: z.unknown(), wants: "a schema", below: "one" }
const map: Rule = { holds: Group, wants: "an object of schemas", below: "map" }
const list: Rule = { holds: Several, wants: "a list of schemas", below: "list" }
const atOnce = (rule: Rule): Rule => ({ ...rule, at_once: true })

/**
 * Every keyword that is looked at. One that is not in here would be passed over in silence, and a return that breaks it
 * let through, so it is a fault.
 */
export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["$schema", { holds: z.string().regex(DRAFT), wants: "that of draft 2020-12, 2019-09 or 07" }],
  ["$ref", { holds: z.string(), wants: 'a place in the schema itself, such as "#/$defs/name"' }],
  ["$defs", map],
  ["definitions", map],
  [
    "type",
    { holds: z.union([Type, z.array(Type).min(1)]), wants: `one of ${Type.options.join(", ")}, or a list of them` },
  ],
  ["enum", { holds: Several, wants: "a list of values" }],
  ["const", note],
  ["allOf", atOnce(list)],
  ["anyOf", atOnce(list)],
  ["oneOf", atOnce(list)],
  ["not", atOnce(one)],
  ["if", atOnce(one)],
  ["then", atOnce(one)],
  ["else", atOnce(one)],
  ["properties", map],
  ["additionalProperties", one],
  ["propertyNames", one],
  ["required", { holds: Names, wants: "a list of names" }],
  ["dependentRequired", { holds: z.record(z.string(), Names), wants: "an object of lists of names" }],
  ["dependentSchemas", atOnce(map)],
  ["minProperties", count],
  ["maxProperties", count],
  ["items", one],
  ["prefixItems", list],
  ["contains", one],
  ["minContains", count],
  ["maxContains", count],
  ["minItems", count],
  ["maxItems", count],
  ["uniqueItems", { holds: z.boolean(), wants: "true or false" }],
  ["minLength", count],
  ["maxLength", count],
  ["pattern", { holds: z.string().max(1_000), wants: "a regular expression of at most 1,000 characters" }],
  ["format", { holds: z.enum(FORMATS), wants: `one of ${FORMATS.join(", ")}` }],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", number],
  ["exclusiveMaximum", number],
  ["multipleOf", { holds: z.number().positive(), wants: "a number above 0" }],
  ["title", note],
  ["description", note],
  ["default", note],
  ["examples", note],
  ["deprecated", note],
  ["readOnly", note],
  ["writeOnly", note],
  ["$comment", note],
])

/** What to write in the place of a keyword that is not looked at. */
export const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["patternProperties", "name the properties, or bound their names with propertyNames"],
  ["unevaluatedProperties", "write additionalProperties"],
  ["additionalItems", "write items beside prefixItems"],
  ["unevaluatedItems", "write items beside prefixItems"],
  ["dependencies", "write dependentRequired or dependentSchemas"],
  ["id", "leave it out"],
  ["$id", "leave it out"],
  ["$anchor", 'refer to the place itself, such as "#/$defs/name"'],
  ["$dynamicRef", "write $ref"],
  ["$recursiveRef", "write $ref"],
])
