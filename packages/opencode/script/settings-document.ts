import type { z } from "zod"
import { configSchema, SHIPPED_VALUES } from "../src/pass-over/domain/config-schema"
import { LIMITS } from "../src/pass-over/domain/limit"
import { narrow } from "../src/pass-over/domain/override"
import { AUDIT_DEFAULTS, InlineOverride, SYSTEM } from "../src/pass-over/domain/preference"
import { AUDIT_TEXT, HISTORY_TEXT, LIMIT_TEXT, SETTING_TEXT, TREE_TEXT } from "../src/pass-over/domain/setting-text"
import { table } from "./markdown"

type Json = z.core.JSONSchema.BaseSchema

const properties = (schema: unknown): Record<string, Json> =>
  ((schema as Json | undefined)?.properties as Record<string, Json> | undefined) ?? {}

const SCHEMA = properties(configSchema())
const section = (name: string) => properties(SCHEMA[name])
const eachOf = (name: string) => properties(SCHEMA[name]?.additionalProperties)

const day = 24 * 60 * 60 * 1000

/** The values that a setting takes, in few words. */
function values(schema: Json): string {
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(", ")
  if (schema.type === "boolean") return "`true`, `false`"
  if (schema.type === "array") return "a list"
  if (schema.type === "object") return "an object"
  if (schema.type === "string") return "text"
  const whole = schema.type === "integer" ? "a whole number" : "a number"
  const least =
    schema.minimum ?? (schema.exclusiveMinimum === 0 ? (schema.type === "integer" ? 1 : "more than 0") : undefined)
  const most = schema.maximum === day ? "86400000 (a day)" : schema.maximum
  if (least !== undefined && most !== undefined) return `${whole}, ${least} to ${most}`
  return least === undefined ? whole : typeof least === "string" ? `${whole}, ${least}` : `${whole}, ${least} or more`
}

const shown = (value: unknown) => (value === undefined ? "–" : `\`${JSON.stringify(value)}\``)

type Name = keyof InlineOverride

const may = (name: Name, now: unknown, wanted: unknown) => narrow({ ...SYSTEM, [name]: now }, { [name]: wanted }).ok

const PROBE = { low: 5_000, high: 6_000 }

// What these may become cannot be tried out with a value or two.
const BY_HAND: Partial<Record<Name, string>> = {
  timeout_ms: "up to `max_compute_time_ms`",
  constraints: "may add to it",
  output_schema: "may give one where there is none",
  max_chain_depth: "may lower it",
}

/** What an agent may do to a setting with an override, tried on the rules themselves. */
export function modelMay(name: string, schema: Json): string {
  if (!(name in InlineOverride.shape)) return "no"
  const setting = name as Name
  if (BY_HAND[setting]) return BY_HAND[setting]
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined)
  if (choices) {
    const open = choices.filter((wanted) => choices.every((now) => may(setting, now, wanted)))
    if (open.length === choices.length) return "yes"
    return open.length === 0 ? "no" : `only ${open.map((value) => `\`${String(value)}\``).join(" or ")}`
  }
  const [lower, higher] = [may(setting, PROBE.high, PROBE.low), may(setting, PROBE.low, PROBE.high)]
  return lower && higher ? "yes" : lower ? "may lower it" : higher ? "may raise it" : "no"
}

type Row = { name: string; schema: Json; text: string | undefined; value: unknown; model?: string }

const settings = (rows: readonly Row[], model: boolean) =>
  table(
    ["Setting", "Values", "Default", ...(model ? ["An agent's override"] : []), "What it does"],
    rows.map(({ name, schema, text, value, model: may }) => [
      `\`${name}\``,
      values(schema),
      shown(value),
      ...(model ? [may ?? ""] : []),
      text ?? "",
    ]),
  )

const ofSettings = (schemas: Record<string, Json>) =>
  settings(
    Object.entries(schemas).map(([name, schema]) => ({
      name,
      schema,
      text: SETTING_TEXT[name as keyof typeof SETTING_TEXT] ?? HISTORY_TEXT[name as keyof typeof HISTORY_TEXT],
      value: SHIPPED_VALUES[name],
      model: modelMay(name, schema),
    })),
    true,
  )

const plain = (schemas: Record<string, Json>, texts: Readonly<Record<string, string>>, defaults: object) =>
  settings(
    Object.entries(schemas).map(([name, schema]) => ({
      name,
      schema,
      text: texts[name],
      value: (defaults as Record<string, unknown>)[name],
    })),
    false,
  )

/** Every setting with what it takes, what holds without it and what it does: from the schema that is enforced. */
export const settingsDocument = (): string =>
  [
    "### `defaults`: every pass",
    ofSettings(section("defaults")),
    '### `pairs`: from one agent to another, `"alice->audit"`',
    ofSettings(eachOf("pairs")),
    "### `subagents`: every pass to a subagent",
    ofSettings(eachOf("subagents")),
    "### `audit`: what is written down",
    plain(section("audit"), AUDIT_TEXT, AUDIT_DEFAULTS),
    "### `limits`: how much at once",
    plain(section("limits"), LIMIT_TEXT, LIMITS),
    "`limits.tree`:",
    plain(properties(section("limits").tree), TREE_TEXT, LIMITS.tree),
  ].join("\n\n")
