import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { parseConfig, placeOf } from "../../../src/pass-over/store/config-text"

const faults = (text: string) => {
  const file = parseConfig(text)
  return file.ok ? [] : file.faults
}
const told = (text: string) => faults(text).map(({ line, column, message }) => `${line}:${column} ${message}`)

test("a fault carries the words that are wrong, what is wrong with them and what to do", () => {
  const text = `{\n  "pairs": {\n    "alice->audit": { "auto_retrun": true }\n  }\n}`
  expect(faults(text)).toEqual([
    {
      line: 3,
      column: 23,
      code: "E030",
      text: '"auto_retrun": true',
      message: 'pairs.alice->audit.auto_retrun: unknown setting "auto_retrun"; did you mean `auto_return`?',
      suggestion: "did you mean `auto_return`?",
    },
  ])
})

test("a contradiction is named where it stands, with a code of its own", () => {
  const text = `{\n  "pairs": { "a->b": {\n    "enabled": false,\n    "auto_return": true\n  } }\n}`
  expect(faults(text)).toMatchObject([{ line: 4, column: 5, code: "E031", text: '"auto_return": true' }])
})

test("faults come in the order of the file", () => {
  const text = `{\n  "zzz": 1,\n  "defaults": { "timeout_ms": "x" },\n  "aaa": 2\n}`
  expect(faults(text).map(({ line }) => line)).toEqual([2, 3, 4])
})

describe("what JSON would swallow is a fault", () => {
  test("a setting that is written twice", () => {
    const text = `{\n  "defaults": {\n    "timeout_ms": 1,\n    "timeout_ms": 2\n  }\n}`
    expect(told(text)).toEqual(["4:5 defaults.timeout_ms: written twice, the first time on line 3; keep one of them"])
  })

  test("a pair that is written twice", () => {
    expect(told(`{ "pairs": { "a->b": {}, "a->b": {} } }`)).toHaveLength(1)
  })

  test("it hides no other fault, and a fault of form hides no contradiction", () => {
    const text = `{
      "defaults": { "auto_apply": true, "auto_apply": "yes", "speed": 1 },
      "pairs": {
        "alice->alice": { "timeout_ms": "soon", "constraints": ["be careful"] },
        "alice->audit": { "enabled": false, "auto_return": true, "constraints": ["read_only", 3] }
      },
      "subagents": { "audit": { "output_schema": { "type": "nonsense" }, "max_memory_mb": -1 } }
    }`
    expect(told(text).map((line) => line.replace(/^(\d+):\d+ (\S+).*/s, "$1 $2"))).toEqual([
      "2 defaults.auto_apply:",
      "2 defaults.auto_apply:",
      "2 defaults.speed:",
      "4 pairs.alice->alice:",
      "4 pairs.alice->alice.timeout_ms:",
      "4 pairs.alice->alice.constraints.0:",
      "5 pairs.alice->audit.auto_return:",
      "5 pairs.alice->audit.constraints.1:",
      "7 subagents.audit.output_schema.type:",
      "7 subagents.audit.max_memory_mb:",
    ])
  })

  test("a key that would change what an object is", () => {
    expect(told(`{ "defaults": { "__proto__": { "auto_apply": true } } }`)).toEqual([
      '1:17 defaults.__proto__: unknown setting "__proto__"',
    ])
  })
})

test.each([
  [`{ "defaults": { "auto_apply": treu } }`, "this word is not known here"],
  [`{ "defaults": {} "pairs": {} }`, "a comma is missing here"],
  [`{ "defaults" {} }`, "a colon is missing here"],
  [`{ "defaults": {`, "a closing brace } is missing here"],
  [`{ "$schema": "x }`, "a closing quote is missing here"],
  [`{ defaults: {} }`, "double quotes"],
  ["", "the file is empty"],
])("what is not JSON is told in words: %s", (text, words) => {
  expect(told(text).join("\n")).toContain(words)
  expect(told(text).join("\n")).not.toMatch(/Expected|Symbol|Unexpected/)
})

describe("a hostile file", () => {
  test("of nothing but brackets is refused before it is parsed", () => {
    const text = "[".repeat(200_000)
    expect(told(text)).toEqual(["1:101 this is nested too deep"])
    expect(told(`/* " */ ${text}`)).toHaveLength(1)
  })

  test("that is a book is refused", () => {
    expect(told(`{ "$schema": "${"x".repeat(1_100_000)}" }`)).toEqual([expect.stringContaining("larger than 1 MB")])
  })

  test("is never more than faults, whatever is in it", () => {
    const valid = `{\n  // one\n  "defaults": { "timeout_ms": 5000 }, "pairs": { "a->b": { "constraints": ["read_only"] } }\n}`
    const mutated = fc
      .tuple(fc.nat(valid.length), fc.nat(10), fc.string({ unit: "binary", maxLength: 8 }))
      .map(([at, length, put]) => valid.slice(0, at) + put + valid.slice(at + length))
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string({ unit: "binary" }), fc.json()), (text) => {
        const file = parseConfig(text)
        if (file.ok) return
        expect(file.faults.length).toBeGreaterThan(0)
        const lines = text.replace(/^\uFEFF/, "").split("\n")
        for (const { line, column, text: words } of file.faults) {
          expect(line).toBeWithin(1, lines.length + 1)
          expect(column).toBeGreaterThan(0)
          expect(words).not.toContain("\n")
        }
      }),
      { seed: 3, numRuns: 3_000 },
    )
  })
})

test("a value is found where it stands", () => {
  const text = `\uFEFF{\r\n  // one\r\n  "pairs": { "a->b": {\r\n    "timeout_ms": 5 } }\r\n}`
  expect(placeOf(text, ["pairs", "a->b", "timeout_ms"])).toEqual({ line: 4, column: 5 })
  expect(placeOf(text, ["pairs", "a->b", "auto_apply"])).toBeUndefined()
})
