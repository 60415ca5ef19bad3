import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import { allowedTime } from "./config"
import { AgentPairPreference, SYSTEM, type Effective, type InlineOverride, type Notify } from "./preference"

/** Why a wish is refused; nothing where it may stand. */
type No = string | undefined

const LOUDNESS = { never: 0, only_issues: 1, always: 2 } as const satisfies Record<Notify, number>

// A gate may be closed by a model, never opened; the value named is the one that asks a human or allows less.
const onlyTo =
  (safe: boolean) =>
  (wanted: boolean, now: boolean): No =>
    wanted === now || wanted === safe ? undefined : `only a person may set it to ${wanted}`

const onlyLower = (wanted: number, now: number): No =>
  wanted <= now ? undefined : `${now} is the most that this pair allows`

// For these 0 is no limit at all.
const onlyTighter = (wanted: number, now: number): No => {
  if (now === 0) return undefined
  return wanted > 0 ? onlyLower(wanted, now) : `${now} is the most that this pair allows`
}

type Rules = { [S in keyof InlineOverride]-?: (wanted: NonNullable<InlineOverride[S]>, now: Effective) => No }

// What a model may do to each setting: narrow it, never widen it. A setting without a line does not compile.
const RULES: Rules = {
  enabled: (wanted, now) => onlyTo(false)(wanted, now.enabled),
  auto_return: (wanted, now) => onlyTo(false)(wanted, now.auto_return),
  auto_review: (wanted, now) => onlyTo(false)(wanted, now.auto_review),
  auto_apply: (wanted, now) => onlyTo(false)(wanted, now.auto_apply),
  require_user_approval: (wanted, now) => onlyTo(true)(wanted, now.require_user_approval),
  require_confirmation: (wanted, now) => onlyTo(true)(wanted, now.require_confirmation),
  pass_context: (wanted, now) => onlyTo(false)(wanted, now.pass_context),
  pass_files: (wanted, now) => onlyTo(false)(wanted, now.pass_files),
  max_context_size_bytes: (wanted, now) => onlyLower(wanted, now.max_context_size_bytes),
  max_messages: (wanted, now) => onlyTighter(wanted, now.max_messages),
  lookback_minutes: (wanted, now) => onlyTighter(wanted, now.lookback_minutes),
  context_selection: () => undefined,
  context_digest: (wanted, now) =>
    wanted === "rules" || wanted === now.context_digest ? undefined : "only a person may spend a model on it",
  timeout_ms: (wanted, now) =>
    wanted <= now.max_compute_time_ms ? undefined : `${now.max_compute_time_ms} ms is the most that this agent may use`,
  idle_timeout_ms: (wanted, now) => onlyLower(wanted, now.idle_timeout_ms),
  max_chain_depth: (wanted, now) => onlyLower(wanted, now.max_chain_depth),
  notify_on_return: (wanted, now) =>
    LOUDNESS[wanted] >= LOUDNESS[now.notify_on_return] ? undefined : "only a person may make it quieter",
  constraints: () => undefined,
  can_receive_passes: (wanted, now) => onlyTo(false)(wanted, now.can_receive_passes),
  can_modify_files: (wanted, now) => onlyTo(false)(wanted, now.can_modify_files),
  can_run_tools: (wanted, now) => onlyTo(false)(wanted, now.can_run_tools),
  max_compute_time_ms: (wanted, now) => onlyLower(wanted, now.max_compute_time_ms),
  max_memory_mb: (wanted, now) => onlyLower(wanted, now.max_memory_mb),
  validate_output: (wanted, now) => onlyTo(true)(wanted, now.validate_output),
  max_tokens: (wanted, now) => onlyTighter(wanted, now.max_tokens),
  max_cost: (wanted, now) => onlyTighter(wanted, now.max_cost),
  gate_ttl_ms: (wanted, now) => onlyLower(wanted, now.gate_ttl_ms),
  gate_default: (wanted, now) =>
    wanted === "reject" || wanted === now.gate_default ? undefined : "only a person may let a gate open by itself",
  result_cache: (wanted, now) => onlyTo(false)(wanted, now.result_cache),
  isolation: (wanted, now) =>
    wanted === "worktree" || wanted === now.isolation
      ? undefined
      : "only a person may let it work in the project itself",
  verify_command: (wanted, now) =>
    wanted === now.verify_command ? undefined : "only a person may name a command that is run",
  output_schema: (_wanted, now) =>
    now.output_schema === undefined ? undefined : "this agent's answers already have a schema",
}

const refused = (setting: keyof InlineOverride, override: InlineOverride, now: Effective): No => {
  const wanted = override[setting]
  return wanted === undefined ? undefined : (RULES[setting] as (wanted: unknown, now: Effective) => No)(wanted, now)
}

/** The user's own way to a setting: it stands with the pair where it may, else with the subagent. */
function command(setting: keyof InlineOverride, hop: { from: string; to: string } = { from: "<from>", to: "<to>" }) {
  const where = setting in AgentPairPreference.shape ? `'${hop.from}->${hop.to}'` : hop.to
  return `pass-over config set ${where} ${setting} <value>`
}

/** What a model's override makes of a preference: narrower, or a refusal that names the first setting it may not touch. */
export function narrow(
  now: Effective,
  override: InlineOverride,
  hop?: { from: string; to: string },
): { ok: true; values: Effective; changed: (keyof InlineOverride)[] } | { ok: false; refusal: Refusal } {
  const settings = Object.keys(override) as (keyof InlineOverride)[]
  for (const setting of settings) {
    const why = refused(setting, override, now)
    if (why === undefined) continue
    return {
      ok: false,
      refusal: refuse(PassOverErrorCode.PERMISSION_DENIED, `override.${setting} is not yours to set: ${why}.`, {
        suggestion: `Leave override.${setting} out. ${setting} is for the user to change (${command(setting, hop)}).`,
        detail: { setting, wanted: override[setting], now: now[setting] },
      }),
    }
  }
  const changed = settings.filter((setting) => override[setting] !== undefined && override[setting] !== now[setting])
  const values: Effective = {
    ...now,
    ...Object.fromEntries(changed.map((setting) => [setting, override[setting]])),
    constraints: [...now.constraints, ...(override.constraints ?? [])],
  }
  return { ok: true, values: { ...values, timeout_ms: allowedTime(values) }, changed }
}

const lower = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** Two overrides of which both hold: of each setting what allows less. */
export function both(outer: InlineOverride, inner: InlineOverride): InlineOverride {
  const now: Effective = Object.assign({}, SYSTEM, outer)
  const wider = (Object.keys(inner) as (keyof InlineOverride)[]).filter(
    (setting) => outer[setting] !== undefined && refused(setting, inner, now) !== undefined,
  )
  const constraints = [...(outer.constraints ?? []), ...(inner.constraints ?? [])]
  const timeout_ms = lower(outer.timeout_ms, inner.timeout_ms)
  return {
    ...outer,
    ...inner,
    ...Object.fromEntries(wider.map((setting) => [setting, outer[setting]])),
    ...(constraints.length > 0 ? { constraints } : {}),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
  }
}
