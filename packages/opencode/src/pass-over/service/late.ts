import type { PassID } from "../domain/id"
import type { Clock } from "./port"

const AGAIN_MS = 5_000

/** Outcomes that could not be written down because the database could not be used. */
export type Late = {
  /** Tries again until it is done; `write` says whether it is. */
  add(id: PassID, write: () => Promise<boolean>): void
  /** Comes when the outcome is written down; at once where it is. */
  written(id: PassID): Promise<void>
  /** Tries all of them now. */
  flush(): Promise<void>
}

type Waiting = { write: () => Promise<boolean>; done: PromiseWithResolvers<void> }

export function createLate(clock: Clock): Late {
  const waiting = new Map<PassID, Waiting>()

  async function flush() {
    for (const [id, { write, done }] of waiting) {
      if (!(await write().catch(() => false))) continue
      waiting.delete(id)
      done.resolve()
    }
  }

  const later = () => void clock.after(AGAIN_MS, () => void flush().then(() => waiting.size > 0 && later()))

  return {
    add(id, write) {
      waiting.set(id, { write, done: Promise.withResolvers() })
      if (waiting.size === 1) later()
    },
    written: async (id) => waiting.get(id)?.done.promise,
    flush,
  }
}
