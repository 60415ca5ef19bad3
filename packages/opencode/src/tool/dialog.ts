import type { ToolContext } from "@opencode-ai/plugin"
import { existsSync } from "node:fs"
import { surfacePath } from "../paths"
import type { Gate, GateAnswer } from "../pass-over/domain/gate"
import type { Surface } from "../pass-over/service/gate"
import type { Host } from "../pass-over/service/port-host"

/** Our questions in the host's own dialog. `ask` for every originator, so that no rule of the user's lets them pass. */
export const GATE_PERMISSION = "pass_over_gate"

// One "reject" takes every open question of a session with it, so only one is open at a time.
const turns = new Map<string, Promise<unknown>>()

function inTurn<T>(session_id: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(session_id) ?? Promise.resolve()
  const mine = before.then(work, work)
  const done = mine.then(
    () => {},
    () => {},
  )
  turns.set(session_id, done)
  void done.then(() => {
    if (turns.get(session_id) === done) turns.delete(session_id)
  })
  return mine
}

const feedback = (error: unknown) => {
  const text = error instanceof Error ? error.message : String(error)
  return /corrected|feedback/i.test(text) ? text : null
}

async function ask(context: ToolContext, gate: Gate, signal: AbortSignal): Promise<GateAnswer | undefined> {
  // The terminal of this very process puts the question itself.
  if (signal.aborted || existsSync(surfacePath(process.pid))) return undefined
  try {
    await context.ask({
      permission: GATE_PERMISSION,
      patterns: [gate.question],
      // Never for all time: each question is one of its own.
      always: [],
      metadata: { gate_id: gate.gate_id, kind: gate.kind, policy: gate.policy, ...gate.detail },
    })
    return { verdict: "approve", note: null, by: "the user", surface: "opencode" }
  } catch (error) {
    // Answered elsewhere: the rejection is our own, from taking the question off the screen.
    if (signal.aborted) return undefined
    return { verdict: "reject", note: feedback(error), by: "the user", surface: "opencode" }
  }
}

/** Puts a question of the inbox to the user in opencode itself; the row in the inbox stays the gate. */
export const dialog =
  (context: ToolContext, host: Pick<Host, "dismiss">): Surface =>
  (gate, signal) =>
    inTurn(context.sessionID, () => {
      signal.addEventListener("abort", () => {
        host.dismiss(context.sessionID, GATE_PERMISSION).catch(() => {})
      })
      return ask(context, gate, signal)
    })
