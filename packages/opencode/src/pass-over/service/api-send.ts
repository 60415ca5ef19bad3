import type { ContextMessage } from "../domain/context"
import { check } from "../domain/chain-validator"
import { allowedTime } from "../domain/config"
import { PassOverErrorCode, refuse, sentence, toError, type Refusal } from "../domain/errors"
import type { PassID } from "../domain/id"
import { event, note, type Noted, type Pass } from "../domain/pass"
import { rule, type Policy } from "../domain/policy"
import type { InlineOverride } from "../domain/preference"
import type { ExpectedOutputType, PassOverRequest, Priority } from "../domain/request"
import { move } from "../domain/return-context"
import { createWatch } from "./circles"
import { gather, type Gathered } from "./context"
import { bringWhenDone } from "./deliver"
import { complete } from "./recover"
import { endBelow, type Engine, type Project } from "./engine"
import type { Outcome } from "./port"
import { createProgress } from "./progress"
import { createRunner, type Runner } from "./runner"

/** Who asks: taken from the host, never from what the asker says. */
export type Caller = {
  agent: string
  session_id: string
  message_id: string | null
  call_id: string | null
  /** A person's override has no limits, a model's may only narrow. */
  by: "person" | "model"
  model: string | null
  /** The history of the caller's session, where the host has handed it over already. */
  history?: () => ContextMessage[]
  /** Asks a person before the pass starts; who cannot be asked, has said no. */
  confirm?: (from: string, to: string) => Promise<Refusal | undefined>
}

export type Ask = {
  subagent: string
  objective: string
  reason: string
  background?: string | undefined
  files?: readonly string[] | undefined
  constraints?: readonly string[] | undefined
  expected_output_type?: ExpectedOutputType | undefined
  priority?: Priority | undefined
  timeout_ms?: number | undefined
  model?: string | undefined
  wait?: boolean | undefined
  return_required?: boolean | undefined
  auto_apply_on_success?: boolean | undefined
  override?: InlineOverride | undefined
}

export type Sent =
  | { ok: true; runner: Runner; created: boolean }
  | { ok: false; refusal: Refusal; pass_over_id: string }

type Granted = {
  policy: Policy
  ancestors: string[]
  chain_depth: number
  parent: Pass | undefined
  root_session_id: string
  objective_hash: string
}

const normal = (objective: string) => objective.replaceAll(/\s+/g, " ").trim().toLowerCase()

/** Policy, chain, repetition and the caller's own deadline: everything that can refuse a pass before it exists. */
async function grant(engine: Engine, project: Project, caller: Caller, ask: Ask) {
  const above = engine.running.byChild(caller.session_id)
  const parent = above?.pass ?? (await engine.store.byChild(caller.session_id))
  const [written, agents, root_session_id] = await Promise.all([
    project.written(),
    project.host.agents(),
    parent ? parent.root_session_id : project.host.root(caller.session_id),
  ])
  const override = {
    ...ask.override,
    ...(ask.timeout_ms === undefined ? {} : { timeout_ms: ask.timeout_ms }),
    ...(ask.auto_apply_on_success === undefined ? {} : { auto_apply: ask.auto_apply_on_success }),
    ...(ask.constraints && ask.constraints.length > 0 ? { constraints: [...ask.constraints] } : {}),
  }
  const ruled = rule(
    { from: caller.agent, to: ask.subagent, override, by: caller.by },
    { written, agents, defaults: engine.agents.defaults },
  )
  if (!ruled.ok) return ruled
  const objective_hash = engine.hash(normal(ask.objective))
  const checked = check(
    { from: caller.agent, to: ask.subagent },
    {
      above: parent?.ancestors ?? [],
      repeated: await engine.store.repeated({ root_session_id, from: caller.agent, to: ask.subagent, objective_hash }),
      remaining_ms: above?.remaining_ms,
      max_chain_depth: ruled.policy.values.max_chain_depth,
    },
  )
  if (!checked.ok) return checked
  const { ancestors, chain_depth } = checked
  const granted: Granted = { policy: ruled.policy, ancestors, chain_depth, parent, root_session_id, objective_hash }
  return { ok: true as const, granted }
}

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
    model: ask.model ?? caller.model,
    // A nested pass never outlives its caller's deadline.
    timeout_ms: Math.max(1, Math.floor(Math.min(allowedTime(values), left ?? Infinity))),
    context_bytes,
    parent_pass_id: granted.parent?.id ?? null,
    trace_id: granted.parent?.trace_id ?? id,
    chain_depth: granted.chain_depth,
    max_chain_depth: values.max_chain_depth,
    ancestors: granted.ancestors,
    policy: granted.policy.name,
    overrides: granted.policy.overrides,
    preference: { values, sources: granted.policy.resolved.sources },
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

