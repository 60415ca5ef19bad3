import type { Clock } from "./pass-over/service/port"

// A disk with room for small things only fails and works by turns.
const AGAIN_MS = 10 * 60_000

export type Trouble = {
  /** Something is wrong, in words for the user. */
  ill(sentence: string): void
  well(): void
  /** Tells what is wrong now and what will be. Ends the one that was there under the same name; gives back its own end. */
  listen(name: string, tell: (sentence: string) => void): () => void
}

/** What is wrong with something that everybody here uses: everybody is told once, and again only after it was well. */
export function createTrouble(clock: Pick<Clock, "mono">): Trouble {
  const listeners = new Map<string, (sentence: string) => void>()
  const state = { sentence: "", since: 0, over: false }

  return {
    ill(sentence) {
      const now = clock.mono()
      const known = sentence === state.sentence && !(state.over && now - state.since >= AGAIN_MS)
      state.over = false
      if (known) return
      Object.assign(state, { sentence, since: now })
      for (const tell of listeners.values()) tell(sentence)
    },
    well() {
      state.over = true
    },
    listen(name, tell) {
      listeners.set(name, tell)
      if (state.sentence !== "" && !state.over) tell(state.sentence)
      return () => {
        if (listeners.get(name) === tell) listeners.delete(name)
      }
    },
  }
}
