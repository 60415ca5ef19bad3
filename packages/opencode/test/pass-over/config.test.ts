import { describe, expect, test } from "bun:test"
import {
  allowedTime,
  describeSource,
  resolve,
  resolveAudit,
  resolvePreference,
  validate,
  type Source,
  type Written,
} from "../../src/pass-over/domain/config"
import { describeProblem, parse } from "../../src/pass-over/domain/config-check"
import { SHIPPED, SYSTEM, type PassOverPreferences } from "../../src/pass-over/domain/preference"

const project = (preferences: PassOverPreferences): Written => ({
  origin: "project",
  path: ".opencode/pass-over.json",
  preferences,
})

const problemsOf = (input: unknown) => {
  const parsed = parse(input)
  return parsed.ok ? [] : parsed.problems.map(describeProblem)
}

describe("the schema", () => {
  // By hand from the architecture, §5.1, and decisions 10, 11 and 18: which setting may stand where, and of what kind.
  const FIELDS: Record<string, Record<string, keyof typeof KINDS>> = {
    defaults: {
      auto_return: "switch",
      auto_review: "switch",
      auto_apply: "switch",
      require_user_approval: "switch",
      require_confirmation: "switch",
      pass_context: "switch",
      pass_files: "switch",
      max_context_size_bytes: "count",
      timeout_ms: "duration",
      idle_timeout_ms: "duration",
      max_chain_depth: "depth",
      notify_on_return: "notify",
    },
    pair: {
      enabled: "switch",
      reason: "words",
      auto_return: "switch",
      auto_review: "switch",
      auto_apply: "switch",
      require_user_approval: "switch",
      require_confirmation: "switch",
      pass_context: "switch",
      pass_files: "switch",
      max_context_size_bytes: "count",
      timeout_ms: "duration",
      idle_timeout_ms: "duration",
      max_chain_depth: "depth",
      notify_on_return: "notify",
      constraints: "list",
      created_at: "time",
      updated_at: "time",
      updated_by: "name",
    },
    subagent: {
      can_receive_passes: "switch",
      can_modify_files: "switch",
      can_run_tools: "switch",
      max_compute_time_ms: "duration",
      max_memory_mb: "count",
      validate_output: "switch",
      output_schema: "object",
    },
    audit: { log_all_passes: "switch", log_directory: "words", retention_days: "count" },
  }

  const KINDS = {
    switch: { good: [true, false], bad: ["true", 1, 0, null, [], {}] },
    count: { good: [1, 4_096], bad: [0, -1, 1.5, "5", null, Infinity] },
    duration: { good: [1, 86_400_000], bad: [0, -1, 0.5, 86_400_001, "30s", null] },
    depth: { good: [2, 3, 5, 10], bad: [1, 0, 11, 2.5, "3", null] },
    notify: { good: ["always", "only_issues", "never"], bad: ["sometimes", true, "", null] },
    words: { good: ["conflicting specializations"], bad: ["", 1, null, {}] },
    name: { good: ["ada"], bad: [1, null, {}] },
    list: { good: [[], ["read_only"]], bad: ["read_only", [""], ["  "], [1], null] },
    time: { good: [0, 1_700_000_000, 1_700_000_000_000], bad: [-1, "2024-02-01", null] },
    object: { good: [{}, { type: "object" }], bad: ["object", [], null, 1] },
  }

  const place: Record<string, (values: object) => object> = {
    defaults: (values) => ({ defaults: values }),
    pair: (values) => ({ pairs: { "alice->audit": values } }),
    subagent: (values) => ({ subagents: { audit: values } }),
    audit: (values) => ({ audit: values }),
  }
  const everyName = [...new Set(Object.values(FIELDS).flatMap(Object.keys)), "from", "to", "subagent_id", "nonsense"]

  for (const [section, fields] of Object.entries(FIELDS)) {
    const wrap = place[section]!

    test(`of ${section} takes its own settings and no others`, () => {
      const accepted = everyName.filter((name) =>
        KINDS[fields[name] ?? "switch"].good.some((value) => validate(wrap({ [name]: value }))),
      )
      expect(accepted.toSorted()).toEqual(Object.keys(fields).toSorted())
    })

    for (const [name, kind] of Object.entries(fields)) {
      test(`of ${section}.${name} takes a ${kind} and nothing else`, () => {
        expect(KINDS[kind].good.filter((value) => !validate(wrap({ [name]: value })))).toEqual([])
        expect(KINDS[kind].bad.filter((value) => validate(wrap({ [name]: value })))).toEqual([])
      })
    }
  }

  test("takes nothing at all, and a $schema", () => {
    expect(validate({})).toBe(true)
    expect(validate({ $schema: "./pass-over.schema.json" })).toBe(true)
    expect([null, [], "text", 1, undefined].filter(validate)).toEqual([])
  })

  test("names every unknown setting with the way to it", () => {
    expect(
      problemsOf({
        default: {},
        defaults: { timeout: 1 },
        pairs: { "alice->audit": { auto_aply: true, enable: true } },
        subagents: { audit: { timeout_ms: 1 } },
        audit: { retention: 1 },
      }),
    ).toEqual([
      'defaults.timeout: unknown setting "timeout"; did you mean `timeout_ms`?',
      'pairs.alice->audit.auto_aply: unknown setting "auto_aply"; did you mean `auto_apply`?',
      'pairs.alice->audit.enable: unknown setting "enable"; did you mean `enabled`?',
      'subagents.audit.timeout_ms: unknown setting "timeout_ms"; `timeout_ms` belongs into defaults or pairs, not into subagents',
      'audit.retention: unknown setting "retention"; did you mean `retention_days`?',
      'default: unknown setting "default"; did you mean `defaults`?',
    ])
  })

  test("names everything that is wrong at once, not the first thing only", () => {
    expect(problemsOf({ defaults: { timeout_ms: "60s", auto_return: 1 } }).map((line) => line.split(":")[0])).toEqual([
      "defaults.auto_return",
      "defaults.timeout_ms",
    ])
  })

  test("keeps the place in a list as a number", () => {
    const parsed = parse({ pairs: { "alice->audit": { constraints: ["read_only", 7] } } })
    expect(parsed.ok ? [] : parsed.problems[0]?.path).toEqual(["pairs", "alice->audit", "constraints", 1])
  })

  test("wants a pair written as from->to, where a star stands for any agent", () => {
    const keys = ["alice->audit", "alice->*", "*->audit", "*->*", "my-agent->team/audit"]
    expect(keys.filter((key) => !validate({ pairs: { [key]: {} } }))).toEqual([])
    const wrong = ["alice", "alice->", "->audit", "alice=>audit", "alice -> audit", "a->b->c", "al*->audit", "", "->"]
    expect(wrong.filter((key) => validate({ pairs: { [key]: {} } }))).toEqual([])
    expect(problemsOf({ pairs: { "alice audit": {} } })).toEqual([
      'pairs.alice audit: a pair is written "from->to"; either side may be "*"',
    ])
    expect(problemsOf({ pairs: { "alice => audit": {} } })).toEqual([
      'pairs.alice => audit: a pair is written "from->to"; either side may be "*"; write "alice->audit"',
    ])
  })

  test("turns times in seconds into milliseconds", () => {
    const parsed = parse({ pairs: { "alice->audit": { created_at: 1_700_000_000, updated_at: 1_700_000_000_000 } } })
    expect(parsed.ok && parsed.preferences.pairs?.["alice->audit"]).toEqual({
      created_at: 1_700_000_000_000,
      updated_at: 1_700_000_000_000,
    })
  })
})

