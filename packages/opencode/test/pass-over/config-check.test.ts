import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { z } from "zod"
import { describeProblem, parse } from "../../src/pass-over/domain/config-check"
import { configSchema } from "../../src/pass-over/domain/config-schema"
import { LimitPreference, TreeBudget } from "../../src/pass-over/domain/limit"
import {
  AgentPairPreference,
  AuditPreference,
  DefaultPreference,
  PassOverPreferences,
  Settings,
  SubagentPreference,
} from "../../src/pass-over/domain/preference"
import { AUDIT_TEXT, HISTORY_TEXT, LIMIT_TEXT, SETTING_TEXT, TREE_TEXT } from "../../src/pass-over/domain/setting-text"

const problems = (input: unknown) => {
  const parsed = parse(input)
  return parsed.ok ? [] : parsed.problems
}
const told = (input: unknown) => problems(input).map(describeProblem)
const codes = (input: unknown) => problems(input).map(({ code, path }) => `${code} ${path.join(".")}`)

describe("a contradiction", () => {
  const WRONG: [string, unknown, string[]][] = [
    [
      "a disabled pair that returns by itself",
      { pairs: { "a->b": { enabled: false, auto_return: true } } },
      ["E031 pairs.a->b.auto_return"],
    ],
    [
      "a disabled pair whose changes are applied",
      { pairs: { "a->b": { enabled: false, auto_apply: true } } },
      ["E031 pairs.a->b.auto_apply"],
    ],
    [
      "a pair that may take longer than its subagent",
      { pairs: { "a->b": { timeout_ms: 60_001 } }, subagents: { b: { max_compute_time_ms: 60_000 } } },
      ["E031 pairs.a->b.timeout_ms"],
    ],
    [
      "a pair that may take longer than any subagent",
      { pairs: { "a->b": { timeout_ms: 60_001 } }, subagents: { "*": { max_compute_time_ms: 60_000 } } },
      ["E031 pairs.a->b.timeout_ms"],
    ],
    [
      "any pair to a subagent that may take longer than it",
      { pairs: { "*->b": { timeout_ms: 60_001 } }, subagents: { b: { max_compute_time_ms: 60_000 } } },
      ["E031 pairs.*->b.timeout_ms"],
    ],
    [
      "changes applied of a subagent that makes none",
      { pairs: { "a->b": { auto_apply: true } }, subagents: { b: { can_modify_files: false } } },
      ["E031 pairs.a->b.auto_apply"],
    ],
    [
      "changes applied of a pair that makes none",
      { pairs: { "a->b": { auto_apply: true, constraints: ["read_only"] } } },
      ["E031 pairs.a->b.auto_apply"],
    ],
    [
      "a pair enabled to a subagent that takes nothing",
      { pairs: { "a->b": { enabled: true } }, subagents: { b: { can_receive_passes: false } } },
      ["E031 pairs.a->b.enabled"],
    ],
    ["an agent that passes to itself", { pairs: { "a->a": {} } }, ["E031 pairs.a->a"]],
    [
      "a schema that nobody looks at",
      { subagents: { b: { validate_output: false, output_schema: {} } } },
      ["E031 subagents.b.output_schema"],
    ],
    [
      "several at once",
      { pairs: { "a->b": { enabled: false, auto_return: true, auto_apply: true } } },
      ["E031 pairs.a->b.auto_return", "E031 pairs.a->b.auto_apply"],
    ],
  ]

  for (const [name, input, expected] of WRONG) {
    test(`is an error of its own: ${name}`, () => {
      expect(codes(input)).toEqual(expected)
      for (const problem of problems(input)) expect(problem.suggestion).toBeTruthy()
    })
  }

  test.each([
    ["a disabled pair", { pairs: { "a->b": { enabled: false, reason: "no", auto_return: false } } }],
    [
      "as long as the subagent may",
      { pairs: { "a->b": { timeout_ms: 60_000 } }, subagents: { b: { max_compute_time_ms: 60_000 } } },
    ],
    [
      "the subagent's own time before that of all",
      {
        pairs: { "a->b": { timeout_ms: 5_000 } },
        subagents: { "*": { max_compute_time_ms: 1 }, b: { max_compute_time_ms: 9_000 } },
      },
    ],
    [
      "a general wish that one subagent does not fulfil",
      {
        pairs: { "a->*": { timeout_ms: 9_000, auto_apply: true } },
        subagents: { b: { max_compute_time_ms: 1, can_modify_files: false } },
      },
    ],
    ["the default of a pair", { defaults: { timeout_ms: 9_000 }, subagents: { b: { max_compute_time_ms: 1 } } }],
    ["a person who is asked all the same", { pairs: { "a->b": { auto_apply: true, require_user_approval: true } } }],
    ["a pair with itself that is switched off", { pairs: { "a->a": { enabled: false } } }],
  ])("is not what is in order: %s", (_name, input) => {
    expect(told(input)).toEqual([])
  })

  test("says what to do", () => {
    expect(told({ pairs: { "a->b": { timeout_ms: 9 } }, subagents: { b: { max_compute_time_ms: 5 } } })).toEqual([
      "pairs.a->b.timeout_ms: 9 ms is more than subagents.b.max_compute_time_ms allows (5 ms); lower timeout_ms to 5, or raise max_compute_time_ms",
    ])
  })
})

