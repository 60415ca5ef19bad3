import { clip } from "./clip"
import type { z } from "zod"
import { enforced, rulesOf, oddIn } from "./constraint"
import { withoutFaults } from "./config-partial"
import { PassOverErrorCode } from "./errors"
import { bound, kindOf } from "./issue-text"
import { LimitPreference } from "./limit"
import { nearest } from "./nearest"
import { schemaFaults } from "./output-schema-check"
import {
  AgentPairPreference,
  AuditPreference,
  DefaultPreference,
  PassOverPreferences,
  SubagentPreference,
} from "./preference"

/** Something that is wrong with preferences: where, what, and what to do about it. */
export type Problem = {
  path: (string | number)[]
  code: typeof PassOverErrorCode.CONFIG_INVALID | typeof PassOverErrorCode.PREFERENCE_CONFLICT
  message: string
  suggestion?: string
}

type Path = Problem["path"]

const SECTIONS = {
  defaults: Object.keys(DefaultPreference.shape),
  pairs: Object.keys(AgentPairPreference.shape),
  subagents: Object.keys(SubagentPreference.shape),
  audit: Object.keys(AuditPreference.shape),
  limits: Object.keys(LimitPreference.shape),
} as const satisfies Record<Exclude<keyof PassOverPreferences, "$schema">, string[]>
type Section = keyof typeof SECTIONS

const isSection = (name: unknown): name is Section => typeof name === "string" && Object.hasOwn(SECTIONS, name)

const sectionsWith = (name: string) =>
  (Object.keys(SECTIONS) as Section[]).filter((one) => SECTIONS[one].includes(name))

const meant = (word: string, known: readonly string[]) => {
  const near = nearest(word, known)
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}

const FROM_KEY: Record<string, string> = {
  from: "`from` and `to` come from the key of the pair; leave it out",
  to: "`from` and `to` come from the key of the pair; leave it out",
  subagent_id: "the subagent is the key; leave it out",
}

/** Where an unknown setting belongs, or what was meant by it. */
function elsewhere(key: string, section: Section | undefined): string | undefined {
  if (section === undefined) {
    const homes = sectionsWith(key)
    const home = homes.length > 0 ? `\`${key}\` belongs into ${homes.join(" or ")}` : undefined
    return meant(key, ["$schema", ...Object.keys(SECTIONS)]) ?? home
  }
  if (section !== "defaults" && section !== "audit" && Object.hasOwn(FROM_KEY, key)) return FROM_KEY[key]
  const homes = sectionsWith(key)
  if (homes.length > 0) return `\`${key}\` belongs into ${homes.join(" or ")}, not into ${section}`
  return meant(key, SECTIONS[section])
}

/** A value as its writer would recognise it, never longer than a line. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object") return "an object"
  const text = JSON.stringify(value)
  return clip(text, 60)
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, sec: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }

/** "30s" where milliseconds are wanted, "true" in quotes: what was meant is plain. */
function repaired(path: Path, value: unknown, expected: string): string | undefined {
  if (typeof value !== "string") return undefined
  if (expected === "boolean") {
    const word = value.trim().toLowerCase()
    if (["true", "yes", "on"].includes(word)) return "write true, without quotes"
    return ["false", "no", "off"].includes(word) ? "write false, without quotes" : undefined
  }
  if (expected !== "int" && expected !== "number") return undefined
  const found = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(value)
  const unit = UNIT_MS[found?.[2]?.toLowerCase() ?? ""]
  if (found?.[1] === undefined) return undefined
  if (unit !== undefined && String(path.at(-1)).endsWith("_ms"))
    return `write ${Number(found[1]) * unit}, in milliseconds`
  return found[2] === "" ? `write ${found[1]}, without quotes` : undefined
}

const within = (input: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined),
    input,
  )

function problem(path: Path, message: string, suggestion?: string): Problem {
  return { path, code: PassOverErrorCode.CONFIG_INVALID, message, ...(suggestion ? { suggestion } : {}) }
}

