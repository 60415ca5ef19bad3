import { isDeepEqual } from "remeda"
import type { AgentInfo } from "./agent"
import { allowedTime, describeSource, resolve, type Resolved, type Source, type Sources, type Written } from "./config"
import { originates, receives } from "./policy"
import type { Setting } from "./preference"

export type Explained = {
  setting: Setting
  value: unknown
  source: Source
  /** The source in words: "pairs.alice->audit.timeout_ms in .opencode/pass-over.json". */
  where: string
  /** What would hold without it, the next one first. */
  shadows: { value: unknown; source: Source; where: string }[]
}

export type Explanation = { from: string; to: string; settings: Explained[]; notes: string[] }

const where = (resolved: Resolved, setting: Setting) => {
  const source = resolved.sources[setting]
  return source ? describeSource(source) : "the system default"
}

/** Where two values that are each in order do not both take effect, usually because they stand in different places. */
function notes(resolved: Resolved): string[] {
  const { values } = resolved
  const found: string[] = []
  if (!values.enabled || !values.can_receive_passes) {
    const off = values.enabled ? "can_receive_passes" : "enabled"
    found.push(
      `No pass is made: ${off} is false in ${where(resolved, off)}${values.reason ? ` (${values.reason})` : ""}.`,
    )
  }
  if (values.timeout_ms > values.max_compute_time_ms) {
    found.push(
      `A pass gets ${allowedTime(values)} ms, not ${values.timeout_ms}: max_compute_time_ms in ${where(resolved, "max_compute_time_ms")} is less than timeout_ms in ${where(resolved, "timeout_ms")}.`,
    )
  }
  if (values.auto_apply && !values.can_modify_files) {
    found.push(`auto_apply does nothing: can_modify_files is false in ${where(resolved, "can_modify_files")}.`)
  }
  if (values.auto_apply && values.can_modify_files && values.require_user_approval) {
    found.push(
      `A person is asked before changes are applied: require_user_approval in ${where(resolved, "require_user_approval")} beats auto_apply.`,
    )
  }
  if (!values.auto_return) {
    found.push(
      `What a step of a flow leaves goes on to the next step all the same: auto_return in ${where(resolved, "auto_return")} holds results of passes back from their originator. In a flow a person is asked by a step "gate".`,
    )
  }
  return found
}

/** Every setting of an ordered pair with its value, where that comes from, and what it shadows. Pure. */
export function explain(from: string, to: string, sources: Sources): Explanation {
  const resolved = resolve(from, to, sources)
  const settings = (Object.keys(resolved.sources) as Setting[]).flatMap((setting) => {
    const source = resolved.sources[setting]
    if (!source) return []
    const shadows = (resolved.shadows[setting] ?? []).map((shadow) => ({
      ...shadow,
      where: describeSource(shadow.source),
    }))
    return [{ setting, value: resolved.values[setting], source, where: describeSource(source), shadows }]
  })
  return { from, to, settings, notes: notes(resolved) }
}

export type PairOf = { from: string; to: string }

/** Every ordered pair that a pass could be made between: originators with receivers, and what somebody named. */
export function knownPairs(given: {
  agents: readonly AgentInfo[]
  originators: readonly string[]
  written: readonly Written[]
}): PairOf[] {
  const { agents, originators, written } = given
  const from = agents.filter((agent) => originates(agent, originators, written)).map((agent) => agent.name)
  const to = agents.filter((agent) => receives(agent, written)).map((agent) => agent.name)
  const named = written.flatMap(({ preferences }) =>
    Object.keys(preferences.pairs ?? {}).filter((key) => !key.includes("*")),
  )
  const keys = [
    ...from.flatMap((one) => to.filter((other) => other !== one).map((other) => `${one}->${other}`)),
    ...named,
  ]
  return [...new Set(keys)].map((key) => {
    const [one = "", other = ""] = key.split("->")
    return { from: one, to: other }
  })
}

export type Change = PairOf & { setting: Setting; before: unknown; after: unknown; where: string }

/** What would be different for each pair, before anything is saved. */
export function difference(pairs: readonly PairOf[], before: Sources, after: Sources): Change[] {
  return pairs.flatMap(({ from, to }) => {
    const [was, is] = [resolve(from, to, before), resolve(from, to, after)]
    const settings = new Set([...Object.keys(was.sources), ...Object.keys(is.sources)] as Setting[])
    return [...settings]
      .filter((setting) => !isDeepEqual(was.values[setting], is.values[setting]))
      .map((setting) => ({
        from,
        to,
        setting,
        before: was.values[setting],
        after: is.values[setting],
        where: where(is, setting),
      }))
  })
}
