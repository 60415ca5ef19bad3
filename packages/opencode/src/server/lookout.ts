import type { Tail } from "./tail"

export type LookoutOptions = {
  tail: Tail
  /** Calls back when the database may have changed; gives back how to stop. */
  watch?: ((changed: () => void) => () => void) | undefined
  poll_ms: number
  news: () => void
  failed: (error: unknown) => void
}

export type Lookout = { begin(): Promise<void>; halt(): void }

/** A write shows in the file before it can be read: for so long we look again and again. */
const HOT_MS = 20

/** Looks for news: at once where the system tells of a write, now and then in any case. */
export function createLookout({ tail, watch, poll_ms, news, failed }: LookoutOptions): Lookout {
  const state = { on: false, looking: false, again: false, hot: 0 }
  let stop = () => {}

  async function look() {
    state.again = true
    if (state.looking) return
    state.looking = true
    try {
      while (state.again) {
        state.again = false
        if (await tail.gather()) news()
      }
    } catch (error) {
      failed(error)
    } finally {
      state.looking = false
    }
  }

  async function press() {
    while (state.on && performance.now() < state.hot) {
      await look()
      await Bun.sleep(1)
    }
  }

  function hasten() {
    const now = performance.now()
    const idle = state.hot < now
    state.hot = now + HOT_MS
    if (idle) void press()
  }

  return {
    async begin() {
      state.on = true
      const timer = setInterval(() => void look(), poll_ms)
      const unwatch = watch?.(hasten)
      stop = () => {
        clearInterval(timer)
        unwatch?.()
      }
      await tail.begin()
      await look()
    },
    halt() {
      state.on = false
      stop()
    },
  }
}
