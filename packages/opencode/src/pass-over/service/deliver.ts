import { envelope, headline } from "../domain/envelope"
import { told, type Gate } from "../domain/gate"
import { resultMarks } from "../domain/marker"
import { event, note, type Pass } from "../domain/pass"
import { valuesOf } from "../domain/policy"
import { move } from "../domain/return-context"
import type { Answered, Told } from "./answers"
import { awake } from "./awake"
import type { Engine, Project } from "./engine"
import { openGate } from "./gate"
import { putOff } from "./undone"
import type { Commit, Delivery, Outcome } from "./port"

const ASKED =
  "A person is asked whether these changes are applied; what they say comes as a message. Do not wait for it."

const unwritten = (why: string) =>
  `This result could not be written down, and what was changed may be missing from it: ${why} Tell the user this. It is written down as soon as that is possible; until then pass_over_read does not know it.`

/** What the originator's model reads when its pass has come back. */
export const answerText = (engine: Pick<Engine, "ids">, outcome: Outcome, among = 1) =>
  [
    envelope(outcome.output, outcome.usage.cost, engine.ids.nonce, among),
    ...(outcome.asked ? [ASKED] : []),
    ...(outcome.unrecorded === undefined ? [] : [unwritten(outcome.unrecorded)]),
  ].join("\n")

/** That the originator of a pass has dealt with what came back; nothing where its return context allows it no more. */
export function processed(pass: Pass, outcome: Outcome, at: number): Commit | undefined {
  const decided = move(pass, "processed")
  if (!decided.ok) return
  return {
    pass,
    move: decided.move,
    at,
    note: note(pass, {
      action: "processed",
      actor: pass.originating_agent_id,
      at,
      output: outcome.output,
      error_code: outcome.error_code ?? undefined,
    }),
    event: event(pass, "pass.processed", at),
  }
}

type Arrived = { pass: Pass; outcome: Outcome; message_id: string | null }

/** Results stand in their originators' sessions: they are written down as delivered, once, and dealt with. */
async function arrive(engine: Engine, project: Project, arrived: readonly Arrived[]) {
  if (arrived.length === 0) return
  const at = engine.clock.now()
  await engine.store.delivered(
    arrived.map(({ pass, outcome, message_id }) => {
      const commit = processed(pass, outcome, at)
      return { pass_over_id: pass.id, message_id, at, ...(commit ? { commit } : {}) }
    }),
  )
  for (const { pass } of arrived) project.logged(pass.session_id)
}

/** The result stands in the originator's session. */
export async function delivered(engine: Engine, project: Project, pass_over_id: Pass["id"], message_id: string | null) {
  const [pass, outcome] = await Promise.all([engine.store.find(pass_over_id), engine.store.outcome(pass_over_id)])
  if (pass && outcome) await arrive(engine, project, [{ pass, outcome, message_id }])
}

/** What went into the answer of a tool call, by the database: whoever gave the answer may be gone. */
async function lookedUp({ store }: Engine, call: Answered): Promise<Told[]> {
  const passes = await store.ofCall(call.session_id, call.call_id)
  const here = (pass: Pass) => pass.message_id === null || pass.message_id === call.message_id
  const waited = new Map(passes.filter((pass) => pass.wait && here(pass)).map((pass) => [pass.id, pass]))
  if (waited.size === 0) return []
  const found: Told[] = []
  for (const { pass_over_id, mode, status } of await store.deliveries(call.session_id)) {
    const pass = waited.get(pass_over_id)
    // What a person holds back, and what comes as a message, is not in the answer.
    if (!pass || mode !== "tool" || status === "held") continue
    const outcome = await store.outcome(pass_over_id)
    if (outcome) found.push({ pass, outcome })
  }
  return found
}

/** Originators' tool calls have their answers stored: with them every result that went into these. */
export async function answered(engine: Engine, project: Project, ...calls: readonly Answered[]) {
  const arrived: Arrived[] = []
  for (const call of calls) {
    const ours = engine.answers.take(call)
    const told = ours.length > 0 ? ours : await lookedUp(engine, call)
    arrived.push(...told.map((each) => ({ ...each, message_id: call.message_id })))
  }
  await arrive(engine, project, arrived)
}

const cameBack = ({ originating_agent_id, continues_pass_id }: Pass) =>
  continues_pass_id === null
    ? `A pass that ${originating_agent_id} made earlier has come back.`
    : `A pass that goes on from pass ${continues_pass_id} has come back.`

const messageText = (engine: Engine, pass: Pass, outcome: Outcome) =>
  [cameBack(pass), answerText(engine, outcome)].join("\n")

export type Bringing = {
  pass: Pass
  delivery: Delivery
  /** Whether the originator's model may go on by itself. After a restart it waits for the user. */
  start: boolean
}

/**
 * Brings a result into its originator's session as a message, once. The message's id is written down before it is sent,
 * so that whoever comes after a crash can see whether it arrived.
 */