/** A fault of the schema in words for the person who wrote the file. */
function inWords(issue: z.core.$ZodIssue, input: unknown): Problem[] {
  const path = issue.path.map((piece) => (typeof piece === "symbol" ? String(piece) : piece))
  const value = within(input, path)
  if (issue.code === "invalid_key") {
    const key = String(path.at(-1))
    const pieces = key.split(/\s*(?:->|=>|→|>)\s*/)
    const written =
      pieces.length === 2 && pieces.every((piece) => /^[^\s>]+$/.test(piece)) ? pieces.join("->") : undefined
    const suggestion = written !== undefined && written !== key ? `write "${written}"` : undefined
    return issue.issues.map((one) =>
      problem(path, one.code === "too_small" ? "a name must not be empty" : one.message, suggestion),
    )
  }
  if (issue.code === "unrecognized_keys") {
    const section = isSection(path[0]) ? path[0] : undefined
    return issue.keys.map((key) => problem([...path, key], `unknown setting "${key}"`, elsewhere(key, section)))
  }
  if (issue.code === "invalid_type") {
    const wanted = kindOf(issue.expected)
    return [problem(path, `must be ${wanted}, not ${shown(value)}`, repaired(path, value, issue.expected))]
  }
  if (issue.code === "invalid_value") {
    const words = issue.values.map(String)
    const suggestion = typeof value === "string" ? meant(value, words) : undefined
    return [problem(path, `must be one of ${words.join(", ")}, not ${shown(value)}`, suggestion)]
  }
  if (issue.code === "too_big" || issue.code === "too_small") {
    return [problem(path, `${bound(issue)}, not ${shown(value)}`)]
  }
  return [problem(path, issue.message)]
}

const target = (pair: string) => pair.split("->")[1] ?? "*"

type Conflict = [path: Path, message: string, suggestion: string]

/** What a subagent may use or do, where this same file says so. */
function ofSubagent<K extends keyof SubagentPreference>(preferences: PassOverPreferences, to: string, setting: K) {
  for (const name of to === "*" ? ["*"] : [to, "*"]) {
    const value = Object.hasOwn(preferences.subagents ?? {}, name)
      ? preferences.subagents?.[name]?.[setting]
      : undefined
    if (value !== undefined) return { value, name }
  }
  return undefined
}

function conflictsOfPair(key: string, pair: AgentPairPreference, preferences: PassOverPreferences): Conflict[] {
  const found: Conflict[] = []
  const at = (setting: string): Path => ["pairs", key, setting]
  const [from, to] = [key.split("->")[0], target(key)]
  if (pair.enabled === false) {
    for (const setting of ["auto_return", "auto_apply"] as const) {
      if (pair[setting] !== true) continue
      found.push([
        at(setting),
        `${key} is disabled, so nothing can come back that ${setting} could act on`,
        `take ${setting} out, or set "enabled": true`,
      ])
    }
  }
  if (from === to && to !== "*" && pair.enabled !== false) {
    found.push([["pairs", key], "an agent cannot pass work to itself", "take the pair out, or name another agent"])
  }
  const most = ofSubagent(preferences, to, "max_compute_time_ms")
  if (pair.timeout_ms !== undefined && most && pair.timeout_ms > most.value) {
    found.push([
      at("timeout_ms"),
      `${pair.timeout_ms} ms is more than subagents.${most.name}.max_compute_time_ms allows (${most.value} ms)`,
      `lower timeout_ms to ${most.value}, or raise max_compute_time_ms`,
    ])
  }
  const writes = ofSubagent(preferences, to, "can_modify_files")
  if (pair.auto_apply === true && writes?.value === false) {
    found.push([
      at("auto_apply"),
      `subagents.${writes.name}.can_modify_files is false, so there is never anything to apply`,
      "set auto_apply to false, or allow the subagent to modify files",
    ])
  }
  if (pair.auto_apply === true && pair.constraints?.includes("read_only")) {
    found.push([
      at("auto_apply"),
      "the pair's constraints say read_only, so there is never anything to apply",
      "set auto_apply to false, or take read_only out of the constraints",
    ])
  }
  const takes = ofSubagent(preferences, to, "can_receive_passes")
  if (pair.enabled === true && to !== "*" && takes?.value === false) {
    found.push([
      at("enabled"),
      `subagents.${takes.name}.can_receive_passes is false, so the pair cannot be enabled`,
      "set can_receive_passes to true, or take the pair out",
    ])
  }
  return found
}

