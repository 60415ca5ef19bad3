import { z } from "zod"
import { leavesProject } from "./log-directory"
import { LimitPreference } from "./limit"
import { DurationMs, Timestamp } from "./time"

export const Notify = z.enum(["always", "only_issues", "never"])
export type Notify = z.infer<typeof Notify>

export const GateDefault = z.enum(["approve", "reject"])
export type GateDefault = z.infer<typeof GateDefault>

/** By what the objective needs, or simply the most recent. */
export const ContextSelection = z.enum(["relevance", "recency"])
export type ContextSelection = z.infer<typeof ContextSelection>

/** Who writes down what did not go along: fixed rules, or the user's small model. */
export const ContextDigest = z.enum(["rules", "model"])
export type ContextDigest = z.infer<typeof ContextDigest>

/** One of the host's own permissions and the patterns that it is granted for. */
export const Grant = z.strictObject({ permission: z.string().min(1), pattern: z.string().min(1).default("*") })
export type Grant = z.infer<typeof Grant>

/** `auto` isolates whoever may run a shell: what a shell writes cannot be told in advance. */
export const Isolation = z.enum(["auto", "none", "worktree"])
export type Isolation = z.infer<typeof Isolation>

/** Every setting that decides about a pass, once. The levels below pick from it. */
export const Settings = z.strictObject({
  enabled: z.boolean(),
  reason: z.string().min(1),
  auto_return: z.boolean(),
  auto_review: z.boolean(),
  auto_apply: z.boolean(),
  require_user_approval: z.boolean(),
  require_confirmation: z.boolean(),
  pass_context: z.boolean(),
  pass_files: z.boolean(),
  max_context_size_bytes: z.int().positive().max(1_000_000_000),
  /** How much of the conversation goes along: 0 leaves it to the token budget. */
  max_messages: z.int().nonnegative(),
  lookback_minutes: z.int().nonnegative(),
  context_selection: ContextSelection,
  context_digest: ContextDigest,
  timeout_ms: DurationMs,
  idle_timeout_ms: DurationMs,
  max_chain_depth: z.int().min(2).max(10),
  notify_on_return: Notify,
  constraints: z.array(z.string().trim().min(1)),
  can_receive_passes: z.boolean(),
  can_modify_files: z.boolean(),
  can_run_tools: z.boolean(),
  max_compute_time_ms: DurationMs,
  max_memory_mb: z.int().positive(),
  validate_output: z.boolean(),
  output_schema: z.record(z.string(), z.unknown()),
  /** What one pass may use: 0 is no limit of its own. */
  max_tokens: z.int().nonnegative(),
  max_cost: z.number().nonnegative(),
  /** How long a question to a person stays open, and what holds when nobody answers. */
  gate_ttl_ms: DurationMs,
  gate_default: GateDefault,
  /** Whether an identical request may be answered with an earlier, verified output. */
  result_cache: z.boolean(),
  /** Where a child works: in the user's tree, or in one of its own whose changes are proposals. */
  isolation: Isolation,
  /** A shell command that is run after something was applied. */
  verify_command: z.string().trim().min(1).max(2_000),
  /** The only widening there is: what a child of this pair may do although its originator may not. */
  grant: z.array(Grant),
})
export type Settings = z.infer<typeof Settings>
export type Setting = keyof Settings

/** What holds for a pass in the end. `reason` and `output_schema` have no value unless somebody gave one. */
export type Effective = Omit<Settings, "reason" | "output_schema" | "verify_command"> & {
  reason?: string | undefined
  verify_command?: string | undefined
  output_schema?: Record<string, unknown> | undefined
}

const History = { created_at: Timestamp, updated_at: Timestamp, updated_by: z.string() }

/** An ordered pair: what one agent may hand to another, and how. `from` and `to` are its key. */
export const AgentPairPreference = Settings.pick({
  enabled: true,
  reason: true,
  auto_return: true,
  auto_review: true,
  auto_apply: true,
  require_user_approval: true,
  require_confirmation: true,
  pass_context: true,
  pass_files: true,
  max_context_size_bytes: true,
  max_messages: true,
  lookback_minutes: true,
  context_selection: true,
  context_digest: true,
  timeout_ms: true,
  idle_timeout_ms: true,
  max_chain_depth: true,
  notify_on_return: true,
  constraints: true,
  max_tokens: true,
  max_cost: true,
  result_cache: true,
  gate_ttl_ms: true,
  gate_default: true,
  isolation: true,
  verify_command: true,
  grant: true,
})
  .extend(History)
  .partial()
