// A thread that is on time for so long has nothing to do.
const IDLE_MS = 8
const LOOK_MS = 4
const LATE_MS = 3

export type IdleClock = { now(): number; sleep(ms: number): Promise<void> }

const CLOCK: IdleClock = {
  now: () => performance.now(),
  // It does not keep an opencode alive that wants to end.
  sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms).unref()),
}

/** Comes as soon as the thread that it is called in has nothing to do; whoever asks meanwhile hears of it at the same time. */
export function createIdle({ now, sleep }: IdleClock = CLOCK): () => Promise<void> {
  let looking: Promise<void> | undefined

  async function look() {
    let busy = now()
    while (now() - busy < IDLE_MS) {
      const asked = now()
      await sleep(LOOK_MS)
      if (now() - asked > LOOK_MS + LATE_MS) busy = now()
    }
    looking = undefined
  }

  return () => (looking ??= look())
}
