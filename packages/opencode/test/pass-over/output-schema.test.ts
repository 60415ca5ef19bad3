import { describe, expect, test } from "bun:test"
import { parse } from "../../src/pass-over/domain/config-check"
import { conforms, unreadable } from "../../src/pass-over/domain/output-schema"
import { schemaFaults } from "../../src/pass-over/domain/output-schema-check"

type Schema = Record<string, unknown>

const CHECKED: [name: string, schema: Schema, fits: unknown, breaks: unknown][] = [
  ["a name that no property describes", { type: "object", required: ["nope"] }, { nope: 1 }, { a: 1 }],
  ["a name that every object inherits", { required: ["toString"] }, { toString: 1 }, { a: 1 }],
  ["one inside of allOf", { allOf: [{ required: ["nope"] }] }, { nope: 1 }, { a: 1 }],
  ["one inside of anyOf", { anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { b: 1 }, { c: 1 }],
  [
    "a list without items",
    { properties: { findings: { type: "array", minItems: 1 } } },
    { findings: [1] },
    { findings: [] },
  ],
  ["a length without a type", { minLength: 5 }, "five!", "four"],
  ["bounds without a type", { minimum: 3, exclusiveMaximum: 5, multipleOf: 0.5 }, 4.5, 4.6],
  ["a pattern", { pattern: "^\\p{L}+-\\d{2}$" }, "tür-12", "tür-1"],
  ["a pattern beside others", { pattern: "^b", minLength: 2, allOf: [{ maxLength: 3 }] }, "bc", "cb"],
  ["a pattern that must not occur", { not: { pattern: "TODO" } }, "done", "a TODO"],
  ["a format", { format: "date" }, "2026-11-18", "2026-02-30"],
  ["names", { propertyNames: { pattern: "^x-" } }, { "x-a": 1 }, { a: 1 }],
  ["what is not named", { properties: { a: true }, additionalProperties: false }, { a: 1 }, { a: 1, b: 2 }],
  ["what goes with something", { dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
  [
    "a condition",
    { if: { required: ["a"] }, ["then" as string]: { required: ["b"] }, else: { required: ["c"] } },
    { c: 1 },
    { a: 1 },
  ],
  ["exactly one of several", { oneOf: [{ type: "number" }, { minimum: 3 }] }, 2, 5],
  ["something in a list", { contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
  ["a list by places", { prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], ["a", "b"]],
  ["no value twice", { uniqueItems: true }, [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 1 }]],
  ["a reference", { $defs: { "a b/ä~%": { type: "string" } }, items: { $ref: "#/$defs/a b~1ä~0%" } }, ["a"], [1]],
  ["what stands beside a reference", { $defs: { a: {} }, $ref: "#/$defs/a", minLength: 2 }, "ab", "a"],
  [
    "a tree",
    { properties: { below: { items: { $ref: "#" } } }, required: ["n"] },
    { n: 1, below: [{ n: 2 }] },
    { n: 1, below: [{}] },
  ],
]

describe("a return is held against every keyword of the schema", () => {
  test.each(CHECKED)("%s", async (_name, schema, fits, breaks) => {
    expect(schemaFaults(schema)).toEqual([])
    expect(await conforms(schema, fits)).toEqual({ ok: true })
    expect(await conforms(schema, breaks)).toMatchObject({ ok: false })
  })

  test("what is wrong is told by its place", async () => {
    const schema = { properties: { "a/b": { items: { pattern: "^x" } } }, additionalProperties: { minItems: 1 } }
    expect(await conforms(schema, { "a/b": ["x", "y"], c: [] })).toEqual({
      ok: false,
      problem: "a/b.1: It does not match ^x\nc: Array has too few items (0 < 1).",
    })
    const many = await conforms(
      { items: { type: "string" } },
      Array.from({ length: 50 }, () => 1),
    )
    expect(many.ok ? "" : many.problem.split("\n").length).toBe(11)
  })

  test("no pattern takes longer than the text is long", async () => {
    // On the host's own expressions the first of them takes longer than anybody waits.
    for (const pattern of [".*.*.*.*=", "^(\\w+\\s?)*$", "^(a|a)*$"]) {
      const began = performance.now()
      expect(await conforms({ pattern }, `${"a".repeat(20_000)}!`)).toMatchObject({ ok: false })
      expect(performance.now() - began).toBeLessThan(2_000)
    }
  })
})

const doubled = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => {
    const next = { $ref: `#/$defs/a${index + 1}` }
    return [`a${index}`, index === 29 ? {} : { allOf: [next, next] }]
  }),
)

const UNREAD: [schema: Schema, message: string][] = [
  [{ type: "nonsense" }, "type: must be one of null, boolean"],
  [{ requred: ["a"] }, 'requred: "requred" is no keyword that returns are checked for; did you mean `required`?'],
  [{ properties: { a: { required: "b" } } }, "properties.a.required: must be a list of names"],
  [{ $ref: "#/definitions/nope" }, "$ref: there is no schema at #/definitions/nope"],
  [{ constructor: {} }, '"constructor" is no keyword that returns are checked for'],
  [{ $ref: "https://example.com/schema.json" }, "$ref: there is no schema at https://example.com"],
  [{ $schema: "http://json-schema.org/draft-04/schema#" }, "$schema: must be that of draft 2020-12"],
  [{ patternProperties: { "^a": {} } }, "name the properties"],
  [{ unevaluatedProperties: false }, "write additionalProperties"],
  [{ items: [{ type: "string" }] }, "items: must be one schema, not a list; write prefixItems"],
  [{ not: 3 }, "not: must be a schema"],
  [{ format: "regex" }, "format: must be one of date"],
  [{ pattern: "(" }, "pattern: Invalid regular expression"],
  [{ pattern: "^(?!a)" }, "pattern: a pattern may look neither ahead nor back"],
  [{ pattern: "(a)\\1" }, "pattern: a pattern may look neither ahead nor back"],
  [{ pattern: "((a{100}){100}){100}" }, "a pattern cannot be used"],
  [{ $ref: "#" }, "leads back to itself"],
  [{ $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } } }, "leads back to itself"],
  [{ $ref: "#/$defs/a0", $defs: doubled }, "or to too many others"],
]

describe("a schema that could not be checked as it is written", () => {
  test.each(UNREAD)("%j is refused before a pass starts", async (schema, message) => {
    const refusal = await unreadable("audit", schema)
    expect(refusal).toMatchObject({
      code: "E030",
      suggestion: expect.stringContaining("subagents.audit.output_schema"),
    })
    expect(refusal?.message).toContain(message)
  })

  test("is a fault of the preferences, at its place; what was stored once may stay", () => {
    const preferences = { subagents: { audit: { output_schema: { properties: { a: { tpye: "string" } } } } } }
    expect(parse(preferences)).toMatchObject({
      ok: false,
      problems: [{ code: "E030", path: ["subagents", "audit", "output_schema", "properties", "a", "tpye"] }],
    })
    expect(parse(preferences, { wishes: true }).ok).toBe(true)
  })

  test("an escaped bracket looks nowhere", async () => {
    expect(await unreadable("audit", { pattern: "^\\\\1\\(\\?=$" })).toBeUndefined()
    expect(await conforms({ pattern: "^\\\\1\\(\\?=$" }, "\\1(?=")).toEqual({ ok: true })
  })
})