export type AgentPairPreference = z.infer<typeof AgentPairPreference>

export const SubagentPreference = Settings.pick({
  can_receive_passes: true,
  can_modify_files: true,
  can_run_tools: true,
  max_compute_time_ms: true,
  max_memory_mb: true,
  validate_output: true,
  isolation: true,
  verify_command: true,
  output_schema: true,
  max_tokens: true,
  max_cost: true,
}).partial()
export type SubagentPreference = z.infer<typeof SubagentPreference>

export const DefaultPreference = Settings.pick({
  auto_return: true,
  auto_review: true,
  auto_apply: true,
  require_user_approval: true,
  require_confirmation: true,
  pass_context: true,
  pass_files: true,
  max_context_size_bytes: true,
  max_messages: true,
  lookback_minutes: true,
  context_selection: true,
  context_digest: true,
  timeout_ms: true,
  idle_timeout_ms: true,
  max_chain_depth: true,
  notify_on_return: true,
  max_tokens: true,
  max_cost: true,
  result_cache: true,
  gate_ttl_ms: true,
  isolation: true,
  verify_command: true,
  gate_default: true,
}).partial()
export type DefaultPreference = z.infer<typeof DefaultPreference>

export const AuditPreference = z
  .strictObject({
    log_all_passes: z.boolean(),
    log_directory: z
      .string()
      .min(1)
      .refine((path) => leavesProject(path) === undefined, {
        error: 'The audit log stays inside the project: name a folder below it, without "..".',
      }),
    retention_days: z.int().positive(),
  })
  .partial()
export type AuditPreference = z.infer<typeof AuditPreference>

export const PairKey = z
  .string()
  .regex(/^(?:\*|[^\s>*]+)->(?:\*|[^\s>*]+)$/, 'a pair is written "from->to"; either side may be "*"')
export type PairKey = z.infer<typeof PairKey>

/** The file `.opencode/pass-over.json`: every field is optional, and nothing but these fields is accepted. */
export const PassOverPreferences = z
  .strictObject({
    $schema: z.string(),
    defaults: DefaultPreference,
    pairs: z.record(PairKey, AgentPairPreference),
    subagents: z.record(z.string().min(1), SubagentPreference),
    audit: AuditPreference,
    limits: LimitPreference,
  })
  .partial()
export type PassOverPreferences = z.infer<typeof PassOverPreferences>

/** What a call may override. A model may only narrow with it (`override.ts`). */
export const InlineOverride = Settings.omit({ reason: true, grant: true }).partial()
export type InlineOverride = z.infer<typeof InlineOverride>

/** The lowest layer: the architecture's own numbers, §5.1. */
export const SYSTEM: Effective = {
  enabled: true,
  auto_return: false,
  auto_review: true,
  auto_apply: false,
  require_user_approval: true,
  require_confirmation: true,
  pass_context: true,
  pass_files: true,
  max_context_size_bytes: 5 * 1024 * 1024,
  max_messages: 20,
  lookback_minutes: 60,
  context_selection: "relevance",
  context_digest: "rules",
  timeout_ms: 30_000,
  idle_timeout_ms: 120_000,
  max_chain_depth: 3,
  notify_on_return: "always",
  constraints: [],
  can_receive_passes: true,
  can_modify_files: true,
  can_run_tools: true,
  max_compute_time_ms: 60 * 60 * 1000,
  max_memory_mb: 4096,
  validate_output: true,
  max_tokens: 0,
  max_cost: 0,
  gate_ttl_ms: 60 * 60 * 1000,
  gate_default: "reject",
  result_cache: false,
  isolation: "auto",
  grant: [],
}

/**
 * What we ship on top of it. No real audit ends in 30 s. The host already asks before a tool does harm, and a tool
 * that asks at every step is switched off by its users. A result with errors is what the originator needs most.
 */
export const SHIPPED: InlineOverride = {
  auto_return: true,
  require_confirmation: false,
  timeout_ms: 600_000,
  idle_timeout_ms: 120_000,
  notify_on_return: "only_issues",
  // What fits by tokens is not dropped by count or age.
  max_messages: 0,
  lookback_minutes: 0,
}

export const AUDIT_DEFAULTS = {
  log_all_passes: true,
  log_directory: ".opencode/pass-over-logs",
  retention_days: 30,
} as const satisfies AuditPreference

/** What holds for the audit once every setting has a value. */
export type AuditSettings = { log_all_passes: boolean; log_directory: string; retention_days: number }
