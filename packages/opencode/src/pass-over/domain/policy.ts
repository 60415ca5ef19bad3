import { pick } from "remeda"
import type { AgentInfo } from "./agent"
import { resolve, describeSource, type Resolved, type Source, type Written } from "./config"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import { narrow } from "./override"
import type { Pass } from "./pass"
import type { Effective, InlineOverride, Setting } from "./preference"
import type { MemoryLimit } from "./shortage"

export type Asked = {
  from: string
  to: string
  override?: InlineOverride | undefined
  /** A person's override has no limits, a model's may only narrow. */
  by: "person" | "model"
  /** How many agents a call above has said that its chain may have. */
  agents_at_most?: number | undefined
}

export type Policy = {
  values: Effective
  resolved: Resolved
  /** What an audit entry names: the pair where there is one, else the layer that decided. */
  name: string
  overrides: Record<string, unknown>
}

export type Ruled = { ok: true; policy: Policy } | { ok: false; refusal: Refusal }

/** An agent that work may be passed to: a subagent, or any agent that somebody named as the target of a pair. */
export function receives(agent: AgentInfo, written: readonly Written[]): boolean {
  if (agent.hidden) return false
  if (agent.mode !== "primary") return true
  return named(written, (_from, to) => to === agent.name)
}

/** An agent that may pass work on: a primary agent, one of ours that is marked so, or the source of a pair. */
export function originates(agent: AgentInfo, marked: readonly string[], written: readonly Written[]): boolean {
  if (agent.hidden) return false
  if (agent.mode === "primary" || marked.includes(agent.name)) return true
  return named(written, (from) => from === agent.name)
}

const named = (written: readonly Written[], matches: (from: string, to: string) => boolean) =>
  written.some(({ preferences }) =>
    Object.entries(preferences.pairs ?? {}).some(([key, pair]) => {
      const [from = "", to = ""] = key.split("->")
      return pair.enabled !== false && matches(from, to)
    }),
  )

function target(to: string, agents: readonly AgentInfo[], written: readonly Written[]): Refusal | undefined {
  const agent = agents.find((candidate) => candidate.name === to)
  if (agent && receives(agent, written)) return
  const others = agents.filter((candidate) => receives(candidate, written)).map((candidate) => candidate.name)
  const known = others.length > 0 ? others.join(", ") : "none"
  if (!agent) {
    return refuse(PassOverErrorCode.INVALID_SUBAGENT, `There is no agent "${to}".`, {
      suggestion: `Choose one of: ${known}.`,
      detail: { agents: others },
    })
  }
  return refuse(PassOverErrorCode.INVALID_SUBAGENT, `"${to}" is a primary agent and takes no passes.`, {
    suggestion: `Choose one of: ${known}; or name a pair "…->${to}" in pass-over.json.`,
    detail: { agents: others },
  })
}

function disabled({ from, to }: Asked, resolved: Resolved): Refusal | undefined {
  const { values } = resolved
  const off: Setting | undefined = values.enabled
    ? values.can_receive_passes
      ? undefined
      : "can_receive_passes"
    : "enabled"
  if (!off) return
  const source = resolved.sources[off]
  const where = source ? describeSource(source) : "the preferences"
  const because = off === "enabled" && values.reason ? `: ${values.reason}` : ""
  return refuse(
    PassOverErrorCode.DISABLED_PAIR,
    `${from} may not pass work to ${to}; ${off} is false in ${where}${because}.`,
    {
      suggestion: `Do this part yourself or choose another agent; the user can change ${off} there (pass-over config explain ${from} ${to}).`,
      detail: { setting: off, source: where, ...(values.reason ? { reason: values.reason } : {}) },
    },
  )
}

// What a pass ran under that was made before a setting was there: its default, and the project itself as the only place.
const OLDER: Effective = { ...resolve("", "", { written: [] }).values, isolation: "none" }

/** The settings that held for a pass, each with a value: older passes know of fewer. */
export const valuesOf = ({ preference }: Pick<Pass, "preference">): Effective => ({
  ...OLDER,
  ...(preference.values as Partial<Effective> | undefined),
})

const sourcesOf = ({ preference }: Pick<Pass, "preference">) => (preference.sources ?? {}) as Resolved["sources"]

export const sourceOf = (pass: Pick<Pass, "preference">, setting: Setting): Source | undefined =>
  sourcesOf(pass)[setting]

/** "require_confirmation: pairs.alice->audit.require_confirmation in .opencode/pass-over.json", for whoever is asked because of it. */
export function policyOf(pass: Pick<Pass, "preference">, setting: Setting): string {
  const source = sourceOf(pass, setting)
  return source ? `${setting}: ${describeSource(source)}` : setting
}