describe("a fault is told in words a person understands", () => {
  test.each([
    [{ pairs: { "a->b": { auto_retrun: true } } }, 'unknown setting "auto_retrun"; did you mean `auto_return`?'],
    [{ pairs: { "a->b": { from: "a" } } }, "`from` and `to` come from the key of the pair; leave it out"],
    [{ subagents: { b: { subagent_id: "b" } } }, "the subagent is the key; leave it out"],
    [{ pairs: { "a->b": { can_modify_files: true } } }, "`can_modify_files` belongs into subagents, not into pairs"],
    [{ timeout_ms: 5 }, "`timeout_ms` belongs into defaults or pairs"],
    [{ pair: {} }, "did you mean `pairs`?"],
    [{ defaults: { timeout_ms: "30s" } }, 'must be a number, not "30s"; write 30000, in milliseconds'],
    [{ defaults: { timeout_ms: "2 min" } }, "write 120000, in milliseconds"],
    [{ defaults: { timeout_ms: "600" } }, "write 600, without quotes"],
    [{ defaults: { max_chain_depth: "3" } }, "write 3, without quotes"],
    [{ defaults: { auto_apply: "yes" } }, 'must be true or false, not "yes"; write true, without quotes'],
    [{ defaults: { auto_apply: "off" } }, "write false, without quotes"],
    [{ defaults: { timeout_ms: 0 } }, "must be more than 0, not 0"],
    [{ defaults: { timeout_ms: 1e12 } }, "must be at most 86400000, not 1000000000000"],
    [{ defaults: { max_chain_depth: 1 } }, "must be at least 2, not 1"],
    [{ defaults: { notify_on_return: "alwys" } }, 'not "alwys"; did you mean `always`?'],
    [{ pairs: { "a->b": { reason: "" } } }, "must not be empty"],
    [{ pairs: { "a->b": { constraints: "read_only" } } }, "must be a list in [ ]"],
    [{ pairs: { "a→b": {} } }, 'write "a->b"'],
  ])("%j", (input, words) => {
    expect(told(input).join("\n")).toContain(words)
  })

  test("whatever is written, and never in the words of a program", () => {
    const keys = fc.constantFrom(
      "defaults",
      "pairs",
      "subagents",
      "audit",
      "limits",
      "a->b",
      "*->*",
      "x",
      ...Object.keys(Settings.shape),
    )
    const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.double(), fc.string(), fc.constant(null), fc.constant([]))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(keys, tie("tree")),
      ),
    }))
    fc.assert(
      fc.property(tree, (input) => {
        for (const problem of problems(input)) {
          expect(describeProblem(problem)).not.toMatch(
            /Invalid input|Invalid option|expected \w+, received|undefined|\[object/,
          )
        }
      }),
      { seed: 5, numRuns: 2_000 },
    )
  })
})

