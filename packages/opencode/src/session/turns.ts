import type { Clock } from "../pass-over/service/port"
import type { StartTurn } from "../pass-over/service/port-host"

/** Comes as soon as opencode's thread has nothing to do. */
export type Idle = () => Promise<unknown>

// A thread that cannot be asked is taken for an idle one.
const UNKNOWN_MS = 10
// However busy it is, and whatever became of the one before.
const MOST_MS = 2_000

/**
 * Lets children start one after the other while opencode's one thread is busy. Where many start at once each is held up by
 * all others at every step, and all of them come to their models at the end; one after the other the first is there when
 * the last begins. A thread that is idle lets the next one start, so that nobody waits for somebody else's model. With
 * nobody left to start, it is lent to what nobody waits for, one after the other too.
 */
export function createTurns(clock: Pick<Clock, "mono" | "after">) {
  const waiting: (() => void)[] = []
  const begun = new Set<StartTurn>()
  const patient = new Set<() => void>()
  const state: { idle?: Idle; looking: boolean } = { looking: false }

  const pause = () => new Promise<void>((resolve) => void clock.after(UNKNOWN_MS, resolve))

  function take(): StartTurn {
    const turn = {
      over() {
        cancel()
        if (begun.delete(turn)) waiting.shift()?.()
      },
    }
    const cancel = clock.after(MOST_MS, turn.over)
    begun.add(turn)
    return turn
  }

  /** The thread has nothing to do: whoever wants to start goes before whoever has time. */
  function lend() {
    const [start] = begun
    const [come] = patient
    if (waiting.length > 0) return start?.over()
    come?.()
  }

  async function look(idle: Idle) {
    if (state.looking) return
    state.looking = true
    while (waiting.length > 0 || patient.size > 0) {
      await idle().catch(pause)
      lend()
    }
    state.looking = false
  }

  return {
    /** From now on opencode's thread is asked whether it is busy; without that nobody waits for anybody. */
    ask: (idle: Idle) => void (state.idle = idle),
    next(): StartTurn | Promise<StartTurn> {
      const { idle } = state
      if (!idle || begun.size === 0) return take()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      void look(idle)
      return promise.then(take)
    },
    /** Comes when opencode's thread has nothing to do, and after so long in any case. */
    async calm(most_ms: number): Promise<void> {
      const { idle } = state
      if (!idle) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const come = () => {
        cancel()
        patient.delete(come)
        resolve()
      }
      const cancel = clock.after(most_ms, come)
      patient.add(come)
      void look(idle)
      await promise
    },
  }
}

export type Turns = ReturnType<typeof createTurns>
