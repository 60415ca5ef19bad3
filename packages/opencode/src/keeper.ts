import { hostname } from "node:os"
import { alive, headless, place, processStart } from "./identity"
import { actOnAnswers, tendGates } from "./pass-over/service/act"
import { attend } from "./pass-over/service/command"
import type { Engine } from "./pass-over/service/engine"
import { changesOf } from "./pass-over/service/change/deps"
import { recoverApplies } from "./pass-over/service/change/recover"
import { attendReworks } from "./pass-over/service/change/rework"
import { attendTells } from "./pass-over/service/change/send-back"
import { lookAtGates } from "./pass-over/service/gate"
import { askHeld } from "./pass-over/service/held"
import type { KnownOwner } from "./pass-over/service/port"
import { attendStarts } from "./pass-over/service/start"
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

const thisProcess = () => ({
  pid: process.pid,
  process_start: processStart() ?? String(Math.round(Date.now() - performance.now())),
  host: hostname(),
  place: place(),
})

/**
 * Keeps this process's place among the owners of passes: says that it is there, takes over what others left, and
 * carries out what is asked of its passes from elsewhere.
 */
export function keep(engine: Engine): Keeper {
  const { store, owner_id, log } = engine
  const failed = (what: string) => (error: unknown) => log("warn", `${what} failed`, { error: String(error) })
  const state = { version: -1, beats: 0, attending: false }

  const entered = store.enter({ owner_id, ...thisProcess() }, Date.now()).catch(failed("entering the list of owners"))

  // Files first: what a dead process was writing has to be whole before anybody looks at it.
  const files = changesOf(engine)
  const gone = (owner: KnownOwner | undefined) => owner === undefined || alive(owner) === "dead"
  // An `opencode run` ends with its own prompt and would take what it has begun with it.
  const start = async () =>
    headless() ? undefined : attendStarts(engine, alive).catch(failed("starting what was asked for"))
  const rework = async () =>
    headless() ? undefined : attendReworks(engine).catch(failed("sending back what was declined"))
  const takeOver = async () => {
    if (files) await recoverApplies(files, gone).catch(failed("ending what was being written"))
    await recover(engine, alive).catch(failed("recovery"))
    for (const project of engine.projects.values())
      await askHeld(engine, project, alive).catch(failed("asking about held results"))
    await start()
    await rework()
  }
  const recovered = entered
    .then(() => new Promise<void>((resolve) => void setTimeout(resolve, SETTLE_IN_MS).unref()))
    .then(takeOver)

  const beat = setInterval(() => {
    state.beats += 1
    void store.beat(owner_id, Date.now()).catch(failed("the heartbeat"))
    if (state.beats % EVERY_BEATS !== 0) return
    void takeOver()
    void tendGates(engine).catch(failed("looking after questions"))
    void attendTells(engine).catch(failed("telling originators"))
  }, BEAT_MS)

  async function look() {
    const version = await store.version()
    if (version === state.version) return
    state.version = version
    engine.news.tell()
    if (engine.running.all().length > 0) await attend(engine)
    await lookAtGates(engine)
    await attendTells(engine)
    // What follows may take its time: a user's check, the reading of what goes along. Cancelling must not wait for it.
    void actOnAnswers(engine).catch(failed("carrying out answers"))
    void start()
    void rework()
  }

  // Only somebody else's write can bring a command or an answer, and that the database tells for almost nothing.
  const poll = setInterval(() => {
    if (state.attending) return
    state.attending = true
    void look()
      .catch(failed("looking for news"))
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
