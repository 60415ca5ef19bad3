import { watchCircles, type Circle, type Turn } from "../domain/circle"
import { PassOverErrorCode } from "../domain/errors"
import { event } from "../domain/pass"
import { listens } from "./awake"
import type { Clock, Log, Store } from "./port"
import type { Host } from "./port-host"
import type { Runner } from "./runner"

// A loop goes on without a tool call only when an answer breaks off in the middle; the host then asks again at once.
const EMPTY_STEPS = 5

// The host may tell of a call again long after it had its answer: when it throws old answers away to make room.
const REMEMBERED = 1_000

export type Watch = {
  turn(turn: Turn): void
  /** A step is over. */
  step(): void
}

type WatchDeps = { host: Host; log: Log; clock: Clock; store: Pick<Store, "announce"> }

const words = ({ times, what }: Circle) =>
  `You go in circles: ${times} times the same, with the same answer. It is this: ${what}. ` +
  "It will not change by itself. Do something else, wait longer at a time if you wait for something, " +
  "or return what you have with pass_over_return and say what is in the way. If you go on like this you will be ended."

/** Tells a child once that it goes in circles, and ends it when it does not stop. */
export function createWatch(deps: WatchDeps, runner: Runner): Watch {
  const circles = watchCircles()
  const state = { told: false, empty: 0, worked: false }
  const heard = new Set<string>()

  const fail = (message: string) =>
    runner.input({ type: "cancel", failure: { code: PassOverErrorCode.SUBAGENT_CRASHED, message, final: true } })

  function known(id: string | undefined): boolean {
    if (id === undefined) return false
    if (heard.has(id)) return true
    heard.add(id)
    const [oldest] = heard
    if (heard.size > REMEMBERED && oldest !== undefined) heard.delete(oldest)
    return false
  }

  function announce({ times, what, over }: Circle) {
    const told = event(runner.pass, "pass.circle", deps.clock.now(), { times, what, over })
    deps.store
      .announce(told)
      .catch((error: unknown) => deps.log("warn", "a circle could not be written down", { error: String(error) }))
  }

  function tell(circle: Circle) {
    const child = runner.pass.child_session_id
    if (child === null || !listens(runner)) return
    state.told = true
    circles.tell()
    announce(circle)
    deps.host
      .say(child, words(circle), runner.pass)
      .catch((error: unknown) => deps.log("warn", "a child could not be told of its circle", { error: String(error) }))
  }

  return {
    turn(turn) {
      state.worked = true
      if (known(turn.id)) return
      const circle = circles.next(turn)
      if (!circle) return
      if (!state.told) return tell(circle)
      if (!circle.over) return
      announce(circle)
      fail(`it went in circles and did not stop when it was told: ${circle.times} times ${circle.what}`)
    },
    step() {
      circles.step()
      state.empty = state.worked ? 0 : state.empty + 1
      state.worked = false
      if (state.empty >= EMPTY_STEPS) fail(`its model's answers broke off ${state.empty} times in a row`)
    },
  }
}
