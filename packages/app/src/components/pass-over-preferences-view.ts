import type { Explained, Explanation } from "../../../opencode/src/pass-over/domain/explain"
import type { PreferenceKey } from "../../../opencode/src/pass-over/domain/preference-edit"
import type { Setting } from "../../../opencode/src/pass-over/domain/preference"
import type { SettingInfo } from "../../../opencode/src/server/schema-preference"
import { duration } from "../lib/format"
import { WORDS } from "../lib/words"

export type Cell = { from: string; to: string; explanation: Explanation }
export type Matrix = { from: string[]; to: string[]; cell(from: string, to: string): Explanation | undefined }

/** The pairs as a table: who hands over down the side, who is handed to along the top. */
export function matrix(pairs: readonly Explanation[]): Matrix {
  const cells = new Map(pairs.map((pair) => [`${pair.from}->${pair.to}`, pair]))
  return {
    from: [...new Set(pairs.map((pair) => pair.from))],
    to: [...new Set(pairs.map((pair) => pair.to))],
    cell: (from, to) => cells.get(`${from}->${to}`),
  }
}

export const valueOf = (pair: Explanation, setting: Setting): unknown =>
  pair.settings.find((one) => one.setting === setting)?.value

export const allowed = (pair: Explanation) =>
  valueOf(pair, "enabled") === true && valueOf(pair, "can_receive_passes") !== false

/** What stands in a cell besides on or off: how long it may take, and where a person comes in. */
export function cellNotes(pair: Explanation): string[] {
  const limit = Math.min(Number(valueOf(pair, "timeout_ms")), Number(valueOf(pair, "max_compute_time_ms")))
  return [
    ...(Number.isFinite(limit) ? [WORDS.preferences.time(duration(limit))] : []),
    ...(valueOf(pair, "require_confirmation") === true ? [WORDS.preferences.confirm] : []),
    ...(valueOf(pair, "auto_return") === false ? [WORDS.preferences.hold] : []),
    ...(valueOf(pair, "auto_apply") === true ? [WORDS.preferences.apply] : []),
  ]
}

export const ownStored = (pair: Explanation) =>
  pair.settings.some((one) => one.source.origin === "stored" && one.source.layer === "pair")

export type Level = PreferenceKey["level"]

export const keyOf = (level: Level, from: string, to: string): PreferenceKey => {
  if (level === "pair") return { level, from, to }
  return level === "subagent" ? { level, subagent: to } : { level }
}

export type Control =
  | { kind: "switch" }
  | { kind: "number"; unit: string }
  | { kind: "choice"; options: readonly string[] }
  | { kind: "lines" }
  | { kind: "text" }
  | { kind: "json" }

const unitOf = (setting: string) => {
  const { unit } = WORDS.preferences
  if (setting.endsWith("_ms")) return unit.ms
  if (setting.endsWith("_bytes")) return unit.bytes
  if (setting.endsWith("_minutes")) return unit.minutes
  if (setting.endsWith("_mb")) return unit.mb
  return setting === "max_cost" ? unit.usd : ""
}

/** How a setting is edited. */
export function controlOf({ setting, kind, options }: Pick<SettingInfo, "setting" | "kind" | "options">): Control {
  if (kind === "choice") return { kind, options }
  if (kind === "number") return { kind, unit: unitOf(setting) }
  return { kind }
}

export type Row = { info: SettingInfo; one: Explained }

/** The settings that a level may hold, each with what holds for it now; one without a value is there to be given one. */
export const rows = (pair: Explanation, settings: readonly SettingInfo[], level: Level): Row[] =>
  settings
    .filter((info) => info.levels.includes(level))
    .map((info) => ({ info, one: pair.settings.find((one) => one.setting === info.setting) ?? missing(info.setting) }))

const missing = (setting: Setting): Explained => ({
  setting,
  value: undefined,
  source: { layer: "system", origin: "product", key: [] },
  where: WORDS.preferences.unset,
  shadows: [],
})

/** A value as it stands in its field. */
export const written = (control: Control, value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (control.kind === "lines" && Array.isArray(value)) return value.join("\n")
  if (control.kind === "json") return JSON.stringify(value)
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** What a field says, as a value. What is no number or no JSON stays text: the server says what is wrong with it. */
export function readField(control: Control, text: string): unknown {
  if (control.kind === "switch") return text === "true"
  if (control.kind === "lines")
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
  if (control.kind === "number") {
    const value = Number(text)
    return text.trim() === "" || !Number.isFinite(value) ? text : value
  }
  if (control.kind !== "json") return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** What is in hand of a setting: what its field says, letter by letter, or that what is stored is taken away. */
export type Edit = { text: string } | "taken away"
export type Edits = Partial<Record<Setting, Edit>>

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** What a field shows: what was typed into it, as it was typed, or what holds. */
export function fieldText(edit: Edit | undefined, { info, one }: Row): string {
  if (edit === undefined) return written(controlOf(info), one.value)
  return edit === "taken away" ? "" : edit.text
}

/** What is to be stored, each as the value that its field says; null takes one away. What changes nothing is left out. */
export function toStore(edits: Edits, shown: readonly Row[]): Record<string, unknown> {
  const entries = shown.flatMap(({ info, one }): [string, unknown][] => {
    const edit = edits[info.setting]
    if (edit === undefined) return []
    if (edit === "taken away") return [[info.setting, null]]
    const value = readField(controlOf(info), edit.text)
    return same(value, one.value) ? [] : [[info.setting, value]]
  })
  return Object.fromEntries(entries)
}

/** The edits that another level can hold too, and the settings of those that it cannot. */
export function movedTo(edits: Edits, settings: readonly SettingInfo[], level: Level) {
  const kept: Edits = {}
  const dropped: Setting[] = []
  for (const { setting, levels } of settings) {
    const edit = edits[setting]
    if (edit === undefined) continue
    // Only what is stored at a level can be taken away there.
    const fits = edit !== "taken away" && levels.includes(level)
    if (fits) kept[setting] = edit
    if (!fits) dropped.push(setting)
  }
  return { kept, dropped }
}

/** What was typed since others were sent. */
export const typedSince = (edits: Edits, sent: Edits): Edits =>
  Object.fromEntries(Object.entries(edits).filter(([setting, edit]) => sent[setting as Setting] !== edit))

/** Whether a value was stored at just this level, so that it can be taken away there. */
export const storedHere = ({ source }: Pick<Explained, "source">, level: Level) =>
  source.origin === "stored" && source.layer === level && !source.key.some((part) => part.includes("*"))

/** A value for people: in words where it is yes or no, with its time where it is one. */
export function readableValue(setting: string, value: unknown): string {
  if (value === undefined || value === null || value === "") return WORDS.preferences.unset
  if (typeof value === "boolean") return value ? WORDS.preferences.yes : WORDS.preferences.no
  if (typeof value === "number" && setting.endsWith("_ms")) return duration(value)
  if (Array.isArray(value))
    return value.length === 0
      ? WORDS.preferences.unset
      : value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("; ")
  return typeof value === "string" ? value : JSON.stringify(value)
}

export const label = (setting: string) => {
  const words = setting.replace(/_ms$|_bytes$|_mb$/, "").replaceAll("_", " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}
