import type { AgentInfo } from "../domain/agent"
import { isRework, runOfCall } from "../domain/call"
import { belongs, guardedName } from "../domain/change/path"
import { constraintLayers, placed, rulesOf } from "../domain/constraint"
import type { Within } from "../domain/constraint-path"
import { demands, type Place } from "../domain/demand"
import { PassOverErrorCode, refuse, sentence } from "../domain/errors"
import type { Pass } from "../domain/pass"
import { reachOf, valuesOf } from "../domain/policy"
import { blindly, evaluate, fences, matches, meet, uniform, type Layer, type Right, type Rule } from "../domain/right"
import { SHELLS } from "../domain/tool"
import type { Engine, Project } from "./engine"

/** What a child is held to. `own` is its agent's; everything in `above` narrows that. */
export type Rights = {
  own: Layer
  above: Layer[]
  /** What its pair grants although nobody above may. */ grant: Rule[]
  /** Whether a pass of its own would make the chain too long, whomever it went to. */
  last: boolean
}

// Ours are governed by us: who may pass on, return or review is not a matter of the host's rules.
const OURS = ["pass_over", "pass_over_return", "pass_over_read", "pass_over_review", "pass_over_gate", "flow"]

const deny = (permission: string): Rule => ({ permission, pattern: "*", action: "deny" })
const allow = (permission: string): Rule => ({ permission, pattern: "*", action: "allow" })

const limit = (who: string, rules: Rule[]): Layer => ({ who, rules, binding: true })

/** What a pass itself says. What a shell leaves in a tree of its own is thrown away, so there it may be used. */
function limits({ workspaces }: Project, pass: Pass): Layer[] {
  const { can_modify_files, can_run_tools, isolation } = valuesOf(pass)
  // `auto` makes a tree for whoever may run a shell.
  const apart = workspaces !== undefined && isolation !== "none"
  const looking = rulesOf("read_only") ?? [deny("*")]
  const unchanging = apart
    ? limit("can_modify_files (false for it)", [...looking, ...SHELLS.map(allow)])
    : limit("can_modify_files (false for it, and it has no tree of its own)", looking)
  return [
    ...(can_run_tools ? [] : [limit("can_run_tools (false for it)", [deny("*")])]),
    ...(can_modify_files ? [] : [unchanging]),
    ...constraintLayers(pass.constraints),
  ]
}

/** Everything that a child of this pass is held to: all agents above it, their passes' limits, and the session's rules. */
export async function rightsOf(engine: Engine, project: Project, pass: Pass): Promise<Rights> {
  const known = await project.host.agents()
  const agents = new Map(known.map((agent) => [agent.name, agent.rules ?? [allow("*")]]))
  // Whom nobody knows, nobody has allowed anything.
  const layer = (who: string): Layer => ({ who, rules: agents.get(who) ?? [deny("*")] })
  const { grant } = valuesOf(pass)
  const parent = pass.parent_pass_id === null ? undefined : await engine.store.find(pass.parent_pass_id)
  const inherited = parent ? (engine.running.rights(parent.id) ?? (await rightsOf(engine, project, parent))) : undefined
  const session = inherited ? [] : [{ who: "its session", rules: await sessionRules(project, pass) }]
  const asking = new Set([pass.originating_agent_id, await starterOf(engine, pass)].flat())
  const above = [
    ...(inherited ? [inherited.own, ...inherited.above] : []),
    ...[...asking].filter((who) => who !== inherited?.own.who).map(layer),
    ...session,
  ]
  return {
    own: layer(pass.subagent_id),
    above: [...above, ...limits(project, pass)],
    // A grant reaches as far as the pair that carries it: it is none for a child of its child.
    grant: grant.map(({ permission, pattern }) => ({ permission, pattern, action: "allow" })),
    last: await isLast(engine, project, pass, known),
  }
}

async function isLast(engine: Engine, project: Project, pass: Pass, agents: readonly AgentInfo[]) {
  const longest = pass.chain_depth + 1
  if (longest < pass.max_chain_depth) return false
  const written = await project.written()
  return longest >= reachOf(pass, { written, agents, defaults: engine.agents.defaults })
}

/** Whose call started the run that a pass belongs to; what is done again of it belongs to it too. */
async function starterOf(engine: Engine, pass: Pass): Promise<string[]> {
  const run_id = runOfCall(pass.call_id)
  const starter = run_id === undefined ? null : await engine.store.starter(run_id)
  if (starter) return [starter]
  if (!isRework(pass.call_id) || pass.continues_pass_id === null) return []
  const before = await engine.store.find(pass.continues_pass_id)
  return before ? starterOf(engine, before) : []
}

async function sessionRules(project: Project, pass: Pass): Promise<Rule[]> {
  const rules = await project.host.sessionRules(pass.session_id)
  // A session without rules forbids nothing.
  return [allow("*"), ...rules]
}

const ours = (permission: string) => OURS.includes(permission)

/** Who writes there widens what it may itself, so nothing less than a grant that names such a place opens it. */
function guarded(grant: readonly Rule[], permission: string, patterns: readonly string[]): string | undefined {
  if (permission !== "edit") return
  const granted = (path: string) =>
    grant.some((rule) => matches("edit", rule.permission) && isGuarded(rule.pattern) && matches(path, rule.pattern))
  const path = patterns.find((pattern) => isGuarded(pattern) && !granted(pattern))
  return path === undefined ? undefined : `${belongs(path)}, and no grant names it`
}

const isGuarded = (path: string) => guardedName(path) !== undefined

/** How a call is read: whether its patterns may not be all, and where the names of its files begin. */
type Reading = { unsure?: boolean | undefined; within?: Within | undefined }