/** The memory that a pass's commands are held to, where somebody has said so: the system's own number is no limit. */
export function memoryOf(pass: Pick<Pass, "preference">): MemoryLimit | undefined {
  const source = sourceOf(pass, "max_memory_mb")
  if (source === undefined || source.origin === "product") return
  return { megabytes: valuesOf(pass).max_memory_mb, where: describeSource(source) }
}

type Givers = { written: readonly Written[]; agents: readonly AgentInfo[]; defaults: Record<string, InlineOverride> }

/** What the call that made a pass, or one above it, has said of its chain: no pair takes that back. */
export const saidOfChain = (pass: Pass): number | undefined =>
  sourceOf(pass, "max_chain_depth")?.layer === "inline" ? pass.max_chain_depth : undefined

/** How many agents a chain may have that goes on from a child: a pair from it may lift the limit of the pair above. */
export function reachOf(pass: Pass, { written, agents, defaults }: Givers): number {
  const said = saidOfChain(pass)
  if (said !== undefined) return said
  const chain = [...pass.ancestors, pass.subagent_id]
  const onward = agents
    .filter((agent) => !chain.includes(agent.name) && receives(agent, written))
    .map((agent) => resolve(pass.subagent_id, agent.name, { written, agents: defaults }))
    .filter(({ values, sources }) => {
      return values.enabled && values.can_receive_passes && sources.max_chain_depth?.layer === "pair"
    })
  return Math.max(pass.max_chain_depth, ...onward.map(({ values }) => values.max_chain_depth))
}

const stars = (pair: string) => (pair.startsWith("*") ? 2 : 0) + (pair.endsWith("*") ? 1 : 0)

// The policy is named by whatever decided most specifically.
function nameOf(resolved: Resolved): string {
  const sources = Object.values(resolved.sources)
  const pairs = sources.flatMap((source) => (source.layer === "pair" ? source.key.slice(1, 2) : []))
  const [pair] = pairs.toSorted((a, b) => stars(a) - stars(b))
  return (
    pair ?? (["subagent", "defaults"] as const).find((layer) => sources.some((one) => one.layer === layer)) ?? "shipped"
  )
}

/** Where a constraint stands that the call itself did not bring. */
export function settingOf({ resolved, overrides }: Policy, constraint: string): string | undefined {
  const { constraints: mine } = overrides
  if (Array.isArray(mine) && mine.includes(constraint)) return undefined
  const { sources, shadows } = resolved
  const all = [sources.constraints, ...(shadows.constraints ?? []).map(({ source }) => source)]
  const source = all.find((each) => each !== undefined && each.layer !== "inline")
  return source && describeSource(source)
}

/** A person who names a time means it, also where the subagent may use less by itself. */
const lifted = (values: Effective, { timeout_ms, max_compute_time_ms }: InlineOverride): Effective =>
  timeout_ms === undefined || max_compute_time_ms !== undefined
    ? values
    : { ...values, max_compute_time_ms: Math.max(values.max_compute_time_ms, timeout_ms) }

// What is said of a chain holds for all of it, so it stays the call's own further down, where less is said too. A person
// may say another thing there.
function held(asked: Asked, values: Effective, resolved: Resolved): { values: Effective; resolved: Resolved } {
  const own = asked.override?.max_chain_depth
  const above = asked.by === "person" && own !== undefined ? undefined : asked.agents_at_most
  if (own === undefined && above === undefined) return { values, resolved }
  const max_chain_depth = Math.min(values.max_chain_depth, above ?? Infinity)
  const source: Source = { layer: "inline", origin: "call", key: ["max_chain_depth"] }
  return {
    values: { ...values, max_chain_depth },
    resolved: { ...resolved, sources: { ...resolved.sources, max_chain_depth: source } },
  }
}

/** Whether this pass may be made at all, and under which settings. */
export function rule(asked: Asked, sources: Givers): Ruled {
  const missing = target(asked.to, sources.agents, sources.written)
  if (missing) return { ok: false, refusal: missing }
  const override = asked.override ?? {}
  const settle = (inline: InlineOverride) =>
    resolve(asked.from, asked.to, { written: sources.written, agents: sources.defaults, inline })

  const before = settle(asked.by === "person" ? override : {})
  const off = disabled(asked, before)
  if (off) return { ok: false, refusal: off }
  const narrowed =
    asked.by === "person" ? narrow(lifted(before.values, override), {}) : narrow(before.values, override, asked)
  if (!narrowed.ok) return narrowed

  const { changed } = narrowed
  // What a model narrowed came from this call, like what a person overrode; the pair itself may be among it.
  const settled = changed.length > 0 ? settle(pick(narrowed.values, changed)) : before
  const closed = disabled(asked, settled)
  if (closed) return { ok: false, refusal: closed }
  const { values, resolved } = held(asked, narrowed.values, settled)
  return { ok: true, policy: { values, resolved, name: nameOf(before), overrides: { ...override } } }
}
