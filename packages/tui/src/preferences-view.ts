import {
  allowed,
  cellNotes,
  keyOf,
  label,
  ownStored,
  readableValue,
  readField,
  storedHere,
  type Level,
} from "../../app/src/components/pass-over-preferences-view"
import { WORDS } from "../../app/src/lib/words"
import { oneLine } from "../../opencode/src/cli/clean"
import type { Change, Explained, Explanation } from "../../opencode/src/pass-over/domain/explain"
import type { PreferenceEdit } from "../../opencode/src/pass-over/domain/preference-edit"
import type { SettingInfo } from "../../opencode/src/server/schema-preference"
import { pairName } from "./history-view"
import { besides, short } from "./lines"

const on = (yes: boolean) => (yes ? `● ${WORDS.preferences.on}` : `○ ${WORDS.preferences.off}`)

/** A pair as one row: whether it is on, and what is worth knowing before. */
export function pairOption(pair: Explanation, columns: number) {
  const title = pairName(pair.from, pair.to)
  const footer = `${ownStored(pair) ? "stored · " : ""}${on(allowed(pair))}`
  const notes = allowed(pair) ? cellNotes(pair).join(" · ") : ""
  return {
    title,
    value: `${pair.from}->${pair.to}`,
    description: short(notes, besides(columns, title, footer)),
    footer,
    category: `From ${oneLine(pair.from)}`,
  }
}

const NARROW = 80
const PRODUCT = { agent: "the agent's own", shipped: "shipped" } as Record<string, string>
const ORIGIN = {
  environment: "environment",
  stored: "stored",
  project: "project file",
  global: "your file",
} as Record<string, string>

/** Where a value comes from, in as few words as a row has room for. */
export function sourceWords({ layer, origin, key }: Explained["source"], width: number): string {
  const place = ORIGIN[origin]
  if (!place) return PRODUCT[layer] ?? "system"
  if (width < NARROW) return place
  return `${place} · ${oneLine(key.length > 2 ? (key[1] ?? "") : (key[0] ?? ""))}`
}

// What people come for stands first.
const FIRST: readonly string[] = [
  "enabled",
  "require_confirmation",
  "require_user_approval",
  "auto_return",
  "auto_apply",
  "timeout_ms",
  "idle_timeout_ms",
  "max_cost",
  "max_tokens",
]

const rank = ({ setting }: SettingInfo) => {
  const at = FIRST.indexOf(setting)
  return at < 0 ? FIRST.length : at
}

export const explained = (pair: Explanation, setting: string): Explained =>
  pair.settings.find((one) => one.setting === setting) ?? {
    setting: setting as Explained["setting"],
    value: undefined,
    source: { layer: "system", origin: "product", key: [] },
    where: WORDS.preferences.unset,
    shadows: [],
  }

const MOST = 60
const cut = (text: string) => (text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text)
const shown = (setting: string, value: unknown) => cut(oneLine(readableValue(setting, value)))

/** Every setting of a pair as one row, with what holds and where that comes from. */
export function settingOptions(pair: Explanation, settings: readonly SettingInfo[], width: number) {
  const heading = (info: SettingInfo) => {
    if (!info.levels.includes("pair")) return `Every pass to ${oneLine(pair.to)}`
    return rank(info) < FIRST.length ? "This pair" : "More"
  }
  const order = ["This pair", "More", `Every pass to ${oneLine(pair.to)}`]
  return settings
    .toSorted((a, b) => order.indexOf(heading(a)) - order.indexOf(heading(b)) || rank(a) - rank(b))
    .map((info) => {
      const one = explained(pair, info.setting)
      const set = one.value !== undefined
      return {
        title: label(info.setting),
        value: info.setting,
        description: shown(info.setting, one.value),
        footer: set ? sourceWords(one.source, width) : "",
        category: heading(info),
      }
    })
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }
const PIECE = /(\d+(?:\.\d+)?)\s*(ms|min|s|m|h)/g
const NAMED = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const

/** "1 h 30 min": a time so that it is read back as exactly the same. */
export function spoken(ms: number): string {
  const pieces: string[] = []
  let rest = ms
  for (const [unit, size] of NAMED) {
    const count = Math.floor(rest / size)
    if (count > 0) pieces.push(`${count} ${unit}`)
    rest -= count * size
  }
  return pieces.join(" ") || "0 s"
}

