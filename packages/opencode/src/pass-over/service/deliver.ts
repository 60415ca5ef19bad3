import { envelope } from "../domain/envelope"
import { event, note, type Pass } from "../domain/pass"
import { move } from "../domain/return-context"
import type { Engine, Project } from "./engine"
import type { Commit, Outcome } from "./port"

/** What the originator's model reads when its pass has come back. */
export const answerText = (engine: Engine, outcome: Outcome) =>
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
