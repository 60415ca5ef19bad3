import { describe, expect, test } from "bun:test"
import { assert, integer, property } from "fast-check"
import type { Explained, Explanation } from "../../opencode/src/pass-over/domain/explain"
import { SETTINGS } from "../../opencode/src/server/settings"
import {
  choices,
  editAt,
  effect,
  explained,
  levelsOf,
  objection,
  pairOption,
  saveTitle,
  settingOptions,
  sourceWords,
  spoken,
  stepOption,
  takeable,
  typed,
  written,
} from "../src/preferences-view"

const info = (setting: string) => {
  const found = SETTINGS.find((one) => one.setting === setting)
  if (!found) throw new Error(`no setting ${setting}`)
  return found
}

const value = (setting: string, value: unknown, source: Partial<Explained["source"]> = {}): Explained => ({
  setting: setting as Explained["setting"],
  value,
  source: { layer: "system", origin: "product", key: [setting], ...source },
  where: "somewhere",
  shadows: [],
})

const STORED: Partial<Explained["source"]> = {
  layer: "pair",
  origin: "stored",
  key: ["pairs", "alice->audit", "enabled"],
}

const pair = (...settings: Explained[]): Explanation => ({
  from: "alice",
  to: "audit",
  settings: [value("enabled", true), value("timeout_ms", 600_000), value("max_compute_time_ms", 900_000), ...settings],
  notes: [],
})

describe("a pair", () => {
  test("is one row: on or off, how long, where a person comes in", () => {
    expect(pairOption(pair(value("require_confirmation", true)), 120)).toEqual({
      title: "alice → audit",
      value: "alice->audit",
      description: "up to 10 min · asks before it starts",
      footer: "● on",
      category: "From alice",
    })
    const off = pairOption({ ...pair(), settings: [value("enabled", false, STORED)] }, 60)
    expect([off.description, off.footer]).toEqual(["", "stored · ○ off"])
  })

  test("has every setting as a row, what people come for first, each with its source", () => {
    const options = settingOptions(
      pair(value("require_confirmation", true, { ...STORED, origin: "project" })),
      SETTINGS,
      120,
    )
    expect(options).toHaveLength(SETTINGS.length)
    expect(options.slice(0, 3)).toMatchObject([
      { title: "Enabled", description: "Yes", footer: "system", category: "This pair" },
      { title: "Require confirmation", footer: "project file · alice->audit" },
      { title: "Require user approval", description: "not set", footer: "" },
    ])
    expect([...new Set(options.map((option) => option.category))]).toEqual(["This pair", "More", "Every pass to audit"])
  })

  test("names a source in the room that there is", () => {
    const source = (over: Partial<Explained["source"]>) => value("enabled", true, over).source
    expect(sourceWords(source(STORED), 120)).toBe("stored · alice->audit")
    expect(sourceWords(source(STORED), 60)).toBe("stored")
    expect(sourceWords(source({ origin: "global", layer: "defaults", key: ["defaults", "x"] }), 120)).toBe(
      "your file · defaults",
    )
    expect([sourceWords(source({ layer: "agent" }), 60), sourceWords(source({}), 60)]).toEqual([
      "the agent's own",
      "system",
    ])
  })
})

