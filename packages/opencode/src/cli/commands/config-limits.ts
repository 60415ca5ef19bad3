import { isPlainObject, omit } from "remeda"
import type { Written } from "../../pass-over/domain/config"
import { parse } from "../../pass-over/domain/config-check"
import { resolveLimits, type Limits } from "../../pass-over/domain/limit"
import type { PassOverPreferences } from "../../pass-over/domain/preference"
import { against, writtenAfter } from "../../pass-over/domain/preference-edit"
import { editConfig } from "../../pass-over/store/config-edit"
import { refused, usage, type Invocation } from "../command"
import { EXIT } from "../exit"
import { configPlaces, inProject, readConfig } from "../place"

export const LIMITS = "limits"

/** A value put into its place, or what stands there taken away. Pure. */
function placed(group: unknown, [name, ...more]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value ?? undefined
  const held: Record<string, unknown> = isPlainObject(group) ? group : {}
  const inner = placed(held[name], more, value)
  return inner === undefined ? omit(held, [name]) : { ...held, [name]: inner }
}

function valid(preferences: unknown): PassOverPreferences {
  const parsed = parse(preferences)
  if (parsed.ok) return parsed.preferences
  throw refused(against(parsed.problems))
}

const flat = ({ tree, ...rest }: Limits): Record<string, unknown> => ({
  ...rest,
  ...Object.fromEntries(Object.entries(tree).map(([name, value]) => [`tree.${name}`, value])),
})

/** What holds before and after, limit by limit. */
function changes(before: readonly Written[], after: readonly Written[]) {
  const [old, now] = [before, after].map((places) => flat(resolveLimits(places.map((one) => one.preferences.limits))))
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])
  return [...names]
    .map((setting) => ({ setting, before: old?.[setting], after: now?.[setting] }))
    .filter((one) => one.before !== one.after)
}

/** Writes one of the limits of a file, such as `tree.cost`; null takes it away, and without a name all of them go. */
export function writeLimit(call: Invocation, origin: Written["origin"], setting: string | undefined, value: unknown) {
  const { out, directory, options } = call
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  if (path === undefined) throw usage("Limits stand in a file: the project's, or with --global your own.")
  const way = [LIMITS, ...(setting?.split(".") ?? [])]
  const written = readConfig(directory)
  const now = written.find((place) => place.origin === origin)?.preferences ?? {}
  const after = writtenAfter(written, origin, valid(placed(now, way, value)))
  const changed = changes(written, after)
  const dry = options.dryRun === true
  if (!dry) {
    const edits = [{ path: way, value: value === null ? undefined : value }]
    const saved = editConfig(origin === "project" ? inProject(path, directory) : path, edits)
    if (!saved.ok) throw refused(saved.refusal)
  }
  if (out.json) out.value({ where: path, saved: !dry, changes: changed })
  if (!out.json) {
    out.line(dry ? `Nothing is written. In ${path} it would change:` : `Written to ${path}.`)
    if (changed.length === 0) out.line("The limits that hold stay as they are.")
    out.table(
      [{ title: "LIMIT" }, { title: "BEFORE" }, { title: "AFTER" }],
      changed.map((one) => [one.setting, JSON.stringify(one.before) ?? "none", JSON.stringify(one.after) ?? "none"]),
    )
  }
  return EXIT.ok
}
