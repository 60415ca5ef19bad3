import { hostname } from "node:os"
import { alive, headless, place, processStart } from "./identity"
import { actOnAnswers, tendGates } from "./pass-over/service/act"
import { adopt } from "./pass-over/service/adopt"
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
import { recover, resumeLeft } from "./pass-over/service/recover"

const BEAT_MS = 5_000
// Between a person's word and a child's next step this is not felt.
const POLL_MS = 250
/** Recovery does not stand in the way of opencode's own start. */
const SETTLE_IN_MS = 50
const EVERY_BEATS = 6

export type Keeper = {
  /** Comes when everything that an earlier process left has its outcome, since the place was last taken. */
  readonly recovered: Promise<void>
  /** Takes the place again that was left; nothing where it was not. */
  enter(): void
  /** Gives every pass its outcome whose process is gone, and takes those over that a project which is open goes on with. */
  recover(): Promise<void>
  leave(): Promise<void>
}

const thisProcess = () => ({
  pid: process.pid,
  process_start: processStart() ?? String(Math.round(Date.now() - performance.now())),
  host: hostname(),
  place: place(),
})

const gone = (owner: KnownOwner | undefined) => owner === undefined || alive(owner) === "dead"

// What goes wrong with every beat for hours fills nobody's log.
const SAID_MS = 10 * 60_000
const MOST_SAID = 100

function failing({ log, clock }: Engine) {
  const said = new Map<string, number>()
  return (what: string) => (error: unknown) => {
    const line = `${what} ${String(error)}`
    const now = clock.mono()
    if (now - (said.get(line) ?? -SAID_MS) < SAID_MS) return
    if (said.size >= MOST_SAID) said.clear()
    said.set(line, now)
    log("warn", `${what} failed`, { error: String(error) })
  }
}

/** What others have left, and what is asked for: taken over and carried out. */
function createCare(engine: Engine) {
  const failed = failing(engine)
  // An `opencode run` ends with its own prompt and would take what it has begun with it.
  const short = headless()
  const projects = () => [...engine.projects.values()]
  // Files first: what a dead process was writing has to be whole before anybody looks at it.
  const files = changesOf(engine)

  const start = async () =>
    short ? undefined : attendStarts(engine, alive).catch(failed("starting what was asked for"))
  const rework = async () => (short ? undefined : attendReworks(engine).catch(failed("sending back what was declined")))

  const over = async () => {
    const waiting_in = short ? [] : [...engine.projects.keys()]
    await recover(engine, alive, waiting_in).catch(failed("recovery"))
  }

  const takeOver = async () => {
    if (files) await recoverApplies(files, gone).catch(failed("ending what was being written"))
    await over()
    for (const project of projects()) await askHeld(engine, project, alive).catch(failed("asking about held results"))
    await start()
    await rework()
  }

  /** What a project does when it is opened, for those that were open already when somebody else's process ended. */
  const goOn = async () => {
    for (const project of projects()) {
      if (!short) await adopt(engine, project).catch(failed("going on with what waits for a person"))
      await resumeLeft(engine, project, alive)
    }
    // Flows look for runs that nobody carries whenever there are news.
    engine.news.tell("elsewhere")
  }

  /** A person lets a pass start that is in nobody's hands here: its process may be gone. */
  const unheard = async () => {
    if (short) return false
    const answered = await engine.store.gates({ kind: "confirmation", status: ["approved"], unacted: true })
    for (const { pass_over_id: id, directory } of answered) {
      if (id === null || !engine.projects.has(directory) || engine.running.get(id)) continue
      if ((await engine.store.find(id))?.status === "initial") return true
    }
    return false
  }

  return { start, rework, recover: over, takeOver, goOn, unheard }
}

/** This process in the list of owners. */
function createPlace({ store, owner_id }: Engine) {
  const state = { entered: false }
  async function enter() {
    await store.enter({ owner_id, ...thisProcess() }, Date.now())
    state.entered = true
  }
  return {
    enter,
    // It may not have come into the list because the disk was full.
    beat: () => (state.entered ? store.beat(owner_id, Date.now()) : enter()),
    async leave() {
      state.entered = false
      await store.leave(owner_id)
    },
  }
}

/**
 * Keeps this process's place among the owners of passes: says that it is there, takes over what others left, and
 * carries out what is asked of its passes from elsewhere.
 */
export function keep(engine: Engine, beat_ms = BEAT_MS): Keeper {
  const failed = failing(engine)
  const care = createCare(engine)
  const own = createPlace(engine)
  const state = { version: -1, beats: 0, attending: false, going: false }

  /** One at a time: it may take as long as the reading of what others left. */
  async function again() {
    if (state.going) return
    state.going = true
    await care
      .takeOver()
      .then(care.goOn)
      .catch(failed("taking over"))
      .finally(() => (state.going = false))
  }

  function onBeat() {
    state.beats += 1
    void own.beat().catch(failed("the heartbeat"))
    if (state.beats % EVERY_BEATS !== 0) return
    void again()
    void tendGates(engine).catch(failed("looking after questions"))
    void attendTells(engine).catch(failed("telling originators"))
  }

  async function look() {
    const version = await engine.store.version()
    if (version === state.version) return
    state.version = version
    engine.news.tell("elsewhere")
    if (engine.running.all().length > 0) await attend(engine)
    await lookAtGates(engine)
    await attendTells(engine)
    // What follows may take its time: a user's check, the reading of what goes along. Cancelling must not wait for it.
    void actOnAnswers(engine).catch(failed("carrying out answers"))
    void care.start()
    void care.rework()
    if (await care.unheard()) void again()
  }

  // Only somebody else's write can bring a command or an answer, and that the database tells for almost nothing.
  function onPoll() {
    if (state.attending) return
    state.attending = true
    void look()
      .catch(failed("looking for news"))
      .finally(() => (state.attending = false))
  }

  let left: Promise<unknown> = Promise.resolve()
  let stay: { recovered: Promise<void>; timers: Timer[] } | undefined

  function enter() {
    if (stay) return
    const timers = [setInterval(onBeat, beat_ms), setInterval(onPoll, POLL_MS)]
    for (const timer of timers) timer.unref()
    const recovered = left
      .then(own.enter)
      .catch(failed("entering the list of owners"))
      .then(() => new Promise<void>((resolve) => void setTimeout(resolve, SETTLE_IN_MS).unref()))
      .then(() => (stay?.timers === timers ? care.takeOver() : undefined))
    stay = { recovered, timers }
  }

  enter()
  return {
    get recovered() {
      return stay?.recovered ?? Promise.resolve()
    },
    enter,
    recover: care.recover,
    async leave() {
      for (const timer of stay?.timers ?? []) clearInterval(timer)
      stay = undefined
      left = own.leave().catch(failed("leaving the list of owners"))
      await left
    },
  }
}