describe("the published schema", () => {
  const published = z.fromJSONSchema(configSchema())

  const NUMBERS = [-1, 0, 0.5, 1, 2, 3, 10, 11, 1e8, 1e12]
  // No text of blanks alone: that those do not count is what JSON Schema cannot say.
  const WORDS = ["", "always", "never", "approve", "reject", "relevance", "rules", "model", "words"]
  const LISTS = [[], ["read_only"], [""], [1], [{ permission: "edit" }], [{ permission: "edit", more: 1 }]]
  const OBJECTS = [{}, { passes: 3 }, { passes: "3" }, { nonsense: 1 }]
  const VALUES = [true, false, null, ...NUMBERS, ...WORDS, ...LISTS, ...OBJECTS]
  const SECTIONS: [string, object, (values: object) => object][] = [
    ["defaults", DefaultPreference.shape, (values) => ({ defaults: values })],
    ["pairs", AgentPairPreference.shape, (values) => ({ pairs: { "a->b": values } })],
    ["any pair", AgentPairPreference.shape, (values) => ({ pairs: { "*->*": values } })],
    ["subagents", SubagentPreference.shape, (values) => ({ subagents: { b: values } })],
    ["audit", AuditPreference.shape, (values) => ({ audit: values })],
    ["limits", LimitPreference.shape, (values) => ({ limits: values })],
    ["tree", TreeBudget.shape, (values) => ({ limits: { tree: values } })],
  ]

  test.each(SECTIONS)("accepts in %s what we accept and nothing else", (_name, shape, wrap) => {
    const inputs = [...Object.keys(shape), "nonsense"].flatMap((key) => VALUES.map((value) => wrap({ [key]: value })))
    const ours = inputs.filter((input) => PassOverPreferences.safeParse(input).success)
    expect(inputs.filter((input) => published.safeParse(input).success)).toEqual(ours)
    expect(ours.length).toBeGreaterThan(5)
    expect(inputs.length - ours.length).toBeGreaterThan(20)
  })

  test("accepts at its top what we accept and nothing else", () => {
    const inputs = [
      {},
      [],
      null,
      "x",
      { $schema: "x" },
      { $schema: 1 },
      { pairs: { a: {} } },
      { pairs: [] },
      { nonsense: 1 },
    ]
    expect(inputs.filter((input) => published.safeParse(input).success)).toEqual(
      inputs.filter((input) => PassOverPreferences.safeParse(input).success),
    )
  })

  test("says of every setting what it does", () => {
    const silent: string[] = []
    const walk = (schema: z.core.JSONSchema.BaseSchema, path: string) => {
      for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        if (typeof inner !== "object" || path.includes("grant")) continue
        if (!inner.description) silent.push(`${path}.${name}`)
        walk(inner, `${path}.${name}`)
        if (typeof inner.additionalProperties === "object") walk(inner.additionalProperties, `${path}.${name}.*`)
      }
    }
    walk(configSchema(), "")
    expect(silent).toEqual([])
  })

  test("has a text for every setting there is", () => {
    expect(Object.keys(SETTING_TEXT).toSorted()).toEqual(Object.keys(Settings.shape).toSorted())
    expect(Object.keys(AUDIT_TEXT).toSorted()).toEqual(Object.keys(AuditPreference.shape).toSorted())
    expect(Object.keys(LIMIT_TEXT).toSorted()).toEqual(Object.keys(LimitPreference.shape).toSorted())
    expect(Object.keys(TREE_TEXT).toSorted()).toEqual(Object.keys(TreeBudget.shape).toSorted())
    expect(Object.keys(HISTORY_TEXT).filter((name) => !(name in AgentPairPreference.shape))).toEqual([])
  })
})
