import type { ToolContext } from "@opencode-ai/plugin"
import type { Gate, GateAnswer } from "../pass-over/domain/gate"
import type { Surface } from "../pass-over/service/gate"
import type { Host } from "../pass-over/service/port-host"
import { surfaceHere } from "../surface"
import { borrow } from "./borrow"
import { inTurn, put, type Screen } from "./turn"

/** Our questions in the host's own dialog. `ask` for every originator, so that no rule of the user's lets them pass. */
export const GATE_PERMISSION = "pass_over_gate"

const feedback = (error: unknown) => {
  const text = error instanceof Error ? error.message : String(error)
  return /corrected|feedback/i.test(text) ? text : null
}

type Asking = { context: ToolContext; host: Screen; signal: AbortSignal }

async function ask({ context, host, signal }: Asking, gate: Gate): Promise<GateAnswer | undefined> {
  // The terminal of this very process puts the question itself.
  if (signal.aborted || surfaceHere()) return undefined
  const answer = await put(context, host, {
    permission: GATE_PERMISSION,
    patterns: [gate.question],
    // Never for all time: each question is one of its own.
    always: [],
    metadata: { gate_id: gate.gate_id, kind: gate.kind, policy: gate.policy, ...gate.detail },
  })
  // Answered elsewhere meanwhile; a yes is then our own, from taking the question off the screen.
  if (signal.aborted) return undefined
  if (answer.yes) return { verdict: "approve", note: null, by: "the user", surface: "opencode" }
  // A host that goes away, or a call that it has stopped, takes the question along; it still stands in the inbox.
  if (!answer.said || context.abort.aborted) return undefined
  return { verdict: "reject", note: feedback(answer.error), by: "the user", surface: "opencode" }
}

/** Puts a question of the inbox to the user in opencode itself; the row in the inbox stays the gate. */
export const dialog =
  (context: ToolContext, host: Screen & Pick<Host, "dismiss">): Surface =>
  (gate, signal) => {
    const back = borrow(context)
    const dismiss = () => void host.dismiss(context.sessionID, GATE_PERMISSION).catch(() => {})
    return inTurn(context.sessionID, () => {
      signal.addEventListener("abort", dismiss)
      // What has gone from the screen with its project would be asked for there, and open it again.
      return ask({ context, host, signal }, gate).finally(() => signal.removeEventListener("abort", dismiss))
    }).finally(back)
  }
