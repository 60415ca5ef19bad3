import { PassOverErrorCode } from "../domain/errors"
import { watchCircles, type Turn } from "../domain/circle"
import type { Clock, Host, Log } from "./port"
import type { Runner } from "./runner"

// A loop goes on without a tool call only when an answer breaks off in the middle; the host then asks again at once.
const EMPTY_STEPS = 5

export type Watch = {
  turn(turn: Turn): void
  /** A step is over; `worked` says whether it held a tool call. */
  step(): void
}

/** Tells a child once that it goes in circles, and ends it when it does not stop. */
export function createWatch(deps: { host: Host; log: Log; clock: Clock }, runner: Runner): Watch {
  const circles = watchCircles()
  const state = { told: false, empty: 0, worked: false }

  const fail = (message: string) =>
    runner.input({ type: "cancel", failure: { code: PassOverErrorCode.SUBAGENT_CRASHED, message, final: true } })

  function tell(what: string, turns: number) {
    state.told = true
    const child = runner.pass.child_session_id
    if (child === null) return
    const text = `You have done the same thing ${turns} times with the same result: ${what}. It will not change by itself. Do something else, or return what you have with pass_over_return.`
    deps.host
      .say(child, text)
      .catch((error: unknown) => deps.log("warn", "a child could not be told of its circle", { error: String(error) }))
  }

  return {
    turn(turn) {
      state.worked = true
      const found = circles.next(turn)
      if (!found) return
      if (found.over) return fail(`it went in circles: ${found.turns} times ${found.what}`)
      if (!state.told) tell(found.what, found.turns)
    },
    step() {
      state.empty = state.worked ? 0 : state.empty + 1
      state.worked = false
      if (state.empty >= EMPTY_STEPS) fail(`its model's answers broke off ${state.empty} times in a row`)
    },
  }
}