// What is named by paths may be granted from the project's folder on, too.
const BY_PATH = ["edit", "read"]

const granted = (grant: readonly Rule[], within: Within): readonly Rule[] => {
  if (within === "") return grant
  const here = grant.filter(({ permission }) => BY_PATH.includes(permission))
  return [...grant, ...here.map((rule) => ({ ...rule, pattern: `${within}/${rule.pattern}` }))]
}

const stricter = (one: Right, other: Right): Right =>
  one.action === "deny" || other.action === "allow" || (one.action === "ask" && other.action === "ask") ? one : other

/** What everybody above a child says. A grant lifts what an agent or a session says, and no limit of any pass. */
function theirs(
  { above, grant }: { above: readonly Layer[]; grant: readonly Rule[] },
  permission: string,
  patterns: readonly string[],
): Right {
  const open = patterns.filter((pattern) => evaluate(grant, permission, pattern).rule === undefined)
  const [binding, liftable] = [above.filter((layer) => layer.binding), above.filter((layer) => !layer.binding)]
  return stricter(meet(liftable, permission, open), meet(binding, permission, patterns))
}

/** What a child may do about one permission, for all of these patterns. */
export function rightTo(
  rights: Omit<Rights, "last">,
  permission: string,
  patterns: readonly string[],
  { unsure = false, within = "" }: Reading = {},
): Right {
  const { own } = rights
  if (ours(permission)) return { action: "allow" }
  const [grant, above] = [granted(rights.grant, within), placed(rights.above, within)]
  const why = guarded(grant, permission, patterns)
  if (why !== undefined) return { action: "deny", why }
  if (unsure) return stricter(blindly([own], permission), blindly(above, permission))
  return stricter(meet([own], permission, patterns), theirs({ above, grant }, permission, patterns))
}

/**
 * What is said of writing, without a person's word, what a child has proposed. An agent that may not edit at all works by
 * proposing, so its own rules do not count then; everybody above it may have to be asked all the same.
 */
export function rightToPropose(rights: Rights, patterns: readonly string[], within: Within): Right {
  if (uniform(rights.own.rules, "edit") !== "deny") return rightTo(rights, "edit", patterns, { within })
  const [grant, above] = [granted(rights.grant, within), placed(rights.above, within)]
  return theirs({ above, grant }, "edit", patterns)
}

/**
 * What its user's own rules for passes say of a child that makes one: they are its agent's. A question that comes of our
 * fences around everything is none of theirs.
 */
export const rightToPass = ({ own }: Pick<Rights, "own">, patterns: readonly string[]): Right =>
  meet([own], "pass_over", patterns)

/** The rules that a child's session starts with. They are the first fence; `before` is the one that decides. */
export function startingRules({ own, above, grant, last }: Rights): Rule[] {
  const named = new Set([...[own, ...above].flatMap(({ rules }) => rules), ...grant].map((rule) => rule.permission))
  const permissions = [...named].filter((permission) => !ours(permission))
  const unused = OURS.filter((permission) => uniform(own.rules, permission) === "deny")
  return [
    ...fences(own, above, [...KNOWN.filter((name) => !named.has(name)), ...permissions], grant),
    ...unused.map(deny),
    deny("task"),
    // Its description is the longest but one. The host spares its own subagents it too, unless they ask for it.
    ...(own.rules.some(({ permission }) => permission === "todowrite") ? [] : [deny("todowrite")]),
    // At the end of the chain every pass would be refused; what cannot be used is not shown.
    ...(last ? [deny("pass_over"), deny("pass_over_read"), deny("pass_over_review"), deny("flow")] : []),
    allow("pass_over_return"),
  ]
}

/**
 * What stands before the starting rules in a session that has rules of an earlier pass: the last rule that matches holds,
 * so that the agent's own, said once more, take back all that was added to them since.
 */
export const anew = ({ own }: Pick<Rights, "own">): Rule[] => [
  { permission: "*", pattern: "*", action: "ask" },
  ...own.rules,
]

const KNOWN = [
  "edit",
  "bash",
  "read",
  "grep",
  "glob",
  "list",
  "webfetch",
  "websearch",
  "codesearch",
  "lsp",
  "skill",
  "todowrite",
]

/** Who or what forbids it, as the end of a sentence. */
export function forbidden({ subagent_id }: Pick<Pass, "subagent_id">, { who, why }: Right): string {
  if (why !== undefined) return why
  if (who?.startsWith("can_") || who?.startsWith("the constraint")) return `${who} forbids it`
  return `${who === subagent_id ? "its own rules" : `the rules of ${who}`} forbid it`
}

/** Where a project lies, seen from where the host begins the names of its files. */
export const withinOf = ({
  directory,
  worktree,
  relative,
}: Pick<Place, "directory" | "worktree" | "relative">): Within => relative(worktree, directory).replaceAll("\\", "/")

/** The word against a tool call of a child, or nothing. A question is the host's to ask. */
export function against(
  rights: Rights,
  pass: Pass,
  call: { tool: string; args: Record<string, unknown>; place: Place },
): string | undefined {
  const within = withinOf(call.place)
  for (const { permission, patterns, unsure } of demands(call.tool, call.args, call.place)) {
    const right = rightTo(rights, permission, patterns, { unsure, within })
    if (right.action !== "deny") continue
    const why = `${forbidden(pass, right)}${unsure && right.rule?.pattern !== "*" ? "; it could not be told apart what all of it does" : ""}`
    return sentence(
      refuse(
        PassOverErrorCode.PERMISSION_DENIED,
        `${pass.subagent_id} may not ${permission} ${patterns.join(", ")} in this pass: ${why}.`,
        {
          suggestion: "Do what you can without it, and say in your return what you could not do.",
        },
      ),
    )
  }
  return undefined
}
