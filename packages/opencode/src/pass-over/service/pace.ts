// All views together may take this share of a host's time.
const SHARE = 0.02
// However busy it is: nobody looks at something that has not moved for longer.
const SLOWEST_MS = 5_000
const AT_FIRST_MS = 5
const WEIGHT = 0.25

/** How often views are shown, by what it takes to show one: a host that is busy is not kept busier by being told so. */
export type Pace = {
  /** The least time between two views of a pass, while as many run. */
  between(running: number): number
  took(ms: number): void
}

export function createPace(): Pace {
  let usual = AT_FIRST_MS
  return {
    between: (running) => Math.min(SLOWEST_MS, (running * usual) / SHARE),
    took(ms) {
      usual += (ms - usual) * WEIGHT
    },
  }
}
