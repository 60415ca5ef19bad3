import { describe, expect, test } from "bun:test"
import { DEFAULTS, ORIGINATORS } from "../../src/agent/agent"
import type { AgentInfo } from "../../src/pass-over/domain/agent"
import type { Written } from "../../src/pass-over/domain/config"
import {
  originates,
  policyOf,
  receives,
  rule,
  valuesOf,
  type Asked,
  type Ruled,
} from "../../src/pass-over/domain/policy"
import type { InlineOverride, PassOverPreferences } from "../../src/pass-over/domain/preference"

const AGENTS: AgentInfo[] = [
  { name: "alice", mode: "primary" },
  { name: "build", mode: "primary" },
  { name: "scout", mode: "subagent" },
  { name: "audit", mode: "subagent" },
  { name: "helper", mode: "all" },
  { name: "title", mode: "subagent", hidden: true },
]

const file = (preferences: PassOverPreferences): Written[] => [
  { origin: "project", path: ".opencode/pass-over.json", preferences },
]

const ruled = (
  asked: Partial<Asked> = {},
  preferences: PassOverPreferences = {},
  defaults: Record<string, InlineOverride> = {},
) =>
  rule({ from: "alice", to: "audit", by: "model", ...asked }, { written: file(preferences), agents: AGENTS, defaults })

function policy(result: Ruled) {
  if (!result.ok) throw new Error(result.refusal.message)
  return result.policy
}

function refusal(result: Ruled) {
  if (result.ok) throw new Error("expected a refusal")
  return result.refusal
}

const named = (names: boolean[]) => AGENTS.filter((_, index) => names[index]).map(({ name }) => name)

describe("an agent that takes passes", () => {
  test("is any that is not hidden and not primary", () => {
    expect(named(AGENTS.map((agent) => receives(agent, [])))).toEqual(["scout", "audit", "helper"])
  })

  test("is also a primary one that somebody named as the target of a pair", () => {
    const build = AGENTS[1]!
    expect(receives(build, file({ pairs: { "alice->build": {} } }))).toBe(true)
    expect(receives(build, file({ pairs: { "*->build": { enabled: true } } }))).toBe(true)
    expect(receives(build, file({ pairs: { "alice->build": { enabled: false } } }))).toBe(false)
    expect(receives(build, file({ pairs: { "build->audit": {}, "alice->*": {}, "*->*": {} } }))).toBe(false)
  })

  test("is never a hidden one, whatever somebody wrote", () => {
    expect(receives(AGENTS[5]!, file({ pairs: { "alice->title": {} } }))).toBe(false)
  })
})

describe("an agent that passes work on", () => {
  test("is any primary one, one that is marked so, and the source of a pair", () => {
    const written = file({ pairs: { "audit->scout": {}, "helper->scout": { enabled: false }, "*->audit": {} } })
    expect(named(AGENTS.map((agent) => originates(agent, [], [])))).toEqual(["alice", "build"])
    expect(named(AGENTS.map((agent) => originates(agent, ["scout"], [])))).toEqual(["alice", "build", "scout"])
    expect(named(AGENTS.map((agent) => originates(agent, [], written)))).toEqual(["alice", "build", "audit"])
  })

  test("is never a hidden one", () => {
    expect(originates({ name: "title", mode: "primary", hidden: true }, ["title"], [])).toBe(false)
  })
})

describe("a target that takes no passes is refused with those that do", () => {
  test("where there is no such agent", () => {
    expect(refusal(ruled({ to: "auditor" }))).toEqual({
      code: "E001",
      message: 'There is no agent "auditor".',
      suggestion: "Choose one of: scout, audit, helper.",
      detail: { agents: ["scout", "audit", "helper"] },
    })
  })

  test("where it is a primary agent, with the pair that would open it", () => {
    expect(refusal(ruled({ to: "build" }))).toMatchObject({
      code: "E001",
      message: '"build" is a primary agent and takes no passes.',
      suggestion: 'Choose one of: scout, audit, helper; or name a pair "…->build" in pass-over.json.',
    })
    expect(ruled({ to: "build" }, { pairs: { "alice->build": {} } }).ok).toBe(true)
  })

  test("where there is none at all", () => {
    const nobody = rule({ from: "alice", to: "audit", by: "model" }, { written: [], agents: [], defaults: {} })
    expect(refusal(nobody).suggestion).toBe("Choose one of: none.")
  })
})

