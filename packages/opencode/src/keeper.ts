import { hostname } from "node:os"
import { alive, place, processStart } from "./identity"
import { attend } from "./pass-over/service/command"
import type { Engine } from "./pass-over/service/engine"
import { recover } from "./pass-over/service/recover"

const BEAT_MS = 5_000
// Between a person's word and a child's next step this is not felt.
const POLL_MS = 250
/** Recovery does not stand in the way of opencode's own start. */
const SETTLE_IN_MS = 50
const EVERY_BEATS = 6

export type Keeper = {
  /** Comes when everything that an earlier process left has its outcome. */
  readonly recovered: Promise<void>
  leave(): Promise<void>
}

/**
 * Keeps this process's place among the owners of passes: says that it is there, takes over what others left, and
 * carries out what is asked of its passes from elsewhere.
 */
export function keep(engine: Engine): Keeper {
  const { store, owner_id, log } = engine
  const failed = (what: string) => (error: unknown) => log("warn", `${what} failed`, { error: String(error) })
  const state = { version: -1, beats: 0, attending: false }

  const entered = store
    .enter(
      {
        owner_id,
        pid: process.pid,
        process_start: processStart() ?? String(Math.round(Date.now() - performance.now())),
        host: hostname(),
        place: place(),
      },
      Date.now(),
    )
    .catch(failed("entering the list of owners"))

  const takeOver = () => recover(engine, alive).then(() => {}, failed("recovery"))
  const recovered = entered
    .then(() => new Promise<void>((resolve) => void setTimeout(resolve, SETTLE_IN_MS).unref()))
    .then(takeOver)

  const beat = setInterval(() => {
    state.beats += 1
    void store.beat(owner_id, Date.now()).catch(failed("the heartbeat"))
    if (state.beats % EVERY_BEATS === 0) void takeOver()
  }, BEAT_MS)

  // Only somebody else's write can bring a command, and that the database tells for almost nothing.
  const poll = setInterval(() => {
    if (state.attending || engine.running.all().length === 0) return
    state.attending = true
    void store
      .version()
      .then(async (version) => {
        if (version !== state.version) await attend(engine)
        state.version = version
      })
      .catch(failed("looking for commands"))
      .finally(() => (state.attending = false))
  }, POLL_MS)

  beat.unref()
  poll.unref()
  return {
    recovered,
    async leave() {
      clearInterval(beat)
      clearInterval(poll)
      await store.leave(owner_id).catch(failed("leaving the list of owners"))
    },
  }
}
