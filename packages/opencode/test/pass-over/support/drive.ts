import type { Outcome } from "../../../src/pass-over/service/port"
import type { Runner } from "../../../src/pass-over/service/runner"
import type { EngineWorld } from "./engine"

/** What a child returns when a test is about something else. */
export const VERDICT = { decision: "approved", decision_reason: "It is right." }

export async function started(world: EngineWorld, ...ask: Parameters<EngineWorld["ask"]>): Promise<Runner> {
  const sent = await world.ask(...ask)
  if (!sent.ok) throw new Error(sent.refusal.message)
  return sent.runner
}

/** Runs the clock until a pass has its outcome. */
export async function outcomeOf(world: EngineWorld, runner: Runner): Promise<Outcome> {
  const found = {} as { outcome?: Outcome }
  void runner.outcome.then((outcome) => (found.outcome = outcome))
  await world.clock.until(() => found.outcome !== undefined)
  if (!found.outcome) throw new Error("no outcome")
  return found.outcome
}
