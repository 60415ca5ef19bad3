import { describe, expect, test } from "bun:test"
import { narrow } from "../../src/pass-over/domain/override"
import { InlineOverride, SYSTEM, type Effective } from "../../src/pass-over/domain/preference"

const effective = (more: Partial<Effective> = {}): Effective => ({ ...SYSTEM, timeout_ms: 60_000, ...more })

const allowed = (override: InlineOverride, now: Partial<Effective> = {}) => narrow(effective(now), override).ok

const values = (override: InlineOverride, now: Partial<Effective> = {}) => {
  const narrowed = narrow(effective(now), override)
  if (!narrowed.ok) throw new Error(narrowed.refusal.message)
  return narrowed.values
}

/** What a model may do to each setting (decision 12), by hand: from which value to which. */
type Moves = { [S in keyof InlineOverride]-?: { may: [unknown, unknown][]; may_not: [unknown, unknown][] } }

const onlyOff = { may: [[true, false]], may_not: [[false, true]] } satisfies Moves["enabled"]
const onlyOn = { may: [[false, true]], may_not: [[true, false]] } satisfies Moves["enabled"]
const onlyDown = {
  may: [
    [1_000, 999],
    [1_000, 1],
  ],
  may_not: [[1_000, 1_001]],
} satisfies Moves["enabled"]

const MOVES: Moves = {
  // Gates and rights: what closes one may be said, what opens one may not.
  enabled: onlyOff,
  can_receive_passes: onlyOff,
  auto_return: onlyOff,
  auto_review: onlyOff,
  auto_apply: onlyOff,
  require_user_approval: onlyOn,
  require_confirmation: onlyOn,
  validate_output: onlyOn,
  pass_context: onlyOff,
  pass_files: onlyOff,
  can_modify_files: onlyOff,
  can_run_tools: onlyOff,
  // Limits.
  max_context_size_bytes: onlyDown,
  idle_timeout_ms: onlyDown,
  max_compute_time_ms: onlyDown,
  max_memory_mb: onlyDown,
  max_chain_depth: {
    may: [
      [4, 3],
      [4, 2],
    ],
    may_not: [[4, 5]],
  },
  // A timeout may grow, but not beyond what the subagent may use: 3,600,000 ms here.
  timeout_ms: {
    may: [
      [60_000, 1],
      [60_000, 90_000],
      [60_000, 3_600_000],
    ],
    may_not: [[60_000, 3_600_001]],
  },
  // A person may be told more than they asked for, never less.
  notify_on_return: {
    may: [
      ["never", "only_issues"],
      ["never", "always"],
      ["only_issues", "always"],
    ],
    may_not: [
      ["always", "only_issues"],
      ["always", "never"],
      ["only_issues", "never"],
    ],
  },
  constraints: {
    may: [
      [[], ["read_only"]],
      [["read_only"], []],
      [["read_only"], ["no_external_calls"]],
    ],
    may_not: [],
  },
  isolation: {
    may: [
      ["none", "worktree"],
      ["auto", "worktree"],
      ["none", "none"],
    ],
    may_not: [
      ["worktree", "none"],
      ["auto", "none"],
      ["worktree", "auto"],
    ],
  },
  verify_command: { may: [], may_not: [["bun test", "rm -rf /"]] },
  // For these 0 is no limit of their own, so any number is tighter and 0 never is.
  max_tokens: {
    may: [
      [0, 5_000],
      [5_000, 4_000],
    ],
    may_not: [
      [5_000, 5_001],
      [5_000, 0],
    ],
  },
  max_cost: {
    may: [
      [0, 0.5],
      [0.5, 0.1],
    ],
    may_not: [
      [0.5, 0.6],
      [0.5, 0],
    ],
  },
  max_messages: {
    may: [
      [0, 20],
      [20, 5],
    ],
    may_not: [
      [20, 21],
      [20, 0],
    ],
  },
  lookback_minutes: {
    may: [
      [0, 60],
      [60, 5],
    ],
    may_not: [
      [60, 61],
      [60, 0],
    ],
  },
  context_selection: {
    may: [
      ["relevance", "recency"],
      ["recency", "relevance"],
    ],
    may_not: [],
  },
  context_digest: { may: [["model", "rules"]], may_not: [["rules", "model"]] },
  result_cache: onlyOff,
  gate_ttl_ms: onlyDown,
  gate_default: { may: [["approve", "reject"]], may_not: [["reject", "approve"]] },
  output_schema: {
    may: [[undefined, { type: "object" }]],
    may_not: [
      [{ type: "object" }, { type: "string" }],
      [{ type: "object" }, {}],
    ],
  },
}

