import type { AgentInfo } from "../domain/agent"
import { check } from "../domain/chain-validator"
import { unenforceable } from "../domain/constraint"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { Given } from "../domain/given"
import { resolveLimits, type Limits } from "../domain/limit"
import type { ContextMessage } from "../domain/context"
import { unreadable } from "../domain/output-schema"
import type { Pass } from "../domain/pass"
import { rule, saidOfChain, settingOf, type Policy } from "../domain/policy"
import type { InlineOverride } from "../domain/preference"
import type { ExpectedOutputType, Priority } from "../domain/request"
import type { Layer } from "./change/stand-on"
import type { Engine, Project } from "./engine"
import type { Surface } from "./gate"
import { earlierOf, type Earlier } from "./go-on"
import { overAlready, standing } from "./standing"

/** Who asks: taken from the host, never from what the asker says. */
export type Caller = {
  agent: string
  session_id: string
  message_id: string | null
  call_id: string | null
  /** A person's override has no limits, a model's may only narrow. */
  by: "person" | "model"
  model: string | null
  /** Subagents that the host itself has asked its user about, who has said yes. */
  permitted?: ReadonlySet<string>
  /** The history of the caller's session, where the host has handed it over already. */
  history?: () => ContextMessage[]
  /** Puts a question of the inbox to the person in the host's own dialog too. */
  surface?: Surface
}

export type Ask = {
  subagent: string
  objective: string
  reason: string
  background?: string | undefined
  files?: readonly string[] | undefined
  /** What the caller brings along of its own. */
  given?: Given | undefined
  constraints?: readonly string[] | undefined
  expected_output_type?: ExpectedOutputType | undefined
  priority?: Priority | undefined
  timeout_ms?: number | undefined
  model?: string | undefined
  wait?: boolean | undefined
  return_required?: boolean | undefined
  auto_apply_on_success?: boolean | undefined
  override?: InlineOverride | undefined
  /** An earlier pass that has ended: its child goes on, in its own session. */
  continue?: string | undefined
  /** Work of earlier passes that its child finds in its tree. */
  stands_on?: readonly Layer[] | undefined
}

export type Granted = {
  policy: Policy
  ancestors: string[]
  chain_depth: number
  parent: Pass | undefined
  root_session_id: string
  objective_hash: string
  limits: Limits
  /** The pass that this one continues. */
  earlier: Earlier | undefined
  /** What the call names, else what the subagent is made to work with, else the originator's own. */
  model: string | null
}

const normal = (objective: string) => objective.replaceAll(/\s+/g, " ").trim().toLowerCase()

function unknownOriginator({ agent }: Caller, agents: readonly AgentInfo[]): Refusal | undefined {
  if (agents.some(({ name }) => name === agent)) return undefined
  return refuse(PassOverErrorCode.INVALID_SUBAGENT, `There is no agent "${agent}", so it can pass nothing on.`, {
    suggestion: "Name an agent of this project as the originator.",
  })
}

/** Policy, chain, repetition and the caller's own deadline: everything that can refuse a pass before it exists. */
export async function grant(engine: Engine, project: Project, caller: Caller, ask: Ask) {
  const { above, parent, root_session_id, over } = await standing(engine, project, caller)
  const [written, agents] = await Promise.all([project.written(), project.host.agents()])
  const stranger = unknownOriginator(caller, agents)
  if (stranger) return { ok: false as const, refusal: stranger }
  const override = {
    ...ask.override,
    ...(ask.timeout_ms === undefined ? {} : { timeout_ms: ask.timeout_ms }),
    ...(ask.auto_apply_on_success === undefined ? {} : { auto_apply: ask.auto_apply_on_success }),
    ...(ask.constraints && ask.constraints.length > 0 ? { constraints: [...ask.constraints] } : {}),
  }
  const ruled = rule(
    { from: caller.agent, to: ask.subagent, override, by: caller.by, agents_at_most: parent && saidOfChain(parent) },
    { written, agents, defaults: engine.agents.defaults },
  )
  if (!ruled.ok) return ruled
  const { values } = ruled.policy
  const unread = values.validate_output ? await unreadable(ask.subagent, values.output_schema) : undefined
  if (unread) return { ok: false as const, refusal: unread }
  const vain = unenforceable(values.constraints, (constraint) => settingOf(ruled.policy, constraint))
  if (vain) return { ok: false as const, refusal: vain }
  const objective_hash = engine.hash(normal(ask.objective))
  const checked = check(
    { from: caller.agent, to: ask.subagent },
    {
      above: parent?.ancestors ?? [],
      repeated: await engine.store.repeated({ root_session_id, from: caller.agent, to: ask.subagent, objective_hash }),
      remaining_ms: over?.status === "timed_out" ? 0 : above?.remaining_ms,
      max_chain_depth: ruled.policy.values.max_chain_depth,
    },
  )
  if (!checked.ok) return checked
  if (over) return { ok: false as const, refusal: overAlready(caller, over) }
  const { ancestors, chain_depth } = checked
  const { by, session_id } = caller
  const wanted = { id: ask.continue ?? "", subagent: ask.subagent, root_session_id, by, session_id }
  const earlier = ask.continue === undefined ? undefined : await earlierOf(engine, wanted)
  if (earlier && "code" in earlier) return { ok: false as const, refusal: earlier }
  const limits = resolveLimits(written.map(({ preferences }) => preferences.limits))
  const granted: Granted = {
    policy: ruled.policy,
    ancestors,
    chain_depth,
    parent,
    root_session_id,
    objective_hash,
    limits,
    earlier,
    model: ask.model ?? agents.find(({ name }) => name === ask.subagent)?.model ?? caller.model,
  }
  return { ok: true as const, granted }
}
