import { matches, uniform, type Action, type Rule } from "../pass-over/domain/right"
import { AGENTS, MODEL_AGENT, type HostAgent, type Mode } from "./agent"

type Rules = Record<string, unknown>

export type HostConfig = { agent?: Record<string, HostAgent | undefined>; permission?: unknown }

/** The agents that opencode itself brings. The hidden ones have no tools and are left alone. */
const NATIVE: Record<string, "primary" | "subagent"> = {
  build: "primary",
  plan: "primary",
  general: "subagent",
  explore: "subagent",
}

const HIDDEN = ["title", "summary", "compaction", MODEL_AGENT]

/** Not one of the agents that work: it lends the user's small model to us, without tools and out of sight. */
const LENT: HostAgent = {
  mode: "primary",
  hidden: true,
  description: "Answers small questions of Pass Over.",
  prompt: "Answer exactly what is asked, in plain text.",
  permission: { "*": "deny" },
}

/** A permission may be a single word for everything; rules of ours can only be added to the long form. */
const long = (permission: unknown): Rules => {
  if (typeof permission === "string") return { "*": permission }
  return typeof permission === "object" && permission !== null ? { ...permission } : {}
}

const ACTIONS: readonly unknown[] = ["allow", "ask", "deny"]
const isAction = (word: unknown): word is Action => ACTIONS.includes(word)

/** What a permission says rule by rule, as the host reads it. */
const written = (permission: unknown): Rule[] =>
  Object.entries(long(permission)).flatMap(([name, said]) =>
    (typeof said === "string" ? [["*", said] as const] : Object.entries(long(said))).flatMap(([pattern, action]) =>
      isAction(action) ? [{ permission: name, pattern, action }] : [],
    ),
  )

/** The host's own reading of its configuration; its agents begin with everything allowed. */
const rulesOf = (...permissions: readonly unknown[]): Rule[] => [
  { permission: "*", pattern: "*", action: "allow" },
  ...permissions.flatMap(written),
]

/** Our rule for a name of which the user says more, and behind it whatever they say of it anywhere. */
function filled(name: string, ours: unknown, user: Rules): Rules {
  const patterns = new Map<string, unknown>([["*", ours]])
  for (const { permission, pattern, action } of written(user)) {
    if (!matches(name, permission)) continue
    // What is said again moves to the end.
    patterns.delete(pattern)
    patterns.set(pattern, action)
  }
  return Object.fromEntries(patterns)
}

/** Our rules before the user's: of all that match, the last one holds. */
function beneath(user: Rules, ours: Rules): Rules {
  const unsaid = Object.entries(ours).filter(([name]) => !(name in user))
  const said = Object.entries(user).map(([name, rule]) =>
    name in ours && typeof rule === "object" ? [name, filled(name, ours[name], user)] : [name, rule],
  )
  return Object.fromEntries([...unsaid, ...said])
}

// Who sees our tools is ours to say, unless the user names them: those rules go to the end, where the last match wins.
const withRules = (user: Rules, ours: Rules): Rules => ({
  ...user,
  ...Object.fromEntries(Object.entries(ours).filter(([key]) => !(key in user))),
})

/** Who sees which of our tools: tools that an agent cannot use cost tokens in each of its prompts. */
function visibility(originator: boolean): Rules {
  // A question to a person has to be asked whatever the agent's rules say of everything else.
  const everybody = { pass_over_return: "deny", pass_over_gate: "ask" }
  return originator
    ? everybody
    : { ...everybody, pass_over: "deny", pass_over_read: "deny", pass_over_review: "deny", flow: "deny" }
}

type Named = { name: string; agent: HostAgent | undefined; mode: Mode }

/** The agents that work, ours and opencode's own among them, as far as the configuration tells. */
function working(agents: Readonly<Record<string, HostAgent | undefined>>): Named[] {
  return [...new Set([...Object.keys(NATIVE), ...Object.keys(agents)])]
    .map((name) => ({ name, agent: agents[name], mode: agents[name]?.mode ?? NATIVE[name] ?? "all" }))
    .filter(({ name, agent }) => !HIDDEN.includes(name) && !agent?.disable)
}

/** The user's agents of our names win, field by field, and rule by rule. */
function withOurs(config: HostConfig): Record<string, HostAgent | undefined> {
  const agents = { ...config.agent }
  for (const { name, host } of AGENTS) {
    const user = agents[name]
    agents[name] = { ...host, ...user, permission: beneath(long(user?.permission), long(host.permission)) }
  }
  return agents
}

/** Every agent that works, by its name and what it is made for. */
export const agentsIn = (config: HostConfig): [name: string, mode: Mode][] =>
  working(withOurs(config)).map(({ name, mode }) => [name, mode])

/**
 * Puts our agents into opencode's configuration, and hides our tools from the agents that may not use them. Where the
 * user has an agent of the same name, theirs wins field by field. Tells which agents may pass work on.
 */
export function register(config: HostConfig, originates: (name: string, mode: Mode) => boolean): Set<string> {
  const agents = withOurs(config)
  const originators = new Set<string>()
  for (const { name, agent, mode } of working(agents)) {
    // Whoever may not pass work on at all has the host's own way of delegating, and a mention leads there.
    const barred = uniform(rulesOf(config.permission, agent?.permission), "pass_over") === "deny"
    if (originates(name, mode) && !barred) originators.add(name)
    agents[name] = {
      ...agent,
      permission: withRules(long(agent?.permission), visibility(originators.has(name))),
    }
  }
  agents[MODEL_AGENT] ??= LENT
  config.agent = agents
  return originators
}
