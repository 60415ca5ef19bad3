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

/**
 * Lets children start one after the other while opencode's one thread is busy. Where many start at once each is held up by
 * all others at every step, and all of them come to their models at the end; one after the other the first is there when
 * the last begins. A thread that is idle lets the next one start, so that nobody waits for somebody else's model.
 */
export function createTurns(clock: Pick<Clock, "mono" | "after">) {
  const waiting: (() => void)[] = []
  const begun = new Set<StartTurn>()
  const state: { ping?: Ping; looking: boolean } = { looking: false }

  const pause = () => new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve))

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

  async function look(ping: Ping) {
    if (state.looking) return
    state.looking = true
    let idle = clock.mono()
    while (waiting.length > 0) {
      const asked = clock.mono()
      await ping().catch(() => {})
      const now = clock.mono()
      if (now - asked > AT_ONCE_MS) idle = now
      if (now - idle >= IDLE_MS) {
        idle = now
        for (const [oldest] of [[...begun]]) oldest?.over()
      }
      await pause()
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
  }
}

export type Turns = ReturnType<typeof createTurns>
