/** Runs jobs a few at a time. What each prints is shown by itself and in their order, the first that is not done as it goes. */
import type { Sink } from "./suite"

export type Job<T> = { name: string; run(screen: Sink): Promise<T> }
export type Done<T> = { name: string; result: T; seconds: number }

type Screen = Sink & { open(): void }

/** Keeps what is written until it is its turn to be shown. */
function createScreen(to: Sink): Screen {
  const kept: Uint8Array[] = []
  const state = { open: false }
  return {
    write: (chunk) => (state.open ? to.write(chunk) : kept.push(chunk)),
    open() {
      state.open = true
      for (const chunk of kept.splice(0)) to.write(chunk)
    },
  }
}

type Told<T> = { begin(name: string): void; end(done: Done<T>): void }

export async function inLanes<T>(jobs: readonly Job<T>[], lanes: number, to: Sink, told: Told<T>): Promise<void> {
  const running = jobs.map((job) => ({ job, screen: createScreen(to), done: Promise.withResolvers<Done<T>>() }))
  const left = [...running]

  async function lane() {
    for (let next = left.shift(); next; next = left.shift()) {
      const { job, screen, done } = next
      const began = performance.now()
      const result = await job.run(screen)
      done.resolve({ name: job.name, result, seconds: (performance.now() - began) / 1000 })
    }
  }

  const all = Promise.all(Array.from({ length: lanes }, lane))
  for (const { job, screen, done } of running) {
    told.begin(job.name)
    screen.open()
    // A job that throws ends its lane, and what it would have said never comes.
    told.end(await Promise.race([done.promise, all.then(() => done.promise)]))
  }
  await all
}