const timed = (setting: string) => setting.endsWith("_ms")

/** A value as it stands in the field where it is edited. */
export function written({ setting, kind }: SettingInfo, value: unknown): string {
  if (value === undefined || value === null) return ""
  if (timed(setting) && typeof value === "number") return spoken(value)
  if (kind === "lines" && Array.isArray(value)) return value.join("\n")
  return typeof value === "string" ? value : JSON.stringify(value)
}

export type Typed = { ok: true; value: unknown } | { ok: false; message: string }

/** What was typed, as a value. A time has its unit, because a bare number means seconds to one and milliseconds to another. */
export function typed({ setting, kind }: SettingInfo, text: string): Typed {
  if (!timed(setting))
    return {
      ok: true,
      value: readField(kind === "number" ? { kind, unit: "" } : { kind: asText(kind) }, text),
    }
  const rest = text.replaceAll(PIECE, "").trim()
  const pieces = [...text.matchAll(PIECE)]
  if (rest !== "" || pieces.length === 0)
    return { ok: false, message: `"${oneLine(text)}" is no time. Write 90 s, 10 min or 1 h 30 min.` }
  const ms = pieces.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? 0), 0)
  return { ok: true, value: Math.round(ms) }
}

const asText = (kind: SettingInfo["kind"]) => (kind === "lines" || kind === "json" ? kind : "text")

const LEVELS: readonly Level[] = ["pair", "subagent", "defaults"]

/** Where a setting of a pair can be stored. */
export const levelsOf = (info: SettingInfo): Level[] => LEVELS.filter((level) => info.levels.includes(level))

export const editAt = (level: Level, pair: Explanation, setting: string, value: unknown): PreferenceEdit => ({
  key: keyOf(level, pair.from, pair.to),
  set: { [setting]: value },
})

/** Where something is stored just there, so that it can be taken away. */
export const takeable = (info: SettingInfo, one: Explained): Level[] =>
  levelsOf(info).filter((level) => storedHere(one, level))

const place = (level: Level, pair: Explanation) => {
  if (level === "pair") return `Only ${pairName(pair.from, pair.to)}`
  return level === "subagent" ? `Every pass to ${oneLine(pair.to)}` : "The whole project"
}

/** What would be different, as far as a row has room for it. */
export function effect(changes: readonly Change[]): string {
  const [first] = changes
  if (!first) return "changes nothing"
  const pairs = new Set(changes.map(({ from, to }) => `${from}->${to}`)).size
  const same = (name: "before" | "after") =>
    changes.every((one) => JSON.stringify(one[name]) === JSON.stringify(first[name]))
  const step = [
    ...(same("before") ? [shown(first.setting, first.before)] : []),
    ...(same("after") ? [`→ ${shown(first.setting, first.after)}`] : []),
  ].join(" ")
  return [step, ...(pairs > 1 ? [`${pairs} pairs`] : [])].filter(Boolean).join(" · ")
}

/** What speaks against a value, with its times as people read them. */
export const objection = (setting: string, message: string) =>
  timed(setting) ? message.replaceAll(/\b\d{4,}\b/g, (ms) => spoken(Number(ms))) : message

export type Step = { edit: PreferenceEdit; level: Level; take: boolean; changes: readonly Change[] }

/** What can be done with a value: where it could go, each with what that would change, before anything is saved. */
export function stepOption({ level, take, changes }: Step, index: number, pair: Explanation, columns: number) {
  const where = place(level, pair)
  const title = take ? `Take away what is stored (${where.charAt(0).toLowerCase()}${where.slice(1)})` : where
  return { title, value: index, footer: short(effect(changes), Math.max(12, besides(columns, title, ""))) }
}

/** The question that such a choice answers. */
export const saveTitle = (pair: Explanation, one: Explained, value: unknown) =>
  `${label(one.setting)}: ${shown(one.setting, one.value)} → ${shown(one.setting, value)} · ${pairName(pair.from, pair.to)}`

/** A switch has one other value, a choice has its options; everything else is typed. */
export function choices(info: SettingInfo, one: Explained): { title: string; value: unknown }[] | undefined {
  if (info.kind === "switch")
    return [{ title: readableValue(info.setting, one.value !== true), value: one.value !== true }]
  if (info.kind !== "choice") return
  return info.options.map((value) => ({ title: value.replaceAll("_", " "), value }))
}