describe("a pair that is switched off", () => {
  test("is refused with its place, its reason and the command that explains it", () => {
    const off = { pairs: { "alice->audit": { enabled: false, reason: "conflicting specializations" } } }
    expect(refusal(ruled({}, off))).toEqual({
      code: "E004",
      message:
        "alice may not pass work to audit; enabled is false in pairs.alice->audit.enabled in .opencode/pass-over.json: conflicting specializations.",
      suggestion:
        "Do this part yourself or choose another agent; the user can change enabled there (pass-over config explain alice audit).",
      detail: {
        setting: "enabled",
        source: "pairs.alice->audit.enabled in .opencode/pass-over.json",
        reason: "conflicting specializations",
      },
    })
  })

  test("may be switched off for a whole subagent", () => {
    const off = { subagents: { audit: { can_receive_passes: false } } }
    expect(refusal(ruled({}, off))).toMatchObject({
      code: "E004",
      message:
        "alice may not pass work to audit; can_receive_passes is false in subagents.audit.can_receive_passes in .opencode/pass-over.json.",
    })
    expect(ruled({ to: "scout" }, off).ok).toBe(true)
  })

  test("cannot be switched on again by a model, but by a person", () => {
    const off = { pairs: { "alice->audit": { enabled: false } } }
    expect(refusal(ruled({ override: { enabled: true } }, off)).code).toBe("E004")
    expect(ruled({ override: { enabled: true }, by: "person" }, off).ok).toBe(true)
  })

  test("may be switched off by the call itself, by a model as by a person", () => {
    for (const by of ["model", "person"] as const) {
      for (const setting of ["enabled", "can_receive_passes"] as const) {
        expect(refusal(ruled({ override: { [setting]: false }, by }))).toMatchObject({
          code: "E004",
          message: `alice may not pass work to audit; ${setting} is false in this call.`,
        })
      }
    }
  })
})

describe("an override", () => {
  const minute = { subagents: { audit: { max_compute_time_ms: 60_000 } } }

  test("of a model may only narrow", () => {
    expect(policy(ruled({ override: { can_run_tools: false } })).values.can_run_tools).toBe(false)
    expect(refusal(ruled({ override: { auto_apply: true } })).code).toBe("E013")
    expect(refusal(ruled({ override: { timeout_ms: 60_001 } }, minute)).code).toBe("E013")
  })

  test("of a person has no limit", () => {
    const wide = { auto_apply: true, can_run_tools: true, max_chain_depth: 9, notify_on_return: "never" } as const
    const narrow = { pairs: { "alice->audit": { notify_on_return: "always" } }, ...minute } as const
    expect(policy(ruled({ override: wide, by: "person" }, narrow)).values).toMatchObject(wide)
  })

  test("of a call above holds for what its chain may have, unless a person says another thing below", () => {
    const depth = (asked: Partial<Asked>, pair: InlineOverride = { max_chain_depth: 5 }) => {
      const { values, resolved } = policy(ruled({ agents_at_most: 3, ...asked }, { pairs: { "alice->audit": pair } }))
      return [values.max_chain_depth, resolved.sources.max_chain_depth?.layer]
    }
    expect(depth({})).toEqual([3, "inline"])
    expect(depth({ override: { max_chain_depth: 4 } })).toEqual([3, "inline"])
    expect(depth({}, { max_chain_depth: 2 })).toEqual([2, "inline"])
    expect(depth({ by: "person" })).toEqual([3, "inline"])
    expect(depth({ by: "person", override: { max_chain_depth: 6 } })).toEqual([6, "inline"])
    expect(depth({ agents_at_most: undefined })).toEqual([5, "pair"])
  })

  test("of a person gives the time that it names, also where the subagent may use less", () => {
    const asked = { override: { timeout_ms: 90_000 }, by: "person" } as const
    expect(policy(ruled(asked, minute)).values).toMatchObject({ timeout_ms: 90_000, max_compute_time_ms: 90_000 })
    expect(policy(ruled({ by: "person" }, minute)).values.timeout_ms).toBe(60_000)
    const both = { ...asked, override: { timeout_ms: 90_000, max_compute_time_ms: 70_000 } }
    expect(policy(ruled(both, minute)).values.timeout_ms).toBe(70_000)
  })

  test("is kept as it was asked for, for the audit", () => {
    expect(policy(ruled({ override: { timeout_ms: 5 } })).overrides).toEqual({ timeout_ms: 5 })
    expect(policy(ruled()).overrides).toEqual({})
  })

  test("is the source of what it changed, by a model as by a person, and shadows what held before", () => {
    for (const by of ["model", "person"] as const) {
      const { resolved } = policy(ruled({ override: { timeout_ms: 5, constraints: ["b"] }, by }))
      expect(resolved.values).toMatchObject({ timeout_ms: 5, constraints: ["b"] })
      expect(resolved.sources.timeout_ms).toEqual({ layer: "inline", origin: "call", key: ["timeout_ms"] })
      expect(resolved.shadows.timeout_ms?.[0]).toMatchObject({ source: { layer: "shipped" }, value: 600_000 })
    }
  })
})