export async function bring(engine: Engine, project: Project, { pass, delivery, start }: Bringing): Promise<boolean> {
  const outcome = await engine.store.outcome(pass.id)
  if (!outcome) return false
  if (delivery.message_id !== null && (await project.host.hasMessage(pass.session_id, delivery.message_id))) {
    await delivered(engine, project, pass.id, delivery.message_id)
    return true
  }
  if (await putOff(engine, project, pass.session_id, () => bringQuietly(engine, project, pass))) return false
  const message_id = project.host.messageID(pass.id)
  if (!(await engine.store.take({ pass_over_id: pass.id, owner_id: engine.owner_id, from: delivery, message_id })))
    return false
  const asking = await engine.store.gates({ pass_over_id: pass.id, kind: "approval", status: ["pending"] })
  const text = messageText(engine, pass, { ...outcome, asked: asking.length > 0 })
  const sent = await project.host.deliver({
    session_id: pass.session_id,
    message_id,
    text,
    start,
    of: pass.id,
    metadata: resultMarks(pass, outcome.output),
  })
  if (sent === "gone") {
    // Its session was deleted. The result stays readable; there is nobody left to bring it to.
    await engine.store.redirect({ pass_over_id: pass.id, mode: "none" })
    return false
  }
  await delivered(engine, project, pass.id, message_id)
  return true
}

/** What waits to be brought as a message. */
async function waiting(engine: Engine, pass: Pass): Promise<Delivery | undefined> {
  const deliveries = await engine.store.deliveries(pass.session_id)
  return deliveries.find((one) => one.pass_over_id === pass.id && one.mode === "message" && one.status === "pending")
}

/** Brings the result of a pass that nobody waits for, as soon as it is there. */
export async function bringWhenDone(engine: Engine, project: Project, pass: Pass) {
  const delivery = await waiting(engine, pass)
  if (delivery) await bring(engine, project, { pass, delivery, start: await awake(engine, pass.session_id) })
}

/** The same, for whoever has just taken back what it was asked for with: no model is woken by it. */
async function bringQuietly(engine: Engine, project: Project, pass: Pass) {
  const delivery = await waiting(engine, pass)
  if (delivery) await bring(engine, project, { pass, delivery, start: false })
}

/** Asks a person whether a result may reach its originator; nobody waits for the answer here. */
export async function holdBack(engine: Engine, pass: Pass, outcome: Outcome) {
  const values = valuesOf(pass)
  await openGate(engine, {
    key: `${pass.id}:delivery`,
    kind: "delivery",
    pass,
    session_id: pass.root_session_id,
    directory: pass.directory,
    asked_by: pass.subagent_id,
    question: `May this reach ${pass.originating_agent_id}? ${headline(outcome.output, outcome.usage.cost)}`,
    detail: {
      findings: outcome.output.summary.findings.slice(0, 20),
      decision: outcome.output.summary.decision ?? null,
    },
    policy: "auto_return is false",
    default_action: values.gate_default,
    ttl_ms: values.gate_ttl_ms,
  })
}

/** Nobody confirmed it in time, or a person said no: the two ends that a result has without being dealt with. */
function dropped(pass: Pass, outcome: Outcome, gate: Gate, at: number): Commit | undefined {
  const end = gate.answered_by === null ? "timed_out" : "cancelled"
  const decided = move(pass, end)
  if (!decided.ok) return
  const { output } = outcome
  return {
    pass,
    move: decided.move,
    at,
    note: note(pass, { action: end, actor: gate.answered_by ?? "default", at, output, summary: told(gate) }),
    event: event(pass, end === "timed_out" ? "pass.timed_out" : "pass.cancelled", at, { gate_id: gate.gate_id }),
  }
}

/** Carries out a person's word about a held result; twice does no more than once. */
export async function releaseOrDrop(engine: Engine, project: Project, gate: Gate) {
  const pass = gate.pass_over_id === null ? undefined : await engine.store.find(gate.pass_over_id)
  const outcome = pass && (await engine.store.outcome(pass.id))
  if (!pass || !outcome) return
  if (gate.status === "approved") {
    if (await engine.store.release(pass.id)) await bringWhenDone(engine, project, pass)
    return
  }
  const commit = dropped(pass, outcome, gate, engine.clock.now())
  if (commit) await engine.store.commit(commit)
  // Last, because this is what ends it: until then whoever comes after a crash begins again.
  await engine.store.redirect({ pass_over_id: pass.id, mode: "none" })
}

/** The tool call that waited for this result is gone: what is worth reading goes into the session as a message. */
export async function missed(engine: Engine, project: Project, pass: Pass, outcome: Outcome) {
  // What is held goes the way that a person lets it go.
  if (outcome.taken || outcome.held) return
  const { status, artifacts } = outcome.output
  // What a child did that has not been read yet may be anything.
  const worth = status === "completed" || artifacts.length > 0 || outcome.transcript === "unread"
  await engine.store.redirect({ pass_over_id: pass.id, mode: worth ? "message" : "none" })
  // Whoever opens the project next brings it: anything that were asked of a host that goes would open it again.
  if (!worth || project.closing?.aborted) return
  const delivery = (await engine.store.deliveries(pass.session_id)).find((waiting) => waiting.pass_over_id === pass.id)
  // Who stopped the originator does not want it to go on by itself.
  if (delivery?.status === "pending") await bring(engine, project, { pass, delivery, start: false })
}

// The host still takes the answer of a call that it has stopped for a quarter of a second.
const TAKEN_MS = 1_000

/** The same for all that a stopped call had waited for, also what had come long before, unless its answer was taken yet. */
export function missedAll(engine: Engine, project: Project, came: readonly Told[]) {
  const all = () => {
    for (const { pass, outcome } of came)
      void missed(engine, project, pass, outcome).catch((error: unknown) =>
        engine.log("warn", "a result waits for the next start", { pass_over_id: pass.id, error: String(error) }),
      )
  }
  // Of a host that goes no answer is taken.
  if (project.closing?.aborted) return all()
  engine.clock.after(TAKEN_MS, all)
}
