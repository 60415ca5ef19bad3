import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { resolve, type Written } from "../../src/pass-over/domain/config"
import { difference, explain, knownPairs } from "../../src/pass-over/domain/explain"
import { edited, groupOf, writtenAfter, type PreferenceKey } from "../../src/pass-over/domain/preference-edit"
import type { PassOverPreferences, Setting } from "../../src/pass-over/domain/preference"

const at = (origin: Written["origin"], preferences: PassOverPreferences): Written => ({
  origin,
  path: `${origin}.json`,
  preferences,
})

const of = (written: Written[], from = "alice", to = "audit") => explain(from, to, { written })

describe("an explanation", () => {
  test("says for every setting where it comes from and what it stands in front of", () => {
    const { settings } = of([
      at("project", { pairs: { "alice->audit": { timeout_ms: 5 } }, defaults: { timeout_ms: 6 } }),
      at("global", { pairs: { "*->audit": { timeout_ms: 7 } } }),
    ])
    expect(settings.find(({ setting }) => setting === "timeout_ms")).toMatchObject({
      value: 5,
      where: "pairs.alice->audit.timeout_ms in project.json",
      shadows: [
        { value: 7, where: "pairs.*->audit.timeout_ms in global.json" },
        { value: 6, where: "defaults.timeout_ms in project.json" },
        { value: 600_000, where: "the shipped default" },
        { value: 30_000, where: "the system default" },
      ],
    })
  })

  test.each([
    [
      "time that is cut",
      [
        at("project", { pairs: { "alice->audit": { timeout_ms: 9 } } }),
        at("global", { subagents: { audit: { max_compute_time_ms: 5 } } }),
      ],
      "A pass gets 5 ms, not 9: max_compute_time_ms in subagents.audit.max_compute_time_ms in global.json is less",
    ],
    [
      "a pair that is off",
      [at("project", { pairs: { "alice->audit": { enabled: false, reason: "not now" } } })],
      "No pass is made: enabled is false in pairs.alice->audit.enabled in project.json (not now).",
    ],
    [
      "changes that nobody makes",
      [
        at("project", { defaults: { auto_apply: true } }),
        at("global", { subagents: { "*": { can_modify_files: false } } }),
      ],
      "auto_apply does nothing: can_modify_files is false in subagents.*.can_modify_files in global.json.",
    ],
    [
      "a person who is asked all the same",
      [at("project", { defaults: { auto_apply: true } })],
      "A person is asked before changes are applied",
    ],
    [
      "auto_return and the steps of a flow",
      [at("project", { pairs: { "alice->audit": { auto_return: false } } })],
      "a step of a flow leaves goes on to the next step all the same: auto_return in pairs.alice->audit",
    ],
  ])("tells of what does not take effect: %s", (_name, written, note) => {
    const { notes } = of(written)
    expect(notes).toHaveLength(1)
    expect(notes[0]).toContain(note)
  })

  test("has nothing to tell where everything takes effect", () => {
    expect(of([]).notes).toEqual([])
  })
})

describe("the pairs that are known", () => {
  const agents = [
    { name: "alice", mode: "primary" },
    { name: "audit", mode: "subagent" },
    { name: "scout", mode: "subagent" },
    { name: "title", mode: "primary", hidden: true },
  ] as const

  test("are originators with whoever takes passes, and what somebody named", () => {
    const written = [at("project", { pairs: { "build->audit": {}, "*->scout": {} } })]
    const keys = knownPairs({ agents, originators: ["scout"], written }).map(({ from, to }) => `${from}->${to}`)
    expect(keys.toSorted()).toEqual(["alice->audit", "alice->scout", "build->audit", "scout->audit"])
  })
})

describe("what an edit would change", () => {
  const pairs = [
    { from: "alice", to: "audit" },
    { from: "alice", to: "scout" },
  ]

  test("is told for each pair, before anything is saved", () => {
    const before = [at("project", { pairs: { "alice->scout": { timeout_ms: 7 } } })]
    const made = edited(before[0]!.preferences, { key: { level: "defaults" }, set: { timeout_ms: 9 } })
    const after = writtenAfter(before, "project", made.ok ? made.preferences : {})
    expect(difference(pairs, { written: before }, { written: after })).toEqual([
      {
        from: "alice",
        to: "audit",
        setting: "timeout_ms",
        before: 600_000,
        after: 9,
        where: "defaults.timeout_ms in project.json",
      },
    ])
  })

  test("is what resolution makes of it, whatever is edited", () => {
    const settings = fc.record(
      { timeout_ms: fc.integer({ min: 1, max: 9 }), auto_apply: fc.boolean(), pass_files: fc.boolean() },
      { requiredKeys: [] },
    )
    const keys = fc.constantFrom("alice->audit", "alice->*", "*->scout", "*->*")
    const preferences = fc.record(
      { defaults: settings, pairs: fc.dictionary(keys, settings) },
      { requiredKeys: [] },
    ) as fc.Arbitrary<PassOverPreferences>
    fc.assert(
      fc.property(preferences, preferences, preferences, (one, other, next) => {
        const before = { written: [at("project", one), at("global", other)] }
        const after = { written: writtenAfter(before.written, "project", next) }
        const changes = difference(pairs, before, after)
        for (const { from, to } of pairs) {
          const [was, is] = [resolve(from, to, before).values, resolve(from, to, after).values]
          for (const setting of Object.keys(was) as Setting[]) {
            const change = changes.find((found) => found.to === to && found.setting === setting)
            expect(change !== undefined).toBe(!Bun.deepEquals(was[setting], is[setting]))
          }
        }
      }),
      { seed: 11, numRuns: 300 },
    )
  })
})

describe("an edit", () => {
  const pair: PreferenceKey = { level: "pair", from: "alice", to: "audit" }

  test("sets what it names, takes away what is null, and leaves the rest", () => {
    const made = edited(
      { pairs: { "alice->audit": { timeout_ms: 5, auto_apply: true } } },
      { key: pair, set: { timeout_ms: null, pass_files: false } },
    )
    expect(made).toMatchObject({ ok: true, group: { auto_apply: true, pass_files: false } })
    expect(made.ok && groupOf(made.preferences, pair)).toEqual({ auto_apply: true, pass_files: false })
  })

  test("that leaves nothing of a group leaves no group", () => {
    const made = edited({ pairs: { "alice->audit": { timeout_ms: 5 } } }, { key: pair, set: { timeout_ms: null } })
    expect(made).toMatchObject({ ok: true, preferences: { pairs: {} } })
  })

  test.each([
    ["E030", { auto_retrun: true }, "did you mean `auto_return`?"],
    ["E030", { timeout_ms: "30s" }, "write 30000, in milliseconds"],
    ["E031", { enabled: false }, 'take auto_return out, or set "enabled": true'],
  ])("that is not valid is refused with %s and a suggestion", (code, set, suggestion) => {
    const made = edited({ pairs: { "alice->audit": { auto_return: true } } }, { key: pair, set })
    expect(made).toMatchObject({ ok: false, refusal: { code, suggestion } })
  })
})
