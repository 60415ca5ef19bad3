import { heldBySettings, keptAs } from "../domain/delivery"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { told } from "../domain/gate"
import type { SessionID } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { Engine } from "./engine"
import { ofFlow } from "../domain/call"

/** What an agent is told in the place of a result that a person has to see first, or keeps back. */
export type KeptBack = { as: "held" | "dropped"; text: string }

type Reading = Pick<Engine, "store">

// That its time was up is told at once; what it had done until then is what a person sees first.
const over = ({ status }: Pass) =>
  status === "timed_out" ? "ran out of time; what it had done until then" : "has ended; its result"

export const heldText = (pass: Pass) =>
  `Pass ${pass.id} ${over(pass)} is held for a person, who sees it first. It comes as a message when they let it.`

async function droppedText({ store }: Reading, { id, originating_agent_id }: Pass): Promise<string> {
  const gate = (await store.gates({ pass_over_id: id, kind: "delivery" })).at(-1)
  const why = gate && gate.status !== "pending" ? `: ${told(gate)}` : ""
  return `Pass ${id} has ended; its result was kept back from ${originating_agent_id}${why}.`
}

/** What was never to come back is not fetched past the person who would have been asked about it. */
async function withheld({ store }: Reading, pass: Pass): Promise<KeptBack | undefined> {
  if (pass.return_required || ofFlow(pass)) return
  const outcome = await store.outcome(pass.id)
  if (!outcome || !heldBySettings(pass, outcome)) return
  const { id, originating_agent_id } = pass
  const text = `Pass ${id} has ended; its result is not for ${originating_agent_id}: auto_return is false, and with return_required: false nobody was asked whether it may come back.`
  return { as: "dropped", text }
}

/** Why an agent may not see what this one pass returned. */
export async function keptItself(engine: Reading, pass: Pass): Promise<KeptBack | undefined> {
  const delivery = await engine.store.delivery(pass.id)
  const as = delivery && keptAs(delivery)
  if (as === "held") return { as, text: heldText(pass) }
  if (as === "dropped") return { as, text: await droppedText(engine, pass) }
  return delivery && withheld(engine, pass)
}

/**
 * Why an agent may not see what a pass did; nothing where it may. What the passes below a held one did is part of what
 * is held, except for the session in which they were made.
 */
export async function keptFrom(engine: Reading, pass: Pass, session_id: SessionID): Promise<KeptBack | undefined> {
  const seen: { at: Pass | undefined } = { at: pass }
  while (seen.at && seen.at.child_session_id !== session_id) {
    const kept = await keptItself(engine, seen.at)
    if (kept) return kept
    const { parent_pass_id } = seen.at
    seen.at = parent_pass_id === null ? undefined : await engine.store.find(parent_pass_id)
  }
  return undefined
}

/** The same where something is wanted of it. */
export const notWhileKept = ({ as, text }: KeptBack): Refusal =>
  as === "held"
    ? refuse(PassOverErrorCode.STALE_REVISION, text, { suggestion: "Go on with something else, or end your turn." })
    : refuse(PassOverErrorCode.DECLINED, text)
