import { describeOver, type Over } from "../domain/budget"
import { MAX_REPETITIONS, repetition } from "../domain/chain-validator"
import { allowedTime } from "../domain/config"
import { PassOverErrorCode, refuse, sentence, type Refusal } from "../domain/errors"
import type { PassID } from "../domain/id"
import { event, note, type Noted, type Pass } from "../domain/pass"
import type { PassOverRequest } from "../domain/request"
import { closed } from "../domain/secret"
import { begin } from "./begin"
import { leftBy } from "./change/stand-on"
import { gather, type Gathered } from "./context"
import type { Engine, Project } from "./engine"
import { grant, type Ask, type Caller, type Granted } from "./grant"
import { continuedAlready, promisePlace } from "./go-on"
import { depthBelow } from "./lineage"
import type { Runner } from "./runner"

export type { Ask, Caller } from "./grant"

export type Sent =
  | { ok: true; runner: Runner; created: boolean }
  | { ok: false; refusal: Refusal; pass_over_id: string }

type Asked = { id: PassID; caller: Caller; ask: Ask }

function newPass(
  engine: Engine,
  project: Project,
  from: { asked: Asked; granted: Granted; context_bytes: number },
): Pass {
  const { granted, context_bytes } = from
  const { id, caller, ask } = from.asked
  const { values } = granted.policy
  const left = granted.parent ? engine.running.get(granted.parent.id)?.remaining_ms : undefined
  return {
    id,
    session_id: caller.session_id,
    root_session_id: granted.root_session_id,
    message_id: caller.message_id,
    call_id: caller.call_id,
    directory: project.directory,
    user_id: engine.user_id,
    originating_agent_id: caller.agent,
    subagent_id: ask.subagent,
    reason: ask.reason,
    objective: ask.objective,
    objective_hash: granted.objective_hash,
    background: ask.background ?? null,
    priority: ask.priority ?? "medium",
    expected_output_type: ask.expected_output_type ?? "mixed",
    constraints: values.constraints,
    return_required: ask.return_required ?? true,
    // A result that nobody requires is not waited for either.
    wait: (ask.wait ?? true) && (ask.return_required ?? true),
    auto_apply_on_success: values.auto_apply,
    model: granted.model,
    // A nested pass never outlives its caller's deadline.
    timeout_ms: Math.max(1, Math.floor(Math.min(allowedTime(values), left ?? granted.limits.tree.time_ms ?? Infinity))),
    context_bytes,
    parent_pass_id: granted.parent?.id ?? null,
    continues_pass_id: granted.earlier?.pass.id ?? null,
    trace_id: granted.parent?.trace_id ?? id,
    chain_depth: granted.chain_depth,
    max_chain_depth: values.max_chain_depth,
    ancestors: granted.ancestors,
    policy: granted.policy.name,
    overrides: granted.policy.overrides,
    preference: closed({ values, sources: granted.policy.resolved.sources }),
    status: "initial",
    revision: 0,
    owner_id: engine.owner_id,
    fence: 1,
    child_session_id: null,
    time_created: engine.clock.now(),
    time_started: null,
    time_ended: null,
  }
}

const requestOf = (pass: Pass, gathered: Gathered): PassOverRequest => ({
  id: pass.id,
  originating_agent_id: pass.originating_agent_id,
  subagent_id: pass.subagent_id,
  work_context: gathered.context,
  reason: pass.reason,
  priority: pass.priority,
  timeout_ms: pass.timeout_ms,
  return_required: pass.return_required,
  auto_apply_on_success: pass.auto_apply_on_success,
  constraints: pass.constraints,
  expected_output_type: pass.expected_output_type,
})

type Opening = { pass: Pass; gathered: Gathered; granted: Granted; asks: boolean; caller: Caller }

/** Appendix A, step 9: what a person has allowed is written down, also where the host has asked them. */
const permission = (pass: Pass, { permitted }: Caller) =>
  permitted?.has(pass.subagent_id)
    ? note(pass, {
        action: "answered",
        actor: pass.user_id ?? "user",
        at: pass.time_created,
        summary: "permission: approve in opencode, now or for always",
      })
    : undefined

async function open(engine: Engine, { pass, gathered, granted, asks, caller }: Opening) {
  const at = pass.time_created
  const { values } = granted.policy
  return engine.store.open({
    pass,
    request: requestOf(pass, gathered),
    manifest: gathered.manifest,
    return_id: engine.ids.make("ret"),
    auto_return_enabled: values.auto_return,
    auto_apply_enabled: values.auto_apply,
    slot: {
      limits: granted.limits,
      reserve: { tokens: values.max_tokens, cost: values.max_cost },
      waiting: asks,
    },
    repetitions: MAX_REPETITIONS,
    note: note(pass, {
      action: "requested",
      actor: pass.originating_agent_id,
      at,
      summary: pass.objective.slice(0, 500),
    }),
    permitted: permission(pass, caller),
    event: event(pass, "pass.requested", at, {
      from: pass.originating_agent_id,
      to: pass.subagent_id,
      ...(pass.continues_pass_id === null ? {} : { continues: pass.continues_pass_id }),
    }),
  })
}

