import { describe, expect, test } from "bun:test"
import {
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  property,
  record,
  uniqueArray,
  type Arbitrary,
} from "fast-check"
import { resolve, type Layer, type Source, type Valued, type Written } from "../../src/pass-over/domain/config"
import {
  SHIPPED,
  SYSTEM,
  type Effective,
  type InlineOverride,
  type PassOverPreferences,
  type Setting,
} from "../../src/pass-over/domain/preference"

const ORIGINS = ["environment", "stored", "project", "global"] as const
const PATHS = {
  environment: "PASS_OVER_CONFIG_CONTENT",
  stored: "the panel",
  project: ".opencode/pass-over.json",
  global: "~/.config/opencode/pass-over.json",
}

const written = (preferences: Partial<Record<(typeof ORIGINS)[number], PassOverPreferences>>): Written[] =>
  ORIGINS.map((origin) => ({ origin, path: PATHS[origin], preferences: preferences[origin] ?? {} }))

/** "pair project alice->*": enough to tell any two places apart. */
const named = ({ layer, origin, key }: Source) => [layer, origin, ...key.slice(1, -1)].join(" ")
const told = ({ source, value }: Valued) => `${named(source)} = ${String(value)}`

describe("the order of decision 12", () => {
  test("goes from the call through pairs, defaults and agents down to the system", () => {
    const pairs = (base: number) => ({
      "*->*": { timeout_ms: base + 4 },
      "*->audit": { timeout_ms: base + 3 },
      "alice->*": { timeout_ms: base + 2 },
      "alice->audit": { timeout_ms: base + 1 },
    })
    const file = (base: number): PassOverPreferences => ({ defaults: { timeout_ms: base }, pairs: pairs(base) })
    const { values, sources, shadows } = resolve("alice", "audit", {
      inline: { timeout_ms: 1 },
      written: written({ stored: file(100), project: file(200), global: file(300) }),
      agents: { audit: { timeout_ms: 400 } },
    })
    expect(values.timeout_ms).toBe(1)
    expect(named(sources.timeout_ms!)).toBe("inline call")
    expect(shadows.timeout_ms?.map(told)).toEqual([
      "pair stored alice->audit = 101",
      "pair project alice->audit = 201",
      "pair global alice->audit = 301",
      "pair stored alice->* = 102",
      "pair project alice->* = 202",
      "pair global alice->* = 302",
      "pair stored *->audit = 103",
      "pair project *->audit = 203",
      "pair global *->audit = 303",
      "pair stored *->* = 104",
      "pair project *->* = 204",
      "pair global *->* = 304",
      "defaults stored = 100",
      "defaults project = 200",
      "defaults global = 300",
      "agent product = 400",
      "shipped product = 600000",
      "system product = 30000",
    ])
  })

  test("puts a subagent's own settings below the pairs and above everything else", () => {
    const file = (max_memory_mb: number): PassOverPreferences => ({
      subagents: { "*": { max_memory_mb: max_memory_mb + 1 }, audit: { max_memory_mb } },
    })
    const { values, shadows } = resolve("alice", "audit", {
      written: written({ stored: file(100), project: file(200), global: file(300) }),
      agents: { audit: { max_memory_mb: 400 } },
    })
    expect(values.max_memory_mb).toBe(100)
    expect(shadows.max_memory_mb?.map(told)).toEqual([
      "subagent project audit = 200",
      "subagent global audit = 300",
      "subagent stored * = 101",
      "subagent project * = 201",
      "subagent global * = 301",
      "agent product = 400",
      "system product = 4096",
    ])
  })

  test("lets an exact key in the user's global file beat a starred one in the panel", () => {
    const { values } = resolve("alice", "audit", {
      written: written({
        stored: { pairs: { "*->*": { enabled: true } } },
        project: {},
        global: { pairs: { "alice->audit": { enabled: false } } },
      }),
    })
    expect(values.enabled).toBe(false)
  })

  test("takes each setting from its own place", () => {
    const { values } = resolve("alice", "audit", {
      written: written({
        stored: { defaults: { auto_apply: true } },
        project: { pairs: { "alice->audit": { pass_files: false } } },
        global: { subagents: { audit: { can_modify_files: false } } },
      }),
      agents: { audit: { timeout_ms: 5 } },
    })
    expect(values).toMatchObject({
      auto_apply: true,
      pass_files: false,
      can_modify_files: false,
      timeout_ms: 5,
      auto_return: true,
      max_memory_mb: 4_096,
    })
  })

  test("leaves out of it what was written for other agents", () => {
    const { values } = resolve("alice", "audit", {
      written: written({
        stored: { pairs: { "audit->alice": { timeout_ms: 1 }, "scout->*": { timeout_ms: 2 } } },
        project: { pairs: { "*->scout": { timeout_ms: 3 } }, subagents: { scout: { max_memory_mb: 1 } } },
        global: {},
      }),
      agents: { alice: { timeout_ms: 4 }, scout: { timeout_ms: 5 } },
    })
    expect(values).toMatchObject({ timeout_ms: 600_000, max_memory_mb: 4_096 })
  })

  test("has no shadow where only one place says anything", () => {
    const { shadows, sources } = resolve("alice", "audit", { written: [], inline: { output_schema: { type: "x" } } })
    expect(shadows.output_schema).toBeUndefined()
    expect(sources.output_schema).toEqual({ layer: "inline", origin: "call", key: ["output_schema"] })
  })

  test("treats a value that is undefined as one that was not given", () => {
    const { values } = resolve("alice", "audit", {
      written: [],
      inline: { timeout_ms: undefined },
      agents: { audit: { timeout_ms: 7 } },
    })
    expect(values.timeout_ms).toBe(7)
  })

  test("is not fooled by agents that are named like parts of the language", () => {
    for (const name of ["constructor", "__proto__", "toString", "valueOf"]) {
      expect(
        resolve(name, name, { written: written({ stored: { pairs: {} }, project: { subagents: {} }, global: {} }) }),
      ).toMatchObject({ values: { ...SYSTEM, ...SHIPPED } })
    }
  })
})

