import { PassOverErrorCode } from "../domain/errors"
import { told, type Gate } from "../domain/gate"
import type { Limits } from "../domain/limit"
import { event, type Pass } from "../domain/pass"
import { policyOf, valuesOf } from "../domain/policy"
import type { Right } from "../domain/right"
import { createBudgetWatch } from "./budget"
import { createWatch } from "./circles"
import { bringWhenDone, holdBack } from "./deliver"
import { endBelow, standStill, waiters, type Engine, type Entry, type Project } from "./engine"
import { answerTo, lookAtGates, openGate, ttlOf, withdrawGate, type Surface } from "./gate"
import { FOR_YOU, type Assignment } from "./live"
import type { Outcome } from "./port"
import type { Place } from "./port-slot"
import { notify } from "./notify"
import { createProgress } from "./progress"
import { bringLeft, whole } from "./recover"
import { anew, rightsOf, rightToPropose, startingRules } from "./right"
import { createRunner, type Runner } from "./runner"
import { createScribe } from "./transcript"

/** A pass that was opened, with everything that it needs to run. */
export type Opened = Omit<Assignment, "constraints"> & {
  pass: Pass
  limits: Limits
  place: Place
  /** A person is asked before it starts. */
  asks: boolean
  surface?: Surface | undefined
}

// The originator goes on first.
const QUIET_MS = 500

/** What its child had begun to say when it was stopped; nobody hears of that any more. */
async function unheard({ runner, host, scribe }: Entry) {
  const child = runner.pass.child_session_id
  if (child !== null) scribe.rest(await host.messages(child).catch(() => []))
}

/** Its outcome could not be written down when it came. Whoever waited for it has it, which nobody could note either. */
async function writtenLate(engine: Engine, project: Project, pass: Pass) {
  await engine.late.written(pass.id)
  engine.news.tell("place")
  project.logged(pass.session_id)
  if (!pass.wait) return
  const delivery = (await engine.store.deliveries(pass.session_id)).find((one) => one.pass_over_id === pass.id)
  if (delivery?.status === "pending") await bringLeft(engine, project, { pass, delivery })
}

async function over(engine: Engine, project: Project, entry: Entry, outcome: Outcome) {
  const { pass } = entry.runner
  project.workspaces?.forgo(pass.id)
  endBelow(engine.running, pass.id, outcome.output.status)
  engine.running.remove(pass.id)
  engine.news.tell("place")
  // The question to a person, and what came of it, are whoever's that opens the project next.
  if (outcome.left === "waiting") return
  project.logged(pass.session_id)
  // Nothing is asked of a host that goes.
  const afterwards = () => {
    notify({ host: project.host, log: engine.log }, pass, outcome)
    if (!outcome.taken && outcome.error_code !== null) void unheard(entry)
  }
  if (!outcome.left) engine.clock.after(QUIET_MS, afterwards)
  engine.bringing.add(pass.id)
  try {
    if (outcome.unrecorded !== undefined) await writtenLate(engine, project, pass)
    // What it asked was withdrawn with its end.
    await lookAtGates(engine)
    if (outcome.taken || outcome.left) return
    await whole(engine, project, pass, outcome)
    if (outcome.held) return await holdBack(engine, pass, outcome)
    // Where a tool call waits it has the result itself, or says that it cannot take it any more.
    if (!pass.wait) await bringWhenDone(engine, project, pass)
  } catch (error) {
    engine.log("warn", "a result waits for the next start", { pass_over_id: pass.id, error: String(error) })
  } finally {
    engine.bringing.delete(pass.id)
  }
}

/** Runs what may take as long as a person or a queue takes: no limit of the pass counts meanwhile. */
async function paused<T>(runner: Runner, why: string, work: () => Promise<T>): Promise<T> {
  runner.wait(why)
  try {
    return await work()
  } finally {
    runner.wait(undefined)
  }
}

/** Who waits for a pass in line is not idle. Its time goes on, as only that of a person is excepted. */
async function keepAwake<T>(engine: Engine, runner: Runner, work: () => Promise<T>): Promise<T> {
  const above = waiters(engine.running, runner)
  if (above.length === 0) return work()
  const every = Math.max(1, Math.min(...above.map(({ run }) => run.idle_ms)) / 2)
  let unarm = () => {}
  const stir = () => {
    for (const each of above) each.input({ type: "activity" })
    unarm = engine.clock.after(every, stir)
  }
  stir()
  return work().finally(() => unarm())
}

