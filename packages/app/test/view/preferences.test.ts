import { describe, expect, test } from "bun:test"
import type { Explained, Explanation } from "../../../opencode/src/pass-over/domain/explain"
import {
  AgentPairPreference,
  DefaultPreference,
  SubagentPreference,
  type Setting,
} from "../../../opencode/src/pass-over/domain/preference"
import { SETTINGS } from "../../../opencode/src/server/settings"
import * as prefs from "../../src/components/pass-over-preferences-view"

describe("preferences", () => {
  const one = (setting: Setting, value: unknown, source: Partial<Explained["source"]> = {}): Explained => ({
    setting,
    value,
    source: { layer: "system", origin: "product", key: [setting], ...source },
    where: "the system default",
    shadows: [],
  })
  const pair = (from: string, to: string, settings: Explained[] = []): Explanation => ({
    from,
    to,
    settings,
    notes: [],
  })

  test("are a table of who to whom", () => {
    const table = prefs.matrix([pair("alice", "audit"), pair("alice", "scout"), pair("scout", "audit")])
    expect([table.from, table.to]).toEqual([
      ["alice", "scout"],
      ["audit", "scout"],
    ])
    expect(table.cell("scout", "scout")).toBeUndefined()
  })

  const info = (setting: Setting) => SETTINGS.find((known) => known.setting === setting)!
  const controlOf = (setting: Setting) => prefs.controlOf(info(setting))

  test("each level offers just the settings that it may hold", () => {
    const SHAPES = { pair: AgentPairPreference, subagent: SubagentPreference, defaults: DefaultPreference }
    const history = ["created_at", "updated_at", "updated_by"]
    for (const level of ["pair", "subagent", "defaults"] as const) {
      const offered = prefs.rows(pair("a", "b", [one("enabled", true)]), SETTINGS, level).map((row) => row.info.setting)
      const held = Object.keys(SHAPES[level].shape).filter((name) => !history.includes(name))
      expect({ level, settings: offered.toSorted() }).toEqual({ level, settings: held.toSorted() as Setting[] })
    }
    const kinds = Object.groupBy(SETTINGS, (known) => known.kind)
    expect(kinds.text?.map((known) => known.setting)).toContain("reason")
    expect(kinds.json?.map((known) => known.setting)).toContain("grant")
    expect(info("notify_on_return").options).toEqual(["always", "only_issues", "never"])
  })

  test("a cell says whether, how long, and where a person comes in", () => {
    const cell = pair("a", "b", [
      one("enabled", true),
      one("can_receive_passes", true),
      one("timeout_ms", 600_000),
      one("max_compute_time_ms", 60_000),
      one("require_confirmation", true),
      one("auto_return", false),
      one("auto_apply", true, { origin: "stored", layer: "pair" }),
    ])
    expect(prefs.cellNotes(cell)).toEqual([
      "up to 1 min",
      "asks before it starts",
      "holds results",
      "applies by itself",
    ])
    expect([
      prefs.allowed(cell),
      prefs.allowed(pair("a", "b")),
      prefs.ownStored(cell),
      prefs.ownStored(pair("a", "b")),
    ]).toEqual([true, false, true, false])
  })

  test("what a field says is read as what it is, and sent as it is where it is not", () => {
    const number = controlOf("timeout_ms")
    expect([prefs.readField(number, "42"), prefs.readField(number, ""), prefs.readField(number, "soon")]).toEqual([
      42,
      "",
      "soon",
    ])
    expect(prefs.readField(controlOf("enabled"), "false")).toBe(false)
    expect(prefs.readField(controlOf("constraints"), " read_only \n\n no_network")).toEqual(["read_only", "no_network"])
    const json = controlOf("grant")
    expect([prefs.readField(json, '[{"permission":"bash"}]'), prefs.readField(json, "[")]).toEqual([
      [{ permission: "bash" }],
      "[",
    ])
    for (const [setting, value] of [
      ["constraints", ["a"]],
      ["timeout_ms", 5],
      ["enabled", true],
      ["notify_on_return", "never"],
      ["grant", []],
    ] as const) {
      const control = controlOf(setting)
      expect(prefs.readField(control, prefs.written(control, value))).toEqual(value as never)
    }
  })

  test("an edit is what was typed, letter by letter; what is stored is what it says, if that is something new", () => {
    const row = (setting: Setting, value: unknown) => ({ info: info(setting), one: one(setting, value) })
    const shown = [row("max_cost", 5), row("grant", []), row("constraints", ["a"]), row("verify_command", undefined)]
    const edits = (more: prefs.Edits) => ({
      text: prefs.fieldText(more.max_cost, shown[0]!),
      set: prefs.toStore(more, shown),
    })
    expect(edits({})).toEqual({ text: "5", set: {} })
    expect(edits({ max_cost: { text: "0." } })).toEqual({ text: "0.", set: { max_cost: 0 } })
    expect(edits({ max_cost: { text: "5.0" } })).toEqual({ text: "5.0", set: {} })
    expect(edits({ max_cost: { text: "Infinity" } })).toEqual({ text: "Infinity", set: { max_cost: "Infinity" } })
    expect(edits({ max_cost: "taken away" })).toEqual({ text: "", set: { max_cost: null } })
    expect(edits({ grant: { text: "[ ]" }, constraints: { text: "a\n" } }).set).toEqual({})
    expect(edits({ grant: { text: "[{" } }).set).toEqual({ grant: "[{" })
    expect(prefs.keyOf("subagent", "a", "b")).toEqual({ level: "subagent", subagent: "b" })
    const [before, after] = [{ text: "1" }, { text: "2" }]
    expect(prefs.typedSince({ max_cost: after, grant: before }, { max_cost: before, grant: before })).toEqual({
      max_cost: after,
    })
  })

  test("edits go along to another level, but those that it cannot hold", () => {
    const edits: prefs.Edits = {
      timeout_ms: { text: "9" },
      can_receive_passes: { text: "true" },
      max_cost: "taken away",
    }
    const { kept, dropped } = prefs.movedTo(edits, SETTINGS, "pair")
    expect(kept).toEqual({ timeout_ms: { text: "9" } })
    expect(dropped.toSorted()).toEqual(["can_receive_passes", "max_cost"])
  })

  test("only what was stored at this very level can be taken away there", () => {
    const stored = (layer: "pair" | "defaults", key: string[]) =>
      prefs.storedHere(one("timeout_ms", 1, { origin: "stored", layer, key }), "pair")
    expect([
      stored("pair", ["pairs", "a->b"]),
      stored("pair", ["pairs", "*->b"]),
      stored("defaults", ["defaults"]),
    ]).toEqual([true, false, false])
  })

  test("values read as people read them", () => {
    expect([
      prefs.readableValue("timeout_ms", 60_000),
      prefs.readableValue("enabled", false),
      prefs.readableValue("reason", undefined),
      prefs.readableValue("constraints", ["a", "b"]),
      prefs.readableValue("max_tokens", 0),
      prefs.label("max_context_size_bytes"),
    ]).toEqual(["1 min", "No", "not set", "a; b", "0", "Max context size"])
  })
})
