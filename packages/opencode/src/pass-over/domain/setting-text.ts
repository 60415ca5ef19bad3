import type { AuditSettings, AgentPairPreference, Setting } from "./preference"
import type { LimitPreference, TreeBudget } from "./limit"

/** What each setting does, in one sentence: for the documents, for editors, for the panel and the command line. */
export const SETTING_TEXT: Record<Setting, string> = {
  enabled: "Whether this agent may pass work to that one at all.",
  reason: "Why the pair is as it is; a refusal repeats it.",
  auto_return:
    "Whether a result goes back to the originator by itself. If not, it is held until a person lets it pass; a timeout that left none is not.",
  auto_review:
    "Whether a held result passes by itself when it is completed and has no error, no rejection and no blocker.",
  auto_apply:
    "Whether proposed file changes are applied by themselves, where the subagent lets them (auto_apply_allowed). Never with a blocker, on a stale base or unverified.",
  require_user_approval:
    "Whether a person is asked before changes are applied, also where auto_apply is true: then they are applied once the person says yes.",
  require_confirmation:
    "Whether a person is asked before a pass starts that an agent or a flow wants. Who starts one themselves has said yes.",
  pass_context: "Whether messages of the originator's conversation go along.",
  pass_files: "Whether the contents of files go along.",
  max_context_size_bytes: "How much context goes along at most, in bytes.",
  max_messages: "How many messages of the conversation go along at most; 0 leaves it to the token budget.",
  lookback_minutes: "How old a message may be to go along, in minutes; 0 leaves it to the token budget.",
  context_selection:
    "Whether messages are chosen by what the objective needs (relevance) or simply the latest (recency).",
  context_digest: "Who writes down what did not go along: fixed rules, or the user's small model.",
  timeout_ms: "How long the whole pass may take, without the time that it waits for a person.",
  idle_timeout_ms:
    "How long the subagent may show no sign of life. A provider that asks for patience is waited for, as long as there is time left.",
  max_chain_depth:
    "How many agents may stand in one chain, the first included. Of a pair it holds for the pass from the one to the other, whatever the pairs above it say; what a call says of it holds for the whole chain below that call.",
  notify_on_return: "When the user is told that a pass came back.",
  constraints:
    "What the subagent is held to: read_only, no_network, \"paths: src, docs/*.md\" (what lies under them, told from the project's folder on), no_paths, tools, no_tools and commands. What nothing enforces, such as a sentence, is not accepted; it belongs into an objective or into the agent's own prompt.",
  can_receive_passes: "Whether work may be passed to this subagent.",
  can_modify_files:
    "Whether this subagent may change files. If not, it has only tools that look, and a shell only in a tree of its own, of which nothing is kept.",
  can_run_tools: "Whether this subagent may use tools; without them it can only think and return.",
  max_compute_time_ms: "The most time that any pass to this subagent gets.",
  max_memory_mb:
    "How much memory the commands that it starts may use, in megabytes. A command that meets the limit is told so with E014, and the outcome names it.",
  validate_output:
    "Whether what it returns has to fit output_schema. Its form is checked in any case, and that it says something.",
  output_schema: "A JSON Schema (draft 2020-12) that its output has to fit.",
  max_tokens: "How many tokens one pass may use; 0 is no limit of its own.",
  max_cost: "What one pass may cost, in dollars; 0 is no limit of its own.",
  gate_ttl_ms: "How long a question to a person stays open.",
  gate_default: "What holds when nobody answers a question in time.",
  result_cache:
    "Whether a step of a flow that asks for it may be answered with what an identical request left before, as long as no file that it read has changed.",
  isolation:
    "Where a child works: in the project itself (none), in a tree of its own whose changes are proposals (worktree), or in one wherever it may run a shell (auto).",
  verify_command:
    "A shell command that is run after changes were applied; its exit code is recorded, and a failure offers the undo.",
  grant:
    "What a child of this pair may do although the agents above it may not. It lifts no constraint and no other limit of a pass. Every grant is written into the audit.",
}

type History = "created_at" | "updated_at" | "updated_by"

export const HISTORY_TEXT: Record<History & keyof AgentPairPreference, string> = {
  created_at: "When the pair was written down; Unix time in seconds or milliseconds.",
  updated_at: "When the pair was last changed; Unix time in seconds or milliseconds.",
  updated_by: "Who changed it last.",
}

export const AUDIT_TEXT: Record<keyof AuditSettings, string> = {
  log_all_passes: "Whether every pass is also written to a log file. The database has it in any case.",
  log_directory: "Where the log files lie, from the project's folder.",
  retention_days:
    "For how many days passes with their contexts and results, and audit entries, are kept after all of them is over.",
}

export const LIMIT_TEXT: Record<keyof LimitPreference, string> = {
  running: "How many passes run at once on this machine; more wait their turn.",
  running_per_subagent: "How many of them may run with the same subagent.",
  running_per_model: "How many of them may run on the same model.",
  tree: "What one tree of passes may use: everything that grew out of one pass of a user's agent.",
}

export const TREE_TEXT: Record<keyof TreeBudget, string> = {
  passes: "Passes in the tree.",
  tokens: "Tokens of all its passes together.",
  cost: "Dollars of all its passes together.",
  time_ms: "Time from its first pass on.",
}
