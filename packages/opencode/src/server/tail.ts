import type { StoredEvent } from "../pass-over/service/port"
import type { LivePass } from "../pass-over/service/port-live"

export type FeedStore = {
  events(after: number, limit: number): Promise<StoredEvent[]>
  newest(): Promise<number>
  lives(): Promise<LivePass[]>
  version(): Promise<number>
}

/** Events that readers who keep up share; who is further behind reads the database. */
const KEPT = 1_000
const PAGE = 200

/** The end of the list of events, kept up to date by `gather`. */
export type Tail = {
  /** Begins at the present. */
  begin(): Promise<void>
  /** Looks whether there is news. */
  gather(): Promise<boolean>
  /** What comes next after a place, in order; nothing when that is the end. */
  page(after: number): Promise<readonly StoredEvent[]>
  readonly newest: number
  readonly lives: readonly LivePass[]
  /** Counts how often what is shown of running passes has changed. */
  readonly turn: number
}

export function createTail(store: FeedStore): Tail {
  // `recent` holds every event after `base`, without a gap.
  const state = { version: -1, base: 0, newest: 0, live: "", turn: 0 }
  let recent: StoredEvent[] = []
  let lives: LivePass[] = []

  async function events() {
    for (;;) {
      const more = await store.events(state.newest, PAGE)
      if (more.length > 0) recent = [...recent, ...more]
      state.newest = more.at(-1)?.seq ?? state.newest
      if (more.length < PAGE) break
    }
    const cut = recent.length - KEPT
    if (cut <= 0) return
    state.base = recent[cut - 1]?.seq ?? state.base
    recent = recent.slice(cut)
  }

  return {
    async begin() {
      state.newest = await store.newest()
      state.base = state.newest
      state.version = -1
      recent = []
    },

    async gather() {
      const version = await store.version()
      if (version === state.version) return false
      await events()
      lives = await store.lives()
      const shown = JSON.stringify(lives)
      if (shown !== state.live) state.turn += 1
      state.live = shown
      state.version = version
      return true
    },

    async page(after) {
      if (after < state.base) return store.events(after, PAGE)
      const from = recent.findIndex((event) => event.seq > after)
      return from < 0 ? [] : recent.slice(from, from + PAGE)
    },

    get newest() {
      return state.newest
    },
    get lives() {
      return lives
    },
    get turn() {
      return state.turn
    },
  }
}