async function confirm(engine: Engine, runner: Runner, surface: Surface | undefined): Promise<Gate> {
  const { pass } = runner
  const { gate } = await openGate(engine, {
    key: `${pass.id}:confirmation`,
    kind: "confirmation",
    pass,
    session_id: pass.root_session_id,
    directory: pass.directory,
    asked_by: pass.originating_agent_id,
    question: `May ${pass.originating_agent_id} pass this to ${pass.subagent_id}? ${pass.objective}`,
    detail: {
      reason: pass.reason,
      from: pass.originating_agent_id,
      to: pass.subagent_id,
      timeout_ms: pass.timeout_ms,
    },
    policy: policyOf(pass, "require_confirmation"),
    default_action: valuesOf(pass).gate_default,
    ttl_ms: ttlOf(engine, pass),
  })
  // It may have ended while its question was being put.
  if (runner.run.phase === "ended") await withdrawGate(engine, gate.gate_id)
  return answerTo(engine, gate, engine.headless ? undefined : surface)
}

/** Stands in line until it is this pass's turn, or until it is over. */
async function turn(engine: Engine, runner: Runner, limits: Limits): Promise<void> {
  const { pass } = runner
  while (runner.run.phase !== "ended") {
    const heard = Promise.withResolvers<void>()
    const off = engine.news.on(() => heard.resolve())
    try {
      const place = await engine.store.takeSlot({ pass_over_id: pass.id, limits, now: engine.clock.now() })
      if (place === "gone" || place.state === "running") return
      runner.wait(`queued, place ${place.place}`)
      await engine.store.announce(event(pass, "pass.queued", engine.clock.now(), { place: place.place }))
      await Promise.race([heard.promise, runner.outcome])
    } finally {
      off()
    }
  }
}

/** Whether a person is being asked just now. */
type Asking = { on: boolean }

/** What stands between a pass and its start: a person's word and a free place. */
async function prepare(engine: Engine, runner: Runner, opened: Opened, asking: Asking) {
  if (opened.asks) {
    const [parent] = waiters(engine.running, runner)
    asking.on = true
    const gate = await paused(runner, FOR_YOU, () =>
      standStill(engine.running, parent, () => confirm(engine, runner, opened.surface)),
    ).finally(() => (asking.on = false))
    if (gate.status !== "approved") {
      return runner.input({
        type: "cancel",
        failure: { code: PassOverErrorCode.DECLINED, message: `it was ${told(gate)}` },
      })
    }
    // Where its host has gone meanwhile, the answer is carried out by whoever goes on with it.
    if (runner.run.phase === "ended") return
    await engine.store.actOn(gate.gate_id, engine.clock.now())
  }
  await paused(runner, "queued", () => keepAwake(engine, runner, () => turn(engine, runner, opened.limits)))
  runner.start()
}

/** Rules speak of paths from the root of the repository on; a change names them from the project's folder on. */
function mayEdit({ within = "" }: Project, { rights }: Entry, paths: readonly string[]): Right {
  if (!rights) return { action: "deny", why: "its rights are not known" }
  return rightToPropose(
    rights,
    paths.map((path) => (within === "" ? path : `${within}/${path}`)),
    within,
  )
}

/** Lets go of a pass when its project does: the question to a person stays, and what is at work has ended with its host. */
function leaveWith({ closing }: Project, runner: Runner, asking: Asking) {
  if (!closing) return
  const leave = () => runner.leave(asking.on ? "waiting" : "ended")
  if (closing.aborted) return leave()
  closing.addEventListener("abort", leave)
  void runner.outcome.then(() => closing.removeEventListener("abort", leave))
}

/** Makes a pass run: at once where nothing stands in its way. */
export function begin(engine: Engine, project: Project, opened: Opened): Runner {
  const { pass, request, manifest } = opened
  const { host } = project
  const values = valuesOf(pass)
  const progress = createProgress({ ...engine, host })
  const rules = async (of: Pass) => {
    const rights = await rightsOf(engine, project, of)
    entry.rights = rights
    const starting = startingRules(rights)
    return of.continues_pass_id === null ? starting : [...anew(rights), ...starting]
  }
  const runner = createRunner(
    {
      ...engine,
      host,
      workspaces: project.workspaces,
      tree: project.tree,
      changed: progress.changed,
      rules,
      mayEdit: (paths) => mayEdit(project, entry, paths),
      busy: () => engine.running.all().length > 0,
    },
    pass,
    { request, manifest, constraints: pass.constraints, stands_on: opened.stands_on },
    { time_ms: pass.timeout_ms, idle_ms: values.idle_timeout_ms },
  )
  const watch = createWatch({ ...engine, host }, runner)
  const scribe = createScribe(engine, () => runner.pass)
  const entry: Entry = { runner, host, watch, budget: createBudgetWatch(engine, runner, opened.limits), scribe }
  engine.running.add(entry)
  void runner.outcome.then((outcome: Outcome) => over(engine, project, entry, outcome))
  const asking: Asking = { on: false }
  leaveWith(project, runner, asking)
  if (runner.run.phase === "ended") return runner
  if (!opened.asks && opened.place.state === "running") {
    runner.start()
    return runner
  }
  prepare(engine, runner, opened, asking).catch((error: unknown) =>
    runner.input({
      type: "cancel",
      failure: { code: PassOverErrorCode.SUBAGENT_CRASHED, message: String(error), final: true },
    }),
  )
  return runner
}