describe("what holds in the end", () => {
  test("knows the defaults that our own agents carry in the registry (guide 9.2, decision 10)", () => {
    expect(policy(ruled({}, {}, { audit: { timeout_ms: 200_000 } })).values.timeout_ms).toBe(200_000)
    const minutes = (to: string) => {
      const known = [...AGENTS, { name: "inspector", mode: "subagent" as const }]
      const made = policy(rule({ from: "alice", to, by: "model" }, { written: [], agents: known, defaults: DEFAULTS }))
      return [made.values.timeout_ms / 60_000, made.resolved.sources.timeout_ms?.layer]
    }
    expect(minutes("scout")).toEqual([5, "agent"])
    expect(minutes("audit")).toEqual([10, "agent"])
    expect(minutes("inspector")).toEqual([10, "agent"])
    expect(minutes("helper")).toEqual([10, "shipped"])
    expect(ORIGINATORS).toEqual(["alice", "scout"])
  })

  test("never gives more time than the subagent may use", () => {
    const preferences = { subagents: { audit: { max_compute_time_ms: 60_000 } } }
    expect(policy(ruled({}, preferences)).values.timeout_ms).toBe(60_000)
  })
})

describe("the policy's name", () => {
  const name = (preferences: PassOverPreferences) => policy(ruled({}, preferences)).name

  test("is the pair's where there is one", () => {
    expect(name({ pairs: { "alice->audit": { timeout_ms: 5 } } })).toBe("alice->audit")
    expect(name({ pairs: { "*->audit": { timeout_ms: 5 } }, defaults: { auto_return: true } })).toBe("*->audit")
  })

  test("is the most specific pair's where several have a say", () => {
    const pairs = {
      "*->*": { enabled: true },
      "*->audit": { auto_return: true },
      "alice->*": { auto_review: true },
    }
    expect(name({ pairs })).toBe("alice->*")
    expect(name({ pairs: { ...pairs, "alice->audit": { timeout_ms: 5 } } })).toBe("alice->audit")
  })

  test("is not that of a pair between others", () => {
    expect(name({ pairs: { "scout->audit": { timeout_ms: 5 } } })).toBe("shipped")
  })

  test("is else that of the layer that decided", () => {
    expect(name({ subagents: { audit: { can_run_tools: false } }, defaults: { pass_files: false } })).toBe("subagent")
    expect(name({ defaults: { pass_files: false } })).toBe("defaults")
    expect(name({})).toBe("shipped")
  })

  test("does not change because a call overrides the pair", () => {
    const preferences = { pairs: { "alice->audit": { timeout_ms: 50 } } }
    expect(policy(ruled({ override: { timeout_ms: 5 } }, preferences)).name).toBe("alice->audit")
  })
})

describe("a pass from before a setting was there", () => {
  const kept = (values: object, sources: object = {}) => ({ preference: { values, sources } })

  test("has the default of every setting that its row knows nothing of, and the project itself as its place", () => {
    const values = valuesOf(kept({ auto_apply: true, max_cost: 2 }))
    expect(values).toMatchObject({
      auto_apply: true,
      max_cost: 2,
      require_user_approval: true,
      auto_return: true,
      can_modify_files: true,
      can_run_tools: true,
      gate_default: "reject",
      max_tokens: 0,
      grant: [],
      isolation: "none",
    })
    expect(valuesOf({ preference: {} })).toMatchObject({ require_user_approval: true, isolation: "none" })
  })

  test("keeps what its row says", () => {
    expect(valuesOf(kept({ isolation: "auto", can_modify_files: false }))).toMatchObject({
      isolation: "auto",
      can_modify_files: false,
    })
  })

  test("names the setting alone where nothing is known of its source", () => {
    expect(policyOf({ preference: {} }, "gate_default")).toBe("gate_default")
  })
})
