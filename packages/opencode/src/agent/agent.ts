import type { InlineOverride } from "../pass-over/domain/preference"
import alice from "./prompt/alice.txt"
import audit from "./prompt/audit.txt"
import inspector from "./prompt/inspector.txt"
import scout from "./prompt/scout.txt"

export type Mode = "primary" | "subagent" | "all"

/** An agent in opencode's configuration, as far as we touch it. The types of its plugin package know less. */
export type HostAgent = {
  mode?: Mode
  description?: string
  prompt?: string
  hidden?: boolean
  permission?: unknown
  disable?: boolean
}

/** One of our agents: what opencode registers, what it may do in a pass, and the preferences it brings along. */
export type AgentDefinition = {
  name: string
  originator: boolean
  subagent: boolean
  defaults: InlineOverride
  host: HostAgent
}

const TEN_MINUTES = 600_000
const FIVE_MINUTES = 300_000

// To add an agent, write its prompt beside the others and give it an entry here.
export const AGENTS: readonly AgentDefinition[] = [
  {
    name: "alice",
    originator: true,
    subagent: false,
    defaults: {},
    host: {
      mode: "primary",
      description: "Works on your code and passes bounded pieces of it to specialists, who return checked results.",
      prompt: alice,
      // Her passes replace the native task: it has no deadline, no typed result and no record.
      permission: { task: "deny" },
    },
  },
  {
    name: "scout",
    originator: true,
    subagent: true,
    defaults: { timeout_ms: FIVE_MINUTES },
    host: {
      mode: "subagent",
      description: "Finds things out: where something is, how it works, what depends on it. Changes nothing.",
      prompt: scout,
      permission: { edit: "deny", task: "deny" },
    },
  },
  {
    name: "audit",
    originator: false,
    subagent: true,
    defaults: { timeout_ms: TEN_MINUTES },
    host: {
      mode: "subagent",
      description: "Reviews work against its objective and decides: approved, rejected, needs_modification or blocked.",
      prompt: audit,
      permission: { edit: "deny", task: "deny" },
    },
  },
  {
    name: "inspector",
    originator: false,
    subagent: true,
    defaults: { timeout_ms: TEN_MINUTES },
    host: {
      mode: "subagent",
      description:
        "Looks deeply into one thing: a failing test, a slow path, a suspected defect. Reports causes with evidence.",
      prompt: inspector,
      permission: { edit: "deny", task: "deny" },
    },
  },
]

/** Our agent without tools, in opencode's registry. */
export const MODEL_AGENT = "pass-over-model"

export const ORIGINATORS = AGENTS.filter((agent) => agent.originator).map((agent) => agent.name)

export const DEFAULTS: Record<string, InlineOverride> = Object.fromEntries(
  AGENTS.map((agent) => [agent.name, agent.defaults]),
)
