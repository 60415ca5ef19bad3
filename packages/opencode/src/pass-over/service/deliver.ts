import { envelope } from "../domain/envelope"
import { event, note, type Pass } from "../domain/pass"
import { move } from "../domain/return-context"
import type { Engine, Project } from "./engine"
import type { Commit, Delivery, Outcome } from "./port"

/** What the originator's model reads when its pass has come back. */
export const answerText = (engine: Pick<Engine, "ids">, outcome: Outcome) =>
  envelope(outcome.output, outcome.usage.cost, engine.ids.nonce)

function processed(pass: Pass, outcome: Outcome, at: number): Commit | undefined {
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

/** The result stands in the originator's session: it is written down as delivered, once, and dealt with. */
export async function delivered(engine: Engine, project: Project, pass_over_id: Pass["id"], message_id: string | null) {
  const [pass, outcome] = await Promise.all([engine.store.find(pass_over_id), engine.store.outcome(pass_over_id)])
  if (!pass || !outcome) return
  const at = engine.clock.now()
  const commit = processed(pass, outcome, at)
  await engine.store.delivered({ pass_over_id, message_id, at, ...(commit ? { commit } : {}) })
  project.logged(pass.session_id)
}

const messageText = (engine: Engine, pass: Pass, outcome: Outcome) =>
  [`A pass that ${pass.originating_agent_id} made earlier has come back.`, answerText(engine, outcome)].join("\n")

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
  const message_id = project.host.messageID(pass.id)
  if (!(await engine.store.take({ pass_over_id: pass.id, owner_id: engine.owner_id, from: delivery, message_id })))
    return false
  const text = messageText(engine, pass, outcome)
  const sent = await project.host.deliver({
    session_id: pass.session_id,
    message_id,
    text,
    start,
    pass,
    output: outcome.output,
  })
  if (sent === "gone") {
    // Its session was deleted. The result stays readable; there is nobody left to bring it to.
    await engine.store.redirect({ pass_over_id: pass.id, mode: "none" })
    return false
  }
  await delivered(engine, project, pass.id, message_id)
  return true
}

/** Brings the result of a pass that nobody waits for, as soon as it is there. */
export async function bringWhenDone(engine: Engine, project: Project, pass: Pass) {
  const deliveries = await engine.store.deliveries(pass.session_id)
  const delivery = deliveries.find((waiting) => waiting.pass_over_id === pass.id)
  if (!delivery || delivery.mode !== "message" || delivery.status !== "pending") return
  // A child that has ended itself must not be woken up by what it once asked for.
  const asked = await engine.store.byChild(pass.session_id)
  await bring(engine, project, {
    pass,
    delivery,
    start: asked === undefined || engine.running.get(asked.id) !== undefined,
  })
}

/** The tool call that waited for this result is gone: what is worth reading goes into the session as a message. */
export async function missed(engine: Engine, project: Project, pass: Pass, outcome: Outcome) {
  const worth = outcome.output.status === "completed" || outcome.output.artifacts.length > 0
  await engine.store.redirect({ pass_over_id: pass.id, mode: worth ? "message" : "none" })
  if (!worth) return
  const delivery = (await engine.store.deliveries(pass.session_id)).find((waiting) => waiting.pass_over_id === pass.id)
  // Who stopped the originator does not want it to go on by itself.
  if (delivery) await bring(engine, project, { pass, delivery, start: false })
}
