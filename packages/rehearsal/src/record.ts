import type { ModelRequest } from "./request"
import type { Ending } from "./stream"

/** "unexpected": no script had an answer. "failed": a function of the script threw. */
export type Outcome = Ending | "unexpected" | "failed"

/** One request and how it went. Times are those of `performance.now()`. */
export type Recorded = ModelRequest & {
  readonly time: { arrived: number; first_byte?: number; ended?: number }
  /** Which step answered it, as "alice, step 2 of 3". */
  step?: string
  /** Undefined while the answer is under way. */
  outcome?: Outcome
  /** Resolves when nothing more will be sent. */
  readonly done: Promise<Outcome>
}

export type Filter = { agent?: string; session?: string }

export type WaitOptions = {
  /** Wait for the so-many-th request that fits; 1 by default. */
  count?: number
  session?: string
  timeout_ms?: number
}

type Waiter = { filter: Filter; count: number; resolve(request: Recorded): void }

const fits = (filter: Filter) => (request: ModelRequest) =>
  (filter.agent === undefined || request.agent === filter.agent) &&
  (filter.session === undefined || request.session === filter.session)

/** Everything the model was asked, and who waits for more. */
export function createRecord() {
  const requests: Recorded[] = []
  const waiters = new Set<Waiter>()
  const endings = new Map<Recorded, (outcome: Outcome) => void>()
  const turns = new Map<string, number>()

  return {
    list: (filter: Filter = {}) => requests.filter(fits(filter)),

    open: () => [...endings.keys()],

    /** Counts a request of this agent in this session. */
    turn(agent: string, session: string) {
      const key = JSON.stringify([agent, session])
      const turn = (turns.get(key) ?? 0) + 1
      turns.set(key, turn)
      return turn
    },

    add(request: ModelRequest): Recorded {
      const done = Promise.withResolvers<Outcome>()
      const recorded: Recorded = { ...request, time: { arrived: performance.now() }, done: done.promise }
      requests.push(recorded)
      endings.set(recorded, done.resolve)
      for (const waiter of waiters) {
        const found = requests.filter(fits(waiter.filter))[waiter.count - 1]
        if (!found) continue
        waiters.delete(waiter)
        waiter.resolve(found)
      }
      return recorded
    },

    end(recorded: Recorded, outcome: Outcome) {
      recorded.outcome = outcome
      recorded.time.ended = performance.now()
      endings.get(recorded)?.(outcome)
      endings.delete(recorded)
    },

    /** The request, now or when it comes; `late` makes the error for one that does not. */
    async wait(filter: Filter, count: number, timeout_ms: number, late: () => Error): Promise<Recorded> {
      const found = requests.filter(fits(filter))[count - 1]
      if (found) return found
      const { promise, resolve, reject } = Promise.withResolvers<Recorded>()
      const waiter: Waiter = { filter, count, resolve }
      waiters.add(waiter)
      const timer = setTimeout(() => (waiters.delete(waiter), reject(late())), timeout_ms)
      return promise.finally(() => clearTimeout(timer))
    },
  }
}
