/** A wall clock that stands still until a test moves it. */
export type TestClock = {
  now(): number
  set(ms: number): void
  advance(ms: number): void
}

export function createClock(start = Date.UTC(2026, 0, 1)): TestClock {
  let ms = start
  return {
    now: () => ms,
    set: (to) => void (ms = to),
    advance: (by) => void (ms += by),
  }
}
