import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { PassID } from "../domain/id"
import { event } from "../domain/pass"
import { ended } from "../domain/return-context"
import { returnFromPassOver } from "./api-return"
import { listens } from "./awake"
import type { Engine } from "./engine"
import type { Command, CommandState } from "./port"
import type { Host } from "./port-host"
import type { Runner } from "./runner"

export type Done = { ok: true; text: string; command_id?: string } | { ok: false; refusal: Refusal }

const no = (code: PassOverErrorCode, message: string, suggestion: string): Done => ({
  ok: false,
  refusal: refuse(code, message, { suggestion }),
})

/** It has its outcome in all but the writing down. */
const over = ({ pass, run }: Runner): Done =>
  no(
    PassOverErrorCode.STALE_REVISION,
    `${pass.subagent_id} has ${run.phase === "staged" ? "returned" : "ended"} already and hears nothing more.`,
    "Read its outcome in a moment, or go on from it with another pass.",
  )

async function message(engine: Engine, host: Host, runner: Runner, command: Command): Promise<Done> {
  if (!listens(runner)) return over(runner)
  const child = runner.pass.child_session_id
  if (child === null) {
    return no(PassOverErrorCode.STALE_REVISION, "Its child has not started yet.", "Try again in a moment.")
  }
  await host.say(child, `${command.actor} says: ${command.text}`, runner.pass)
  await engine.store.announce(
    event(runner.pass, "pass.message", engine.clock.now(), { actor: command.actor, text: command.text }),
  )
  return { ok: true, text: `Said to ${runner.pass.subagent_id}; it reads it at its next step.` }
}

function cancel(runner: Runner, command: Command): Done {
  const { phase } = runner.run
  if (phase === "ended") return over(runner)
  runner.input({
    type: "cancel",
    failure: { code: PassOverErrorCode.CANCELLED, message: command.text || `cancelled by ${command.actor}` },
  })
  return { ok: true, text: phase === "staged" ? "It had returned already, and that counts." : "Cancelled." }
}

/** A return that somebody else makes in the place of the child, who is told nothing of it. */
async function giveBack(engine: Engine, { pass }: Runner, command: Command): Promise<Done> {
  const session_id = pass.child_session_id
  if (session_id === null) {
    return no(PassOverErrorCode.STALE_REVISION, "Its child has not started yet.", "Try again in a moment.")
  }
  return returnFromPassOver(engine, {
    session_id,
    agent: pass.subagent_id,
    report: JSON.parse(command.text) as unknown,
  })
}

async function perform(engine: Engine, command: Command): Promise<Done> {
  const running = engine.running.get(command.pass_over_id)
  if (!running)
    return no(PassOverErrorCode.STALE_REVISION, "This pass does not run any more.", "Read its outcome instead.")
  if (command.kind === "return") return giveBack(engine, running, command)
  const host = engine.running.hostOf(running.pass.id)
  if (command.kind === "cancel" || !host) return cancel(running, command)
  return message(engine, host, running, command)
}

/** Carries out the commands that wait for passes of this process. */
export async function attend(engine: Engine) {
  for (const command of await engine.store.commands(engine.owner_id)) {
    const done = await perform(engine, command).catch((error: unknown) =>
      no(PassOverErrorCode.SUBAGENT_CRASHED, String(error), "Look into opencode's log."),
    )
    await engine.store.answer({
      command_id: command.command_id,
      status: done.ok ? "done" : "refused",
      result: done.ok ? done.text : done.refusal.message,
      at: engine.clock.now(),
    })
  }
}

export type Order = {
  pass_over_id: PassID
  kind: Command["kind"]
  text: string
  actor: string
  /** How long to wait for the word of another process that runs the pass; not at all where it is left out. */
  patience_ms?: number
}

const LOOK_AGAIN_MS = 50

/** What became of a command, once its owner has said so or the patience is over. */
export async function settled(
  engine: Pick<Engine, "store" | "clock">,
  command_id: string,
  patience_ms: number,
): Promise<CommandState | undefined> {
  const until = engine.clock.mono() + patience_ms
  for (;;) {
    const state = await engine.store.commandState(command_id)
    if (state?.status !== "pending" || engine.clock.mono() >= until) return state
    await new Promise<void>((resolve) => void engine.clock.after(LOOK_AGAIN_MS, resolve))
  }
}

/** Asks for something of a pass, wherever it runs: here at once, elsewhere through a row that its owner picks up. */
export async function order(engine: Engine, asked: Order): Promise<Done> {
  const { pass_over_id, kind, text, actor, patience_ms = 0 } = asked
  const pass = await engine.store.find(pass_over_id)
  if (!pass) return no(PassOverErrorCode.NOT_FOUND, `No pass ${pass_over_id} is known.`, "Check the id.")
  if (ended(pass.status) || pass.status === "returned") {
    return no(
      PassOverErrorCode.STALE_REVISION,
      `Pass ${pass.id} has ended already (${pass.status}).`,
      "Read its outcome instead.",
    )
  }
  const command: Command = { command_id: engine.ids.make("cmd"), pass_over_id, kind, text, actor }
  await engine.store.command(command, engine.clock.now())
  if (pass.owner_id === engine.owner_id) await attend(engine)
  const state = await settled(engine, command.command_id, patience_ms)
  if (state?.status === "done") return { ok: true, text: state.result ?? "Done." }
  if (state?.status === "refused")
    return no(PassOverErrorCode.STALE_REVISION, state.result ?? "Refused.", "Read its outcome instead.")
  return { ok: true, text: "Handed to the opencode that runs this pass.", command_id: command.command_id }
}