async function open(engine: Engine, pass: Pass, gathered: Gathered, values: Policy["values"]) {
  const at = pass.time_created
  const { pass: kept, created } = await engine.store.open({
    pass,
    request: requestOf(pass, gathered),
    manifest: gathered.manifest,
    return_id: engine.ids.make("ret"),
    auto_return_enabled: values.auto_return,
    auto_apply_enabled: values.auto_apply,
    note: note(pass, {
      action: "requested",
      actor: pass.originating_agent_id,
      at,
      summary: pass.objective.slice(0, 500),
    }),
    event: event(pass, "pass.requested", at, { from: pass.originating_agent_id, to: pass.subagent_id }),
  })
  if (!created) return { pass: kept, created }
  const decided = move(kept, "waiting_for_return")
  if (!decided.ok) throw toError(decided.refusal)
  const started: Pass = { ...kept, time_started: engine.clock.now() }
  const dispatched = await engine.store.commit({
    pass: kept,
    move: decided.move,
    at: started.time_started ?? at,
    note: note(started, { action: "dispatched", actor: engine.owner_id, at: engine.clock.now() }),
    event: event(kept, "pass.dispatched", engine.clock.now()),
  })
  return { pass: dispatched === "stale" ? kept : dispatched, created }
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
  }
  await engine.store
    .refuse(
      note(noted, {
        action: "refused",
        actor: noted.originating_agent_id,
        at,
        error_code: refusal.code,
        summary: sentence(refusal),
      }),
      event(noted, "pass.refused", at, { code: refusal.code, to: noted.subagent_id }),
    )
    .catch((error: unknown) => engine.log("warn", "a refusal could not be recorded", { error: String(error) }))
  project.logged(noted.session_id)
  return { ok: false, refusal, pass_over_id: noted.id }
}

/** Step 4: a person decides before anything starts, where the policy wants it so. */
async function confirmed(caller: Caller, ask: Ask, granted: Granted): Promise<Refusal | undefined> {
  if (!granted.policy.values.require_confirmation || caller.by === "person") return
  if (caller.confirm) return caller.confirm(caller.agent, ask.subagent)
  return refuse(PassOverErrorCode.DECLINED, "This pass needs a person's confirmation, and nobody can be asked here.")
}

/** Hands a piece of work over, or says why not. What comes back runs; its outcome comes exactly once. */
export async function send(engine: Engine, project: Project, caller: Caller, ask: Ask): Promise<Sent> {
  const asked: Asked = { id: engine.ids.pass(), caller, ask }
  const decided = await grant(engine, project, caller, ask)
  if (!decided.ok) return refused(engine, project, asked, decided.refusal)
  const { granted } = decided
  const declined = await confirmed(caller, ask, granted)
  if (declined) return refused(engine, project, asked, declined)
  const gathered = await gather(
    { host: project.host, tokens: engine.tokens, hash: engine.hash },
    {
      session_id: caller.session_id,
      directory: project.directory,
      objective: ask.objective,
      background: ask.background,
      files: ask.files ?? [],
      now: engine.clock.now(),
      history: caller.history,
    },
    granted.policy.values,
  )
  const pass = newPass(engine, project, { asked, granted, context_bytes: gathered.bytes })
  const opened = await open(engine, pass, gathered, granted.policy.values)
  const already = engine.running.get(opened.pass.id)
  if (already) return { ok: true, runner: already, created: false }
  return { ok: true, runner: run(engine, project, opened.pass, { gathered, granted }), created: opened.created }
}

async function over(engine: Engine, project: Project, runner: Runner, outcome: Outcome) {
  const { pass } = runner
  endBelow(engine.running, pass.id, outcome.output.status)
  engine.running.remove(pass.id)
  project.logged(pass.session_id)
  try {
    await complete(engine, project, pass, outcome)
    await bringWhenDone(engine, project, pass)
  } catch (error) {
    engine.log("warn", "a result waits for the next start", { pass_over_id: pass.id, error: String(error) })
  }
}

function run(engine: Engine, project: Project, pass: Pass, given: { gathered: Gathered; granted: Granted }): Runner {
  const { gathered, granted } = given
  const progress = createProgress(project.host, engine.clock)
  const runner = createRunner(
    { ...engine, host: project.host, changed: progress.changed },
    pass,
    { request: requestOf(pass, gathered), manifest: gathered.manifest, constraints: pass.constraints },
    { time_ms: pass.timeout_ms, idle_ms: granted.policy.values.idle_timeout_ms },
  )
  const { host } = project
  engine.running.add({ runner, host, watch: createWatch({ ...engine, host }, runner) })
  void runner.outcome.then((outcome: Outcome) => over(engine, project, runner, outcome))
  runner.start()
  return runner
}