/** A refusal leaves its own line in the audit: who was refused what, and why. */
async function refused(engine: Engine, project: Project, asked: Asked, refusal: Refusal): Promise<Sent> {
  const at = engine.clock.now()
  const noted: Noted = {
    id: asked.id,
    session_id: asked.caller.session_id,
    directory: project.directory,
    user_id: engine.user_id,
    originating_agent_id: asked.caller.agent,
    subagent_id: asked.ask.subagent,
    reason: asked.ask.reason,
    expected_output_type: asked.ask.expected_output_type ?? "mixed",
    context_bytes: 0,
    policy: "refused",
    overrides: { ...asked.ask.override },
    time_started: null,
    ...(await depthBelow(engine, asked.caller.session_id)),
  }
  await engine.store
    .refuse(
      note(noted, {
        action: "refused",
        actor: noted.originating_agent_id,
        at,
        error_code: refusal.code,
        refusal,
        summary: sentence(refusal),
      }),
      event(noted, "pass.refused", at, { code: refusal.code, to: noted.subagent_id }),
    )
    .catch((error: unknown) => engine.log("warn", "a refusal could not be recorded", { error: String(error) }))
  project.logged(noted.session_id)
  return { ok: false, refusal, pass_over_id: noted.id }
}

/** What the host's own rules, or its user, have said no to before it came to us. */
export const turnedDown = (engine: Engine, project: Project, from: Omit<Asked, "id">, refusal: Refusal) =>
  refused(engine, project, { id: engine.ids.pass(), ...from }, refusal)

const overBudget = (over: Over): Refusal =>
  refuse(PassOverErrorCode.BUDGET_EXCEEDED, `${describeOver(over)}.`, {
    suggestion: `Finish with what there is. How much a tree may use is for the user to say (pass-over config set limits tree.${over.what} <most>).`,
    detail: over,
  })

// The host runs a call again when its model's answer broke off behind it. What it began then has its own outcome.
const madeBefore = (pass: Pass): Refusal =>
  refuse(PassOverErrorCode.STALE_REVISION, `This call was made before, as pass ${pass.id} (${pass.status}).`, {
    suggestion: "Read its result with pass_over_read, or make a new call.",
  })

/** What this very call has made already, where it asks to continue a pass: that pass is not free any more because of it. */
async function made(engine: Engine, { call_id, message_id, session_id }: Caller): Promise<Pass | undefined> {
  const known = call_id === null ? undefined : await engine.store.byCall(session_id, call_id)
  return known?.message_id === message_id ? known : undefined
}

type Made = { asked: Asked; granted: Granted; pass: Pass; gathered: Gathered }

/** Opens a pass and makes it run. */
async function launch(engine: Engine, project: Project, { asked, granted, pass, gathered }: Made): Promise<Sent> {
  const { caller } = asked
  // Who starts a pass by hand has said yes to it.
  const asks = granted.policy.values.require_confirmation && caller.by !== "person"
  const opened = await open(engine, { pass, gathered, granted, asks, caller })
  if ("over" in opened) return refused(engine, project, asked, overBudget(opened.over))
  if ("continued_by" in opened) {
    return refused(engine, project, asked, continuedAlready(asked.ask.continue ?? "", opened.continued_by))
  }
  if ("repeated" in opened) {
    const hop = { from: pass.originating_agent_id, to: pass.subagent_id }
    return refused(engine, project, asked, repetition(hop, opened.repeated))
  }
  const already = engine.running.get(opened.pass.id)
  if (already) return { ok: true, runner: already, created: false }
  if (!opened.created) return refused(engine, project, asked, madeBefore(opened.pass))
  const runner = begin(engine, project, {
    pass: opened.pass,
    request: requestOf(pass, gathered),
    manifest: gathered.manifest,
    stands_on: asked.ask.stands_on,
    limits: granted.limits,
    place: opened.place,
    asks,
    surface: caller.surface,
  })
  return { ok: true, runner, created: true }
}

/** Hands a piece of work over, or says why not. What comes back runs; its outcome comes exactly once. */
export async function send(engine: Engine, project: Project, caller: Caller, ask: Ask): Promise<Sent> {
  const asked: Asked = { id: engine.ids.pass(), caller, ask }
  const before = ask.continue === undefined ? undefined : await made(engine, caller)
  const still = before && engine.running.get(before.id)
  if (still) return { ok: true, runner: still, created: false }
  if (before) return refused(engine, project, asked, madeBefore(before))
  const decided = await grant(engine, project, caller, ask)
  if (!decided.ok) return refused(engine, project, asked, decided.refusal)
  const { granted } = decided
  // Where it works in the project itself, files are there as they are.
  const apart = granted.policy.values.isolation !== "none"
  const below = await leftBy(engine.store, apart ? (ask.stands_on ?? []) : [])
  const gathered = await gather(
    { host: project.host, tokens: engine.tokens, hash: engine.hash },
    {
      session_id: caller.session_id,
      directory: project.tree ?? project.directory,
      objective: ask.objective,
      background: ask.background,
      files: ask.files ?? [],
      given: ask.given,
      now: engine.clock.now(),
      model: granted.model,
      history: caller.history,
      changed: new Set(below.keys()),
    },
    granted.policy.values,
  )
  const pass = newPass(engine, project, { asked, granted, context_bytes: gathered.bytes })
  const { earlier } = granted
  const unfit = earlier && (await promisePlace(engine, project, { pass, earlier }))
  if (unfit) return refused(engine, project, asked, unfit)
  const sent = await launch(engine, project, { asked, granted, pass, gathered }).catch((error: unknown) => {
    project.workspaces?.forgo(pass.id)
    throw error
  })
  if (!sent.ok || !sent.created) project.workspaces?.forgo(pass.id)
  return sent
}