test("every setting that a call may name has a rule, and no others are named here", () => {
  expect(Object.keys(MOVES).toSorted()).toEqual(Object.keys(InlineOverride.shape).toSorted())
})

for (const [setting, { may, may_not }] of Object.entries(MOVES)) {
  describe(`a model's override of ${setting}`, () => {
    for (const [from, to] of may) {
      test(`may turn ${JSON.stringify(from)} into ${JSON.stringify(to)}`, () => {
        expect(allowed({ [setting]: to }, { [setting]: from })).toBe(true)
        if (setting !== "constraints")
          expect(values({ [setting]: to }, { [setting]: from })).toMatchObject({ [setting]: to })
      })
    }

    for (const [from, to] of may_not) {
      test(`may not turn ${JSON.stringify(from)} into ${JSON.stringify(to)}`, () => {
        expect(narrow(effective({ [setting]: from }), { [setting]: to })).toMatchObject({
          ok: false,
          refusal: { code: "E013", detail: { setting, wanted: to, now: from } },
        })
      })
    }

    if (setting !== "constraints" && setting !== "output_schema") {
      test("may repeat what holds already, which changes nothing", () => {
        for (const [from] of [...may, ...may_not]) {
          expect(narrow(effective({ [setting]: from }), { [setting]: from })).toMatchObject({ ok: true, changed: [] })
        }
      })
    }
  })
}

describe("what an override makes of a preference", () => {
  test("is the preference itself where it says nothing", () => {
    expect(narrow(effective(), {})).toEqual({ ok: true, values: effective(), changed: [] })
    expect(narrow(effective(), { timeout_ms: undefined })).toEqual({ ok: true, values: effective(), changed: [] })
  })

  test("names what it changed", () => {
    expect(narrow(effective(), { can_run_tools: false, pass_files: true, timeout_ms: 1 })).toMatchObject({
      ok: true,
      changed: ["can_run_tools", "timeout_ms"],
    })
  })

  test("adds its constraints to those of the pair and takes none of them away", () => {
    expect(values({ constraints: ["b"] }, { constraints: ["a"] }).constraints).toEqual(["a", "b"])
    expect(values({ constraints: [] }, { constraints: ["a"] }).constraints).toEqual(["a"])
  })

  test("never gives more time than the subagent may use, also where the pair would", () => {
    expect(values({}, { timeout_ms: 90_000, max_compute_time_ms: 60_000 }).timeout_ms).toBe(60_000)
    expect(values({ max_compute_time_ms: 5_000 }).timeout_ms).toBe(5_000)
    expect(values({ max_compute_time_ms: 5_000, timeout_ms: 50_000 }).timeout_ms).toBe(5_000)
  })

  test("is refused whole where one setting of several may not be set", () => {
    expect(allowed({ can_run_tools: false, auto_apply: true })).toBe(false)
  })

  test("can set auto_apply only where the pair allows it", () => {
    expect(allowed({ auto_apply: true }, { auto_apply: true })).toBe(true)
    expect(allowed({ auto_apply: true }, { auto_apply: false })).toBe(false)
  })
})

describe("a refusal names the setting, the reason and the way out", () => {
  const refusal = (override: InlineOverride, now: Partial<Effective> = {}) => {
    const narrowed = narrow(effective(now), override, { from: "alice", to: "audit" })
    return narrowed.ok ? undefined : narrowed.refusal
  }

  test("for a gate", () => {
    expect(refusal({ auto_apply: true })).toEqual({
      code: "E013",
      message: "override.auto_apply is not yours to set: only a person may set it to true.",
      suggestion:
        "Leave override.auto_apply out. auto_apply is for the user to change (pass-over config set 'alice->audit' auto_apply <value>).",
      detail: { setting: "auto_apply", wanted: true, now: false },
    })
  })

  test("for a setting of a subagent, with the command for that", () => {
    expect(refusal({ can_modify_files: true }, { can_modify_files: false })?.suggestion).toContain(
      "pass-over config set audit can_modify_files <value>",
    )
  })

  test("for a limit, a timeout, a notification and a schema", () => {
    const reason = (override: InlineOverride, now: Partial<Effective> = {}) => refusal(override, now)?.message
    expect(reason({ max_memory_mb: 9_999 })).toEndWith("to set: 4096 is the most that this pair allows.")
    expect(reason({ timeout_ms: 3_600_001 })).toEndWith("to set: 3600000 ms is the most that this agent may use.")
    expect(reason({ notify_on_return: "never" })).toEndWith("to set: only a person may make it quieter.")
    expect(reason({ output_schema: {} }, { output_schema: {} })).toEndWith(
      "this agent's answers already have a schema.",
    )
  })
})
