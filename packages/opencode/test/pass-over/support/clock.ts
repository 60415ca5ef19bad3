import type { Clock } from "../../../src/pass-over/service/port"

/** A clock that stands still until a test moves it. */
export type TestClock = Clock & {
  /** Lets time pass: both clocks move, and every timer runs when it is due, with what it set off before the next one. */
  advance(ms: number): Promise<void>
  /** Sets the wall clock and nothing else, as a user or a time server does. */
  set(now: number): void
  /** How many timers wait. A run that has ended leaves none. */
  pending(): number
}

type Timer = { at: number; run: () => void }

/** Where the wall clock of every test begins: 1 January 2026, UTC. */
export const EPOCH = Date.UTC(2026, 0, 1)

export function createClock(start = EPOCH): TestClock {
  const timers = new Set<Timer>()
  let wall = start
  let mono = 0

  const move = (ms: number) => {
    wall += ms
    mono += ms
  }
  // One turn of the event loop: whatever a timer set off has gone as far as it can without time.
  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
  const first = (until: number) => [...timers].filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0]

  return {
    now: () => wall,
    mono: () => mono,
    after(ms, run) {
      const timer = { at: mono + ms, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(ms) {
      const until = mono + ms
      await turn()
      for (let due = first(until); due; due = first(until)) {
        timers.delete(due)
        move(Math.max(0, due.at - mono))
        due.run()
        await turn()
      }
      move(until - mono)
      await turn()
    },
    set(now) {
      wall = now
    },
    pending: () => timers.size,
  }
}
