import type { Clock } from "../../../src/pass-over/service/port"

type Timer = { at: number; order: number; run: () => void }

export type FakeClock = Clock & {
  /** Runs everything that is due within `ms`, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock alone, as a user or a time server does. */
  shift(ms: number): void
  /** Advances from timer to timer until `done`, or until nothing is left to happen. */
  until(done: () => boolean, limit_ms?: number): Promise<void>
  readonly pending: number
}

/** Lets everything that waits for nothing but promises go on. Real I/O in between needs a turn of the event loop. */
export async function settle(turns = 12) {
  for (let turn = 0; turn < turns; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** A clock that stands still until it is told. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let mono = 0
  let wall = start
  let order = 0
  const timers = new Set<Timer>()

  const earliest = () => [...timers].toSorted((a, b) => a.at - b.at || a.order - b.order)[0]

  const to = (at: number) => {
    wall += at - mono
    mono = at
  }

  const fire = async (timer: Timer) => {
    timers.delete(timer)
    to(Math.max(mono, timer.at))
    timer.run()
    await settle()
  }

  return {
    now: () => wall,
    mono: () => mono,
    after(ms, run) {
      // No time is a turn of the event loop: it passes without being told to.
      if (ms <= 0) {
        const turn = setImmediate(run)
        return () => clearImmediate(turn)
      }
      const timer = { at: mono + ms, order: order++, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(ms) {
      const end = mono + ms
      await settle()
      for (let timer = earliest(); timer && timer.at <= end; timer = earliest()) await fire(timer)
      to(end)
      await settle()
    },
    shift: (ms) => void (wall += ms),
    async until(done, limit_ms = 24 * 60 * 60 * 1000) {
      const end = mono + limit_ms
      await settle()
      while (!done()) {
        const timer = earliest()
        if (!timer || timer.at > end) throw new Error(`nothing more happens (${timers.size} timers, ${mono} ms)`)
        await fire(timer)
      }
    },
    get pending() {
      return timers.size
    },
  }
}
