import type { Clock } from "../pass-over/service/port"
import type { StartTurn } from "../pass-over/service/port-host"

/** Waits until a word has gone to opencode's thread and come back. */
export type Ping = () => Promise<unknown>

// A thread that answers at once for that long has nothing to do: whoever started last waits for its model.
const IDLE_MS = 8
const AT_ONCE_MS = 3
const LOOK_MS = 4
// However busy it is, and whatever became of the one before.
const MOST_MS = 2_000
// How often a busy thread is asked for the sake of those who have time.
const SELDOM_MS = 50

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
  const state: { ping?: Ping; looking: boolean } = { looking: false }

  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))

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

  async function look(ping: Ping) {
    if (state.looking) return
    state.looking = true
    let idle = clock.mono()
    while (waiting.length > 0 || patient.size > 0) {
      const asked = clock.mono()
      await ping().catch(() => {})
      const now = clock.mono()
      const busy = now - asked > AT_ONCE_MS
      if (busy) idle = now
      if (now - idle >= IDLE_MS) {
        idle = now
        lend()
      }
      await pause(busy && waiting.length === 0 ? SELDOM_MS : LOOK_MS)
    }
    state.looking = false
  }

  return {
    /** From now on opencode's thread is asked how busy it is; without that nobody waits for anybody. */
    ask: (ping: Ping) => void (state.ping = ping),
    next(): StartTurn | Promise<StartTurn> {
      const { ping } = state
      if (!ping || begun.size === 0) return take()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      void look(ping)
      return promise.then(take)
    },
    /** Comes when opencode's thread has nothing to do, and after so long in any case. */
    async calm(most_ms: number): Promise<void> {
      const { ping } = state
      if (!ping) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const come = () => {
        cancel()
        patient.delete(come)
        resolve()
      }
      const cancel = clock.after(most_ms, come)
      patient.add(come)
      void look(ping)
      await promise
    },
  }
}

export type Turns = ReturnType<typeof createTurns>