// The architecture, §5.2, as it stands.
const EXAMPLE = `{
  "defaults": {
    "auto_return": false,
    "auto_apply": false,
    "timeout_ms": 30000,
    "max_chain_depth": 3,
    "require_confirmation": true
  },

  "pairs": {
    "alice->audit": {
      "enabled": true,
      "auto_return": true,
      "auto_apply": false,
      "require_user_approval": true,
      "pass_context": true,
      "pass_files": true,
      "timeout_ms": 60000,
      "notify_on_return": "always",
      "created_at": 1700000000,
      "updated_at": 1700000000
    },
    "alice->inspector": {
      "enabled": true,
      "auto_return": false,
      "auto_apply": false,
      "require_user_approval": true,
      "notify_on_return": "only_issues"
    },
    "scout->audit": {
      "enabled": false,
      "reason": "conflicting specializations"
    }
  },

  "subagents": {
    "audit": {
      "can_receive_passes": true,
      "can_modify_files": false,
      "can_run_tools": true,
      "max_compute_time_ms": 60000
    },
    "inspector": {
      "can_receive_passes": true,
      "can_modify_files": false,
      "can_run_tools": true
    }
  },

  "audit": {
    "log_all_passes": true,
    "log_directory": ".opencode/pass-over-logs",
    "retention_days": 30
  }
}`

describe("the architecture's example file", () => {
  const parsed = parse(JSON.parse(EXAMPLE))
  const written = parsed.ok ? [project(parsed.preferences)] : []

  test("loads as it stands", () => {
    expect(parsed.ok).toBe(true)
  })

  test("gives alice -> audit its own minute and its subagent's rights", () => {
    expect(resolvePreference("alice", "audit", undefined, written)).toMatchObject({
      enabled: true,
      auto_return: true,
      timeout_ms: 60_000,
      max_chain_depth: 3,
      require_confirmation: true,
      can_modify_files: false,
      max_compute_time_ms: 60_000,
      notify_on_return: "always",
    })
  })

  test("gives alice -> inspector the defaults where the pair is silent", () => {
    expect(resolvePreference("alice", "inspector", undefined, written)).toMatchObject({
      auto_return: false,
      timeout_ms: 30_000,
      notify_on_return: "only_issues",
      can_modify_files: false,
    })
  })

  test("switches scout -> audit off and says why", () => {
    expect(resolvePreference("scout", "audit", undefined, written)).toMatchObject({
      enabled: false,
      reason: "conflicting specializations",
    })
  })

  test("lets an inline override win, as in §5.3", () => {
    const override = { timeout_ms: 90_000, auto_return: true, auto_apply: false, notify_on_return: "always" } as const
    expect(resolvePreference("alice", "audit", override, written)).toMatchObject(override)
  })
})