const conflictsOfSubagent = (name: string, settings: SubagentPreference): Conflict[] =>
  settings.validate_output === false && settings.output_schema !== undefined
    ? [
        [
          ["subagents", name, "output_schema"],
          "validate_output is false, so the schema is never looked at",
          "take output_schema out, or set validate_output to true",
        ],
      ]
    : []

/** Settings of one place that cannot hold together (E031). Pure; the same for a file and for what is stored. */
export function conflicts(preferences: PassOverPreferences): Problem[] {
  return [
    ...Object.entries(preferences.pairs ?? {}).flatMap(([key, pair]) => conflictsOfPair(key, pair, preferences)),
    ...Object.entries(preferences.subagents ?? {}).flatMap(([name, settings]) => conflictsOfSubagent(name, settings)),
  ].map(([path, message, suggestion]) => ({
    path,
    code: PassOverErrorCode.PREFERENCE_CONFLICT,
    message,
    suggestion,
  }))
}

/** Constraints that nothing enforces: every pass of their pair would be refused. */
const vain = ({ pairs = {} }: PassOverPreferences): Problem[] =>
  Object.entries(pairs).flatMap(([key, { constraints = [] }]) =>
    constraints.flatMap((constraint, index) =>
      rulesOf(constraint) ? [] : [problem(["pairs", key, "constraints", index], ...vainly(constraint))],
    ),
  )

function vainly(constraint: string): [message: string, suggestion: string] {
  const odd = oddIn(constraint)
  if (odd) return [`${shown(constraint)} cannot be enforced: "${odd.value}" is not read as a ${odd.what}`, odd.written]
  return [
    `${shown(constraint)} is nothing that can be enforced`,
    `write one of ${enforced()}; what is only to be asked of the agent belongs into its prompt or into an objective`,
  ]
}

/** Schemas that nothing can be checked by: every pass to their subagent would be refused. */
const unread = ({ subagents = {} }: PassOverPreferences): Problem[] =>
  Object.entries(subagents).flatMap(([name, { output_schema }]) =>
    schemaFaults(output_schema ?? {}).map(({ path, message, suggestion }) =>
      problem(["subagents", name, "output_schema", ...path], message, suggestion),
    ),
  )

export type Parsed = { ok: true; preferences: PassOverPreferences } | { ok: false; problems: Problem[] }

/**
 * Everything that is wrong with a preferences value, or the value. Contradictions are looked for in what is valid
 * of it. With
 * `wishes` a constraint that nothing enforces and a schema that cannot be read may stay: of what was stored once, only
 * passes of that pair or subagent are refused.
 */
export function parse(input: unknown, { wishes = false } = {}): Parsed {
  const parsed = PassOverPreferences.safeParse(input)
  const issues = parsed.error?.issues ?? []
  const valid = parsed.data ?? PassOverPreferences.safeParse(withoutFaults(input, issues)).data ?? {}
  const problems = [
    ...issues.flatMap((issue) => inWords(issue, input)),
    ...(wishes ? [] : [...vain(valid), ...unread(valid)]),
    ...conflicts(valid),
  ]
  return problems.length > 0 ? { ok: false, problems } : { ok: true, preferences: valid }
}

/** "pairs.alice->audit.timeout: unknown setting "timeout"; did you mean `timeout_ms`?" */
export function describeProblem({ path, message, suggestion }: Problem): string {
  const where = path.length > 0 ? `${path.join(".")}: ` : "the file "
  return `${where}${message}${suggestion ? `; ${suggestion}` : ""}`
}
