import type { StoredEvent } from "../pass-over/service/port"
import type { LivePass } from "../pass-over/service/port-live"
import { createLookout, type LookoutOptions } from "./lookout"
import { createTail, type FeedStore } from "./tail"

export type FeedOptions = Pick<LookoutOptions, "watch" | "failed"> & {
  store: FeedStore
  poll_ms?: number
  beat_ms?: number
}

export type FeedItem =
  | { type: "ready"; seq: number }
  | { type: "events"; events: readonly StoredEvent[] }
  | { type: "live"; passes: readonly LivePass[] }
  | { type: "beat" }

export type Feed = {
  /** Everything after `after`, without loss or repetition, for as long as it is read. */
  read(after: number | undefined, signal: AbortSignal): AsyncGenerator<FeedItem>
  readonly readers: number
  stop(): void
}

/**
 * The events of all opencode processes on this machine, out of the database that they share. Each reader is nothing but
 * a place in the list: one that does not read costs no memory, slows nobody down and misses nothing.
 */
export function createFeed({ store, poll_ms = 100, beat_ms = 15_000, ...options }: FeedOptions): Feed {
  const tail = createTail(store)
  const waiting = new Set<() => void>()
  const readers = new Set<object>()
  const wake = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  const lookout = createLookout({ ...options, tail, poll_ms, news: wake })
  let begun: Promise<void> | undefined

  /** Comes with news, after a beat without any, or when `hold` is let go of. */
  async function news(hold: { release: () => void }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, beat_ms)
    waiting.add(resolve)
    hold.release = resolve
    await promise
    clearTimeout(timer)
    waiting.delete(resolve)
  }

  async function* items(after: number | undefined, signal: AbortSignal): AsyncGenerator<FeedItem> {
    // A number from before the list began anew would be waited for in vain.
    let at = Math.min(after ?? tail.newest, tail.newest)
    let seen = -1
    const hold = { release: () => {} }
    signal.addEventListener("abort", () => hold.release(), { once: true })
    yield { type: "ready", seq: at }
    while (!signal.aborted) {
      const events = await tail.page(at)
      at = events.at(-1)?.seq ?? at
      if (events.length > 0) {
        yield { type: "events", events }
        continue
      }
      if (seen !== tail.turn) {
        seen = tail.turn
        yield { type: "live", passes: tail.lives }
        continue
      }
      // Between the look above and this line nothing can have come: nobody else has had a turn.
      if (tail.newest > at) continue
      const known = tail.newest
      await news(hold)
      if (!signal.aborted && tail.newest === known && seen === tail.turn) yield { type: "beat" }
    }
  }

  return {
    get readers() {
      return readers.size
    },
    async *read(after, signal) {
      const me = {}
      readers.add(me)
      try {
        begun ??= lookout.begin()
        await begun
        yield* items(after, signal)
      } finally {
        readers.delete(me)
        if (readers.size === 0) {
          lookout.halt()
          begun = undefined
        }
      }
    },
    stop() {
      lookout.halt()
      wake()
    },
  }
}
