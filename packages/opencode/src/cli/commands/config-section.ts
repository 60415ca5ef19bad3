import { isPlainObject, omit } from "remeda"
import { resolveAudit, type Written } from "../../pass-over/domain/config"
import { parse } from "../../pass-over/domain/config-check"
import { resolveLimits } from "../../pass-over/domain/limit"
import { AuditPreference, type PassOverPreferences } from "../../pass-over/domain/preference"
import { against, writtenAfter } from "../../pass-over/domain/preference-edit"
import { editConfig } from "../../pass-over/store/config-edit"
import { refused, usage, type Invocation } from "../command"
import { EXIT } from "../exit"
import { configPlaces, inProject, readConfig } from "../place"
import { nothingThere } from "./config-nothing"

/** A group of a file that holds for all agents, and what of it holds in the end, setting by setting. */
type Section = { name: "limits" | "audit"; holds(places: readonly Written[]): Record<string, unknown> }

const LIMITS: Section = {
  name: "limits",
  holds: (places) => {
    const { tree, ...rest } = resolveLimits(places.map((one) => one.preferences.limits))
    return { ...rest, ...Object.fromEntries(Object.entries(tree).map(([name, value]) => [`tree.${name}`, value])) }
  },
}
const AUDIT: Section = { name: "audit", holds: (places) => resolveAudit(places) }

/** "audit" is an agent of ours too; with a setting of the record of passes, which no subagent has, that is meant. */
export function sectionOf(word: string, setting: string | undefined): Section | undefined {
  if (word === LIMITS.name) return LIMITS
  return word === AUDIT.name && setting !== undefined && Object.hasOwn(AuditPreference.shape, setting)
    ? AUDIT
    : undefined
}

/** A value put into its place, or what stands there taken away. Pure. */
function placed(group: unknown, [name, ...more]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value ?? undefined
  const held: Record<string, unknown> = isPlainObject(group) ? group : {}
  const inner = placed(Object.hasOwn(held, name) ? held[name] : undefined, more, value)
  return inner === undefined ? omit(held, [name]) : { ...held, [name]: inner }
}

const at = (group: unknown, way: readonly string[]): unknown =>
  way.reduce<unknown>(
    (held, name) => (isPlainObject(held) && Object.hasOwn(held, name) ? held[name] : undefined),
    group,
  )

function valid(preferences: unknown): PassOverPreferences {
  const parsed = parse(preferences)
  if (parsed.ok) return parsed.preferences
  throw refused(against(parsed.problems))
}

/** What holds before and after, setting by setting. */
function changes({ holds }: Section, before: readonly Written[], after: readonly Written[]) {
  const [old, now] = [holds(before), holds(after)]
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((setting) => ({ setting, before: old[setting], after: now[setting] }))
    .filter((one) => one.before !== one.after)
}

type Edit = { origin: Written["origin"]; section: Section; setting: string | undefined; value: unknown }

/** Writes a setting of a section, such as `tree.cost`; null takes it away, and without a name all of them go. */
export function writeSection(call: Invocation, { origin, section, setting, value }: Edit) {
  const { out, directory, options } = call
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  if (path === undefined)
    throw usage(`What stands under ${section.name} stands in a file: the project's, or with --global your own.`)
  const way = [section.name, ...(setting?.split(".") ?? [])]
  const written = readConfig(directory)
  const now = written.find((place) => place.origin === origin)?.preferences ?? {}
  if (value === null && at(now, way) === undefined) throw nothingThere(path, way.join("."))
  const after = writtenAfter(written, origin, valid(placed(now, way, value)))
  const changed = changes(section, written, after)
  const dry = options.dryRun === true
  if (!dry) {
    const edits = [{ path: way, value: value === null ? undefined : value }]
    const saved = editConfig(origin === "project" ? inProject(path, directory) : path, edits)
    if (!saved.ok) throw refused(saved.refusal)
  }
  if (out.json) out.value({ where: path, saved: !dry, changes: changed })
  if (!out.json) {
    out.line(dry ? `Nothing is written. In ${path} it would change:` : `Written to ${path}.`)
    if (changed.length === 0) out.line(`What holds of ${section.name} stays as it is.`)
    out.table(
      [{ title: section.name === "limits" ? "LIMIT" : "SETTING" }, { title: "BEFORE" }, { title: "AFTER" }],
      changed.map((one) => [one.setting, JSON.stringify(one.before) ?? "none", JSON.stringify(one.after) ?? "none"]),
    )
  }
  return EXIT.ok
}
