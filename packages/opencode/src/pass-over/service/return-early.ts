import { runOfCall } from "../domain/call"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { Engine, Running } from "./engine"
import type { Offered } from "./live"
import type { Runner } from "./runner"

/** What its child knows a pass by: a step of a flow it knows only by the run. */
const nameOf = ({ id, call_id }: Pass) => runOfCall(call_id) ?? id

const WAIT_OR_CANCEL =
  "Wait for them (pass_over_read with an id and wait: true; flow with action watch for a run) and return then. Or return again at once: that cancels them. What you have returned is kept."

// What each child was told of already.
const told = new WeakMap<Runner, Set<string>>()

/**
 * The answer to a return while passes of its own still run. Told once of each: who returns again knows of them and wants
 * no more of them. A child that was asked for its return has no other tool and could not wait. What it has said is kept:
 * it is its return if it comes to no other.
 */
export function unfinished(engine: Engine, runner: Runner, offered: Offered): Refusal | undefined {
  const names = [...new Set(engine.running.below(runner.pass.id).map(({ pass }) => nameOf(pass)))]
  const known = told.get(runner) ?? new Set()
  if (runner.run.asked || names.every((name) => known.has(name))) return undefined
  told.set(runner, new Set([...known, ...names]))
  runner.offered(offered)
  return refuse(
    PassOverErrorCode.INVALID_WORK_OUTPUT,
    `Passes that you started are still running: ${names.join(", ")}.`,
    { suggestion: WAIT_OR_CANCEL },
  )
}

function* allBelow(running: Running, id: PassID): Generator<Runner> {
  for (const runner of running.below(id)) {
    yield runner
    yield* allBelow(running, runner.pass.id)
  }
}

/** Ends what a child has started and did not wait for before it returned: what that came to would reach nobody. */
export async function callOffBelow(engine: Engine, { pass }: Runner) {
  const reason = `${pass.subagent_id} has returned without it`
  const runs = new Set<string>()
  for (const runner of allBelow(engine.running, pass.id)) {
    const run = runOfCall(runner.pass.call_id)
    // A run that lost a step alone would go on to the next.
    if (run !== undefined) runs.add(run)
    else runner.input({ type: "cancel", failure: { code: PassOverErrorCode.CANCELLED, message: reason } })
  }
  for (const run_id of runs) await callOffRun(engine, run_id, { actor: pass.subagent_id, reason })
}

async function callOffRun(engine: Engine, run_id: string, why: { actor: string; reason: string }) {
  const command = {
    command_id: engine.ids.make("cmd"),
    run_id,
    input: { type: "cancel" as const, ...why },
    actor: why.actor,
  }
  await engine.store
    .flowCommand(command, engine.clock.now())
    .catch((error: unknown) => engine.log("warn", "a flow could not be called off", { run_id, error: String(error) }))
  // Whoever carries it looks for what is asked of it whenever there are news.
  engine.news.tell("elsewhere")
}
