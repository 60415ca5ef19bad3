import { isDefined, pickBy, sortBy } from "remeda"
import { parse } from "./config-check"
import {
  AUDIT_DEFAULTS,
  SHIPPED,
  SYSTEM,
  Settings,
  type AuditSettings,
  type Effective,
  type InlineOverride,
  type PassOverPreferences,
  type Setting,
} from "./preference"

/** Where preferences may be written down, the strongest first. */
const ORIGINS = ["environment", "stored", "project", "global"] as const

/** Where preferences were written down. Earlier ones win within a layer. */
export type Written = {
  origin: (typeof ORIGINS)[number]
  /** The file, or what to call the place for a person. */
  path: string
  preferences: PassOverPreferences
}

export const strongestFirst = (written: readonly Written[]): Written[] =>
  sortBy(written, ({ origin }) => ORIGINS.indexOf(origin))

export type Layer = "inline" | "pair" | "subagent" | "defaults" | "agent" | "shipped" | "system"

/** Where a value came from, precise enough to go there and change it. */
export type Source = {
  layer: Layer
  origin: Written["origin"] | "call" | "product"
  path?: string
  /** The way to the value inside its file: ["pairs", "alice->audit", "timeout_ms"]. */
  key: string[]
}

export type Valued = { source: Source; value: unknown }

export type Resolved = {
  values: Effective
  sources: Partial<Record<Setting, Source>>
  /** For each setting what would hold if the winning value were not there, the next one first. */
  shadows: Partial<Record<Setting, Valued[]>>
}

export type Sources = {
  written: readonly Written[]
  /** The defaults that our own agents carry, by agent. */
  agents?: Readonly<Record<string, InlineOverride>>
  inline?: InlineOverride | undefined
}

type Bag = { values: Partial<Record<Setting, unknown>>; source: Omit<Source, "key">; key: string[] }

const SETTINGS = Object.keys(Settings.shape).filter((name): name is Setting => name in Settings.shape)

const product = (layer: Layer, values: object | undefined): Bag[] =>
  values ? [{ values, source: { layer, origin: "product" }, key: [] }] : []

/** All the places that may say something about this pair, the strongest first. */
function bags(from: string, to: string, sources: Sources): Bag[] {
  const layer = (name: Layer, read: (file: Written) => [string[], object | undefined][]): Bag[] =>
    sources.written.flatMap((file) =>
      read(file).flatMap(([key, values]) =>
        values ? [{ values, source: { layer: name, origin: file.origin, path: file.path }, key }] : [],
      ),
    )
  // An exact key beats one with "*" wherever it is written, so the keys are the outer loop.
  const pairs = [`${from}->${to}`, `${from}->*`, `*->${to}`, "*->*"].flatMap((key) =>
    layer("pair", (file) => [[["pairs", key], file.preferences.pairs?.[key]]]),
  )
  const subagents = [to, "*"].flatMap((key) =>
    layer("subagent", (file) => [[["subagents", key], file.preferences.subagents?.[key]]]),
  )
  return [
    ...(sources.inline
      ? [{ values: sources.inline, source: { layer: "inline", origin: "call" }, key: [] } as Bag]
      : []),
    ...pairs,
    ...subagents,
    ...layer("defaults", (file) => [[["defaults"], file.preferences.defaults]]),
    ...product("agent", sources.agents?.[to]),
    ...product("shipped", SHIPPED),
    ...product("system", SYSTEM),
  ]
}

/** The effective preference for an ordered pair, each value with where it came from and what it shadows. Pure. */
export function resolve(from: string, to: string, given: Sources): Resolved {
  const all = bags(from, to, given)
  const values: Partial<Record<Setting, unknown>> = {}
  const sources: Resolved["sources"] = {}
  const shadows: Resolved["shadows"] = {}
  for (const setting of SETTINGS) {
    const found = all.filter((bag) => bag.values[setting] !== undefined)
    const [first, ...rest] = found
    if (!first) continue
    values[setting] = first.values[setting]
    sources[setting] = { ...first.source, key: [...first.key, setting] }
    if (rest.length > 0) {
      shadows[setting] = rest.map((bag) => ({
        source: { ...bag.source, key: [...bag.key, setting] },
        value: bag.values[setting],
      }))
    }
  }
  // Every setting has a system value, so what was collected is whole.
  return { values: { ...SYSTEM, ...(values as Partial<Effective>) }, sources, shadows }
}

/** The guide's entry (3.1). */
export const resolvePreference = (from: string, to: string, override?: InlineOverride, written: Written[] = []) =>
  resolve(from, to, { written, inline: override }).values

/** Audit settings have no pairs: the first place that says something wins. */
export const resolveAudit = (written: readonly Written[]): AuditSettings => ({
  ...AUDIT_DEFAULTS,
  ...Object.assign({}, ...written.toReversed().map((file) => pickBy(file.preferences.audit ?? {}, isDefined))),
})

/** The time a pass really gets: its own, but never more than the subagent may use. */
export const allowedTime = (values: Effective) => Math.min(values.timeout_ms, values.max_compute_time_ms)

/** "pairs.alice->audit.timeout_ms in .opencode/pass-over.json", for a sentence. */
export function describeSource(source: Source): string {
  if (source.layer === "inline") return "this call"
  if (source.origin === "product")
    return (
      { agent: "the agent's own default", shipped: "the shipped default" }[source.layer as string] ??
      "the system default"
    )
  return `${source.key.join(".")} in ${source.path}`
}

/** The guide's entry (3.1): whether a value is a valid configuration. */
export const validate = (config: unknown) => parse(config).ok