describe("without any file", () => {
  test("everything works, with the shipped values over the system's", () => {
    expect(resolvePreference("alice", "audit")).toMatchObject({
      enabled: true,
      auto_return: true,
      auto_review: true,
      auto_apply: false,
      require_user_approval: true,
      require_confirmation: false,
      pass_context: true,
      pass_files: true,
      max_context_size_bytes: 5_242_880,
      timeout_ms: 600_000,
      idle_timeout_ms: 120_000,
      max_chain_depth: 3,
      notify_on_return: "only_issues",
      constraints: [],
      can_receive_passes: true,
      can_modify_files: true,
      can_run_tools: true,
      max_compute_time_ms: 3_600_000,
      max_memory_mb: 4_096,
      validate_output: true,
    })
  })

  test("the system's own numbers are those of the architecture, §5.1", () => {
    expect(SYSTEM).toMatchObject({
      auto_return: false,
      auto_apply: false,
      timeout_ms: 30_000,
      max_chain_depth: 3,
      require_confirmation: true,
      pass_context: true,
      pass_files: true,
      max_context_size_bytes: 5 * 1024 * 1024,
      can_receive_passes: true,
    })
    expect(SHIPPED).toMatchObject({ auto_return: true, require_confirmation: false, timeout_ms: 600_000 })
  })
})

describe("the audit's settings", () => {
  test("come from the architecture where nobody says anything", () => {
    const shipped = { log_all_passes: true, log_directory: ".opencode/pass-over-logs", retention_days: 30 }
    expect(resolveAudit([])).toEqual(shipped)
    expect(resolveAudit([project({}), project({ audit: {} })])).toEqual(shipped)
  })

  test("come from the first place that says something, each for itself", () => {
    const stored = project({ audit: { retention_days: 7 } })
    const file = project({ audit: { retention_days: 90, log_directory: "logs" } })
    const global = project({ audit: { retention_days: 365, log_directory: "all", log_all_passes: false } })
    expect(resolveAudit([stored, file, global])).toEqual({
      log_all_passes: false,
      log_directory: "logs",
      retention_days: 7,
    })
  })

  test("are never undefined, even where a place says so", () => {
    expect(resolveAudit([project({ audit: { retention_days: undefined } })]).retention_days).toBe(30)
  })
})

describe("the words for a source", () => {
  const words: [Source, string][] = [
    [{ layer: "inline", origin: "call", key: ["timeout_ms"] }, "this call"],
    [
      { layer: "pair", origin: "project", path: ".opencode/pass-over.json", key: ["pairs", "a->b", "timeout_ms"] },
      "pairs.a->b.timeout_ms in .opencode/pass-over.json",
    ],
    [
      { layer: "subagent", origin: "stored", path: "the panel", key: ["subagents", "audit", "can_run_tools"] },
      "subagents.audit.can_run_tools in the panel",
    ],
    [
      {
        layer: "defaults",
        origin: "global",
        path: "~/.config/opencode/pass-over.json",
        key: ["defaults", "pass_files"],
      },
      "defaults.pass_files in ~/.config/opencode/pass-over.json",
    ],
    [{ layer: "agent", origin: "product", key: ["timeout_ms"] }, "the agent's own default"],
    [{ layer: "shipped", origin: "product", key: ["timeout_ms"] }, "the shipped default"],
    [{ layer: "system", origin: "product", key: ["timeout_ms"] }, "the system default"],
  ]

  for (const [source, sentence] of words) {
    test(`of the ${source.layer} layer are "${sentence}"`, () => {
      expect(describeSource(source)).toBe(sentence)
    })
  }

  test("can be told of every value that was resolved", () => {
    const { values, sources } = resolve("alice", "audit", { written: [project(JSON.parse(EXAMPLE))] })
    expect(Object.keys(sources).toSorted()).toEqual(Object.keys(values).toSorted())
    expect(describeSource(sources.timeout_ms!)).toBe("pairs.alice->audit.timeout_ms in .opencode/pass-over.json")
    expect(describeSource(sources.require_confirmation!)).toBe(
      "defaults.require_confirmation in .opencode/pass-over.json",
    )
    expect(describeSource(sources.idle_timeout_ms!)).toBe("the shipped default")
    expect(describeSource(sources.validate_output!)).toBe("the system default")
  })
})

test("a pass gets its own time, but never more than its subagent may use", () => {
  const values = { ...SYSTEM, timeout_ms: 60_000, max_compute_time_ms: 45_000 }
  expect(allowedTime(values)).toBe(45_000)
  expect(allowedTime({ ...values, max_compute_time_ms: 90_000 })).toBe(60_000)
})
