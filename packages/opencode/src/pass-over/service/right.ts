import { isRework, runOfCall } from "../domain/call"
import { constraintLayers } from "../domain/constraint"
import { demands, type Place } from "../domain/demand"
import { PassOverErrorCode, refuse, sentence } from "../domain/errors"
import type { Pass } from "../domain/pass"
import type { Effective } from "../domain/preference"
import { evaluate, fences, meet, type Layer, type Right, type Rule } from "../domain/right"
import type { Engine, Project } from "./engine"

/** What a child is held to. `own` is its agent's; everything in `above` narrows that. */
export type Rights = {
  own: Layer
  above: Layer[]
  /** What its pair grants although nobody above may. */ grant: Rule[]
}

// Ours are governed by us: who may pass on, return or review is not a matter of the host's rules.
const OURS = ["pass_over", "pass_over_return", "pass_over_read", "pass_over_review", "pass_over_gate", "flow"]

const deny = (permission: string): Rule => ({ permission, pattern: "*", action: "deny" })
const allow = (permission: string): Rule => ({ permission, pattern: "*", action: "allow" })

function limits(pass: Pass): Layer[] {
  const { can_modify_files, can_run_tools } = pass.preference.values as Effective
  return [
    ...(can_run_tools ? [] : [{ who: "can_run_tools, which is false for it", rules: [deny("*")] }]),
    ...(can_modify_files
      ? []
      : [{ who: "can_modify_files, which is false for it", rules: [allow("*"), deny("edit")] }]),
    ...constraintLayers(pass.constraints),
  ]
}

/** Everything that a child of this pass is held to: all agents above it, their passes' limits, and the session's rules. */
export async function rightsOf(engine: Engine, project: Project, pass: Pass): Promise<Rights> {
  const agents = new Map((await project.host.agents()).map((agent) => [agent.name, agent.rules ?? [allow("*")]]))
  // Whom nobody knows, nobody has allowed anything.
  const layer = (who: string): Layer => ({ who, rules: agents.get(who) ?? [deny("*")] })
  const { grant } = pass.preference.values as Effective
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
    above: [...above, ...limits(pass)],
    // A grant reaches as far as the pair that carries it, and never beyond what the ones above it were granted.
    grant: grant.map(({ permission, pattern }) => ({ permission, pattern, action: "allow" })),
  }
}

/** Whose call started the run that a pass belongs to; what is done again of it belongs to it too. */
async function starterOf(engine: Engine, pass: Pass): Promise<string[]> {
  const run_id = runOfCall(pass.call_id)
  const starter = run_id === undefined ? null : (await engine.store.run(run_id))?.starter
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

/** What a child may do about one permission, for all of these patterns. */
export function rightTo({ own, above, grant }: Rights, permission: string, patterns: readonly string[]): Right {
  if (ours(permission)) return { action: "allow" }
  const wanted = patterns.filter((pattern) => evaluate(grant, permission, pattern).rule === undefined)
  const mine = meet([own], permission, patterns)
  const theirs = meet(above, permission, wanted)
  return mine.action === "deny" || theirs.action === "allow"
    ? mine
    : theirs.action === "deny" || mine.action === "allow"
      ? theirs
      : mine
}

/** The rules that a child's session starts with. They are the first fence; `before` is the one that decides. */
export function startingRules({ own, above }: Rights, pass: Pass): Rule[] {
  const named = new Set([own, ...above].flatMap(({ rules }) => rules.map((rule) => rule.permission)))
  const permissions = [...named].filter((permission) => !ours(permission))
  // At the end of the chain every pass would be refused; what cannot be used is not shown.
  const last = pass.chain_depth + 1 >= pass.max_chain_depth
  return [
    ...fences(own, above, [...KNOWN.filter((name) => !named.has(name)), ...permissions]),
    deny("task"),
    // Its description is the longest but one. The host spares its own subagents it too, unless they ask for it.
    ...(own.rules.some(({ permission }) => permission === "todowrite") ? [] : [deny("todowrite")]),
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

/** The word against a tool call of a child, or nothing. A question is the host's to ask. */
export function against(
  rights: Rights,
  pass: Pass,
  call: { tool: string; args: Record<string, unknown>; place: Place },
): string | undefined {
  for (const { permission, patterns } of demands(call.tool, call.args, call.place)) {
    const right = rightTo(rights, permission, patterns)
    if (right.action !== "deny") continue
    const whose = right.who === pass.subagent_id ? "its own rules" : `the rules of ${right.who}`
    const why = right.who?.startsWith("can_") || right.who?.startsWith("the constraint") ? right.who : whose
    return sentence(
      refuse(
        PassOverErrorCode.PERMISSION_DENIED,
        `${pass.subagent_id} may not ${permission} ${patterns.join(", ")} in this pass: ${why} forbid${why === whose ? "" : "s"} it.`,
        {
          suggestion: "Do what you can without it, and say in your return what you could not do.",
        },
      ),
    )
  }
  return undefined
}