describe("a value", () => {
  test("a time is read back exactly as it was written", () => {
    assert(
      property(integer({ min: 0, max: 86_400_000 }), (ms) =>
        expect(typed(info("timeout_ms"), spoken(ms))).toEqual({ ok: true, value: ms }),
      ),
      { seed: 3, numRuns: 500 },
    )
    expect([spoken(90_000), spoken(5_400_000), spoken(1_500)]).toEqual(["1 min 30 s", "1 h 30 min", "1 s 500 ms"])
  })

  test("a time is taken with its unit, and with nothing else", () => {
    const read = (text: string) => typed(info("timeout_ms"), text)
    expect([read("90s"), read("1.5 h"), read(" 10m ")]).toEqual([
      { ok: true, value: 90_000 },
      { ok: true, value: 5_400_000 },
      { ok: true, value: 600_000 },
    ])
    for (const text of ["", "600000", "forever", "10 minutes", "-5 s", "5 s or so"]) {
      expect([text, read(text).ok]).toEqual([text, false])
    }
  })

  test("anything else is what the panel makes of it", () => {
    const read = (setting: string, text: string) => {
      const found = typed(info(setting), text)
      return found.ok && found.value
    }
    expect([read("max_cost", "0.5"), read("max_cost", "much"), read("reason", "because")]).toEqual([
      0.5,
      "much",
      "because",
    ])
    expect(read("constraints", "read_only\n\n paths:src ")).toEqual(["read_only", "paths:src"])
    expect(read("grant", '[{"permission":"edit"}]')).toEqual([{ permission: "edit" }])
    expect(written(info("constraints"), ["read_only", "no_network"])).toBe("read_only\nno_network")
    expect([written(info("timeout_ms"), 600_000), written(info("reason"), undefined)]).toEqual(["10 min", ""])
  })

  test("a switch has its other side, a choice its options, and the rest is typed", () => {
    expect(choices(info("enabled"), value("enabled", true))).toEqual([{ title: "No", value: false }])
    expect(choices(info("isolation"), value("isolation", "auto"))?.map((one) => one.value)).toEqual([
      "auto",
      "none",
      "worktree",
    ])
    expect(choices(info("timeout_ms"), value("timeout_ms", 1))).toBeUndefined()
  })

  test("what speaks against a time names it as people do", () => {
    expect(objection("timeout_ms", "must be at most 86400000, not 172800000")).toBe("must be at most 24 h, not 48 h")
    expect(objection("max_tokens", "must be at most 86400000")).toBe("must be at most 86400000")
  })
})

describe("a change", () => {
  const change = (over: object = {}) => ({
    from: "alice",
    to: "audit",
    setting: "timeout_ms" as const,
    before: 600_000,
    after: 1_200_000,
    where: "x",
    ...over,
  })

  test("says before it is saved what it would change", () => {
    expect(effect([])).toBe("changes nothing")
    expect(effect([change()])).toBe("10 min → 20 min")
    expect(effect([change(), change({ to: "scout" })])).toBe("10 min → 20 min · 2 pairs")
    expect(effect([change(), change({ to: "scout", before: 300_000 })])).toBe("→ 20 min · 2 pairs")
  })

  test("goes where its setting may stand, and can be taken away where it is stored", () => {
    expect([levelsOf(info("enabled")), levelsOf(info("timeout_ms")), levelsOf(info("can_modify_files"))]).toEqual([
      ["pair"],
      ["pair", "defaults"],
      ["subagent"],
    ])
    expect(editAt("subagent", pair(), "can_modify_files", false)).toEqual({
      key: { level: "subagent", subagent: "audit" },
      set: { can_modify_files: false },
    })
    expect(takeable(info("enabled"), value("enabled", false, STORED))).toEqual(["pair"])
    expect(takeable(info("enabled"), value("enabled", false, { ...STORED, origin: "project" }))).toEqual([])
    expect(
      takeable(info("enabled"), value("enabled", false, { ...STORED, key: ["pairs", "*->audit", "enabled"] })),
    ).toEqual([])
  })

  test("is one row a place, and its question names all of it", () => {
    const step = {
      edit: editAt("pair", pair(), "timeout_ms", 1),
      level: "pair" as const,
      take: false,
      changes: [change()],
    }
    expect(stepOption(step, 0, pair(), 120)).toEqual({
      title: "Only alice → audit",
      value: 0,
      footer: "10 min → 20 min",
    })
    expect(stepOption({ ...step, take: true }, 1, pair(), 120).title).toBe(
      "Take away what is stored (only alice → audit)",
    )
    expect(saveTitle(pair(), explained(pair(), "timeout_ms"), 1_200_000)).toBe(
      "Timeout: 10 min → 20 min · alice → audit",
    )
  })
})