describe("any configuration", () => {
  // One thing that somebody wrote somewhere. The oracle only sorts these; it never sees the nested configuration.
  type Statement = {
    layer: Extract<Layer, "inline" | "pair" | "subagent" | "defaults" | "agent">
    origin: (typeof ORIGINS)[number]
    from: string
    to: string
    setting: Setting
    value: number | boolean
  }

  const MAY_SAY = {
    inline: ["timeout_ms", "auto_apply", "can_run_tools", "max_chain_depth"],
    pair: ["timeout_ms", "auto_apply", "max_chain_depth", "enabled"],
    subagent: ["can_run_tools", "can_receive_passes", "max_memory_mb"],
    defaults: ["timeout_ms", "auto_apply", "max_chain_depth"],
    agent: ["timeout_ms", "auto_apply", "can_run_tools", "max_memory_mb"],
  } as const satisfies Record<Statement["layer"], readonly Setting[]>

  const AGENTS = ["alice", "scout", "audit"]
  const statement: Arbitrary<Statement> = constantFrom(...(Object.keys(MAY_SAY) as Statement["layer"][])).chain(
    (layer) =>
      record({
        layer: constant(layer),
        origin: constantFrom(...ORIGINS),
        from: constantFrom(...AGENTS, "*"),
        to: constantFrom(...AGENTS, ...(layer === "agent" ? [] : ["*"])),
        setting: constantFrom<Setting>(...MAY_SAY[layer]),
        value: oneof(integer({ min: 2, max: 10 }), boolean()),
      }),
  )

  const where = (said: Statement) =>
    [
      said.layer,
      ...(said.layer === "inline" || said.layer === "agent" ? [] : [said.origin]),
      ...(said.layer === "pair" ? [said.from] : []),
      ...(said.layer === "inline" || said.layer === "defaults" ? [] : [said.to]),
      said.setting,
    ].join(" ")

  function nested(said: readonly Statement[]) {
    const file = (origin: Statement["origin"]) => {
      const mine = said.filter((one) => one.origin === origin)
      const group = (layer: Statement["layer"], key: (one: Statement) => string) => {
        const groups: Record<string, Record<string, unknown>> = {}
        for (const one of mine.filter((one) => one.layer === layer)) {
          groups[key(one)] = { ...groups[key(one)], [one.setting]: one.value }
        }
        return groups
      }
      return {
        pairs: group("pair", (one) => `${one.from}->${one.to}`),
        subagents: group("subagent", (one) => one.to),
        defaults: group("defaults", () => "all").all ?? {},
      } as PassOverPreferences
    }
    const agents: Record<string, InlineOverride> = {}
    for (const one of said.filter((one) => one.layer === "agent")) {
      agents[one.to] = { ...agents[one.to], [one.setting]: one.value }
    }
    const inline = said.filter((one) => one.layer === "inline").map((one) => [one.setting, one.value])
    return {
      written: written({
        environment: file("environment"),
        stored: file("stored"),
        project: file("project"),
        global: file("global"),
      }),
      agents,
      inline: inline.length > 0 ? (Object.fromEntries(inline) as InlineOverride) : undefined,
    }
  }

  const LAYERS = ["inline", "pair", "subagent", "defaults", "agent"]
  const stars = (one: Statement) => {
    if (one.layer === "subagent") return one.to === "*" ? 1 : 0
    if (one.layer !== "pair") return 0
    return (one.to === "*" ? 1 : 0) + (one.from === "*" ? 2 : 0)
  }
  const origin = (one: Statement) => (one.layer === "inline" || one.layer === "agent" ? 0 : ORIGINS.indexOf(one.origin))
  const rank = (one: Statement) => LAYERS.indexOf(one.layer) * 100 + stars(one) * 10 + origin(one)

  const applies = (one: Statement, from: string, to: string) =>
    one.layer === "inline" ||
    one.layer === "defaults" ||
    ((one.to === to || one.to === "*") && (one.layer !== "pair" || one.from === from || one.from === "*"))

  test("resolves as a plain sort of everything that was said about a setting does", () => {
    assert(
      property(
        uniqueArray(statement, { selector: where, maxLength: 30 }),
        constantFrom(...AGENTS),
        constantFrom(...AGENTS),
        (said, from, to) => {
          const resolved = resolve(from, to, nested(said))
          const settings = Object.keys(SYSTEM) as (keyof Effective)[]
          for (const setting of settings) {
            const ranked = said
              .filter((one) => one.setting === setting && applies(one, from, to))
              .toSorted((a, b) => rank(a) - rank(b))
            const expected = [
              ...ranked.map((one) => [one.layer, one.value]),
              ...(setting in SHIPPED ? [["shipped", SHIPPED[setting as keyof InlineOverride]]] : []),
              ["system", SYSTEM[setting]],
            ]
            const all = [
              { source: resolved.sources[setting]!, value: resolved.values[setting] },
              ...(resolved.shadows[setting] ?? []),
            ]
            expect(all.map(({ source, value }) => [source.layer, value])).toEqual(expected)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test("can be changed where the source says: the value stands there", () => {
    assert(
      property(uniqueArray(statement, { selector: where, maxLength: 30 }), (said) => {
        const given = nested(said)
        const { values, sources, shadows } = resolve("alice", "audit", given)
        const found = [
          ...Object.entries(sources).map(([setting, source]) => ({ source, value: values[setting as Setting] })),
          ...Object.values(shadows).flat(),
        ]
        for (const { source, value } of found) {
          if (source.path === undefined) continue
          const file = given.written.find(({ path }) => path === source.path)
          const there = source.key.reduce<unknown>(
            (object, key) => (object as Record<string, unknown>)[key],
            file?.preferences,
          )
          expect(there).toEqual(value)
          expect(file?.origin).toBe(source.origin as Written["origin"])
        }
      }),
      { numRuns: 500 },
    )
  })
})
