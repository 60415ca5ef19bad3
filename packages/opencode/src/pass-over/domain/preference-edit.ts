import { isDefined, pickBy } from "remeda"
import { describeProblem, parse, type Problem } from "./config-check"
import { strongestFirst, type Written } from "./config"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import type { PassOverPreferences } from "./preference"

/** What a group of settings belongs to. */
export type PreferenceKey =
  | { level: "pair"; from: string; to: string }
  | { level: "subagent"; subagent: string }
  | { level: "defaults" }

/** Settings to write; null takes one away, so that the next layer decides about it again. */
export type PreferenceEdit = { key: PreferenceKey; set: Readonly<Record<string, unknown>> }

type Group = Record<string, unknown>

/** The way to a group inside of preferences: ["pairs", "alice->audit"]. */
export function groupPath(key: PreferenceKey): string[] {
  if (key.level === "pair") return ["pairs", `${key.from}->${key.to}`]
  if (key.level === "subagent") return ["subagents", key.subagent]
  return ["defaults"]
}

/** The group itself, as it stands. */
export function groupOf(preferences: PassOverPreferences, key: PreferenceKey): Group {
  if (key.level === "pair") return preferences.pairs?.[`${key.from}->${key.to}`] ?? {}
  if (key.level === "subagent") return preferences.subagents?.[key.subagent] ?? {}
  return preferences.defaults ?? {}
}

const without = (group: Group) => pickBy(group, (value) => isDefined(value) && value !== null)

function placed(preferences: PassOverPreferences, key: PreferenceKey, group: Group): unknown {
  const keep = Object.keys(group).length > 0
  if (key.level === "defaults") return { ...preferences, defaults: group }
  const [section = "", name = ""] = groupPath(key)
  const { [name]: _before, ...others } = (preferences[section as "pairs" | "subagents"] ?? {}) as Record<
    string,
    unknown
  >
  return { ...preferences, [section]: keep ? { ...others, [name]: group } : others }
}

/** Everything that speaks against preferences as they would be. What to do about one fault alone is its suggestion. */
export function against(problems: readonly Problem[]): Refusal {
  const [only] = problems.length === 1 ? problems : []
  const conflict = problems.every((problem) => problem.code === PassOverErrorCode.PREFERENCE_CONFLICT)
  return refuse(
    conflict ? PassOverErrorCode.PREFERENCE_CONFLICT : PassOverErrorCode.CONFIG_INVALID,
    problems.map((one) => describeProblem(only ? bare(one) : one)).join("\n"),
    {
      suggestion: only?.suggestion ?? "Correct it and try again; docs/configuration.md has every setting.",
      detail: { problems },
    },
  )
}

const bare = ({ suggestion: _suggestion, ...problem }: Problem): Problem => problem

export type Edited = { ok: true; preferences: PassOverPreferences; group: Group } | { ok: false; refusal: Refusal }

/** Preferences as they would be after an edit, or everything that speaks against it. Pure. */
export function edited(preferences: PassOverPreferences, { key, set }: PreferenceEdit): Edited {
  const group = without({ ...groupOf(preferences, key), ...set })
  const parsed = parse(placed(preferences, key, group))
  if (parsed.ok) return { ok: true, preferences: parsed.preferences, group: groupOf(parsed.preferences, key) }
  return { ok: false, refusal: against(parsed.problems) }
}

/** The places that speak, with an edit made in one of them: what `difference` compares with what holds now. */
export const writtenAfter = (
  written: readonly Written[],
  origin: Written["origin"],
  preferences: PassOverPreferences,
): Written[] => {
  const path = origin === "stored" ? "the stored preferences" : "pass-over.json"
  const known = written.some((one) => one.origin === origin)
  const changed = written.map((one) => (one.origin === origin ? { ...one, preferences } : one))
  return known ? changed : strongestFirst([{ origin, path, preferences }, ...changed])
}
