import type { FilePort } from "./change/deps"
import type { Written } from "../domain/config"
import { ofFlow } from "../domain/call"
import { PassOverErrorCode } from "../domain/errors"
import type { PassID, SessionID } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { InlineOverride } from "../domain/preference"
import { providerOf } from "../domain/queue"
import { looksOnly } from "../domain/tool"
import { createAnswers, type Answers } from "./answers"
import { createNews, type News } from "./news"
import { createWaits, type Waits } from "./waits"
import type { BudgetWatch } from "./budget"
import type { Watch } from "./circles"
import type { Workspaces } from "./port-workspace"
import type { Rights } from "./right"
import type { Runner } from "./runner"
import { createLate, type Late } from "./late"
import type { Closings, Taking } from "./live"
import type { Clock, Ids, Log, Outcome, Store, Tokens } from "./port"
import type { Host, HostEvent } from "./port-host"
import { createQuestions } from "./questions"
import { createPace, type Pace } from "./pace"
import { createNotes, type Notes, type Scribe } from "./transcript"

/** What one opencode process brings to all the projects that it has open. */
export type EngineDeps = {
  store: Store
  clock: Clock
  ids: Ids
  tokens: Tokens
  hash: (text: string) => string
  log: Log
  owner_id: `own_${string}`
  user_id: string | null
  /** Nobody sits before it: what is asked there is answered elsewhere or by default. */
  headless: boolean
  /** How files of a project are changed; without it proposals are only told. */
  files?: FilePort | undefined
  /** What our own agents carry in the registry. */
  agents: { defaults: Record<string, InlineOverride>; originators: readonly string[] }
}

/** What one project brings: its host, and the preferences that hold there. */
export type Project = {
  host: Host
  directory: string
  /** Its way from the root of its repository, where it is not that itself. */
  within?: string
  /** Where its sessions work, where that is a tree of ours in the place of the project. */
  tree?: string
  written(): Promise<Written[]>
  /** Comes when its host goes away: what runs there then is left to whoever opens the project next. */
  closing?: AbortSignal | undefined
  /** Trees for children that do not work in the project itself. */
  workspaces?: Workspaces | undefined
  /** Brings the log files of a session up to date; it never throws and is not waited for. */
  logged(session_id: SessionID): void
}

export type Engine = EngineDeps & {
  running: Running
  /** Who here waits for which answer of a person. */
  gates: Waits
  taking: Taking
  closings: Closings
  late: Late
  /** What is being sent back to children just now. */
  reworking: Set<string>
  /** The outcomes that are being made whole. */
  completing: Map<PassID, Promise<Outcome>>
  /** Passes that have ended here and whose results are on their way. */
  bringing: Set<PassID>
  /** What went into answers that their hosts have not stored yet. */
  answers: Answers
  /** Told whenever another place may have become free, or somebody else has written. */
  news: News
  /** How often the views of running passes are shown. */
  pace: Pace
  /** What is heard of children and not written down yet. */
  notes: Notes
  /** The projects that this process has open. */
  projects: Map<string, Project>
  hear(event: HostEvent): void
}

/** A running pass with the host that it lives in, who watches it and who writes down what is heard of it. */
export type Entry = {
  runner: Runner
  host: Host
  watch: Watch
  budget: BudgetWatch
  scribe: Scribe
  rights?: Rights
}

/** The passes that this process runs, by id and by child session. */
export type Running = {
  add(entry: Entry): void
  remove(id: PassID): void
  get(id: PassID): Runner | undefined
  hostOf(id: PassID): Host | undefined
  rights(id: PassID): Rights | undefined
  /** What runs in a child session. */
  entry(session_id: SessionID): Entry | undefined
  byChild(session_id: SessionID): Runner | undefined
  /** Passes that a pass has started and that still run. */
  below(id: PassID): Runner[]
  all(): Runner[]
}

export function createRunning(removed: (id: PassID) => void = () => {}): Running {
  const entries = new Map<PassID, Entry>()
  const all = () => [...entries.values()].map((entry) => entry.runner)
  // Of several the newest: a session may be gone on in while the pass before is still being put away.
  const entry = (session_id: SessionID) => {
    let newest: Entry | undefined
    for (const one of entries.values()) if (one.runner.pass.child_session_id === session_id) newest = one
    return newest
  }
  return {
    add: (added) => void entries.set(added.runner.pass.id, added),
    remove(id) {
      entries.delete(id)
      removed(id)
    },
    get: (id) => entries.get(id)?.runner,
    hostOf: (id) => entries.get(id)?.host,
    rights: (id) => entries.get(id)?.rights,
    entry,
    byChild: (session_id) => entry(session_id)?.runner,
    below: (id) => all().filter((runner) => runner.pass.parent_pass_id === id),
    all,
  }
}

/** A pass and everything above it: what happens in a child keeps all of its originators awake. */
function* upwards(running: Running, runner: Runner | undefined): Generator<Runner> {
  for (let at = runner; at; at = at.pass.parent_pass_id ? running.get(at.pass.parent_pass_id) : undefined) yield at
}

// Who waits for a flow waits for its steps.
const waitedFor = (pass: Pass) => pass.wait || ofFlow(pass)

/** A pass and those above it for as far as each waits for the one below; who passed work on without waiting goes on. */
export function* upwaiting(running: Running, runner: Runner | undefined): Generator<Runner> {
  for (const at of upwards(running, runner)) {
    yield at
    if (!waitedFor(at.pass)) return
  }
}

/** Those that wait for a pass. */
export const waiters = (running: Running, runner: Runner): Runner[] => [...upwaiting(running, runner)].slice(1)

/** While a person is asked, no limit runs: not of the pass that it is about, and of none that waits for that one. */
export async function standStill<T>(running: Running, runner: Runner | undefined, work: () => Promise<T>): Promise<T> {
  const still = [...upwaiting(running, runner)]
  for (const each of still) each.input({ type: "waiting", more: true })
  try {
    return await work()
  } finally {
    for (const each of still) each.input({ type: "waiting", more: false })
  }
}

type Retry = Extract<HostEvent, { type: "retry" }>

/** Who is put off by its provider is not idle until it may ask again, and nobody above it is. */
function putOff(deps: EngineDeps, running: Running, runner: Runner, { until, message }: Retry) {
  cool(deps, runner, until)
  const at = deps.clock.mono() + Math.max(0, until - deps.clock.now())
  runner.input({ type: "retry", until: at, message })
  if (runner.run.phase === "ended") return
  for (const above of upwards(running, runner)) if (above !== runner) above.input({ type: "activity", until: at })
}

/** A provider that asks for patience gets fewer at once for a while. */
function cool({ store, clock, log }: EngineDeps, { pass }: Runner, until: number) {
  const provider = providerOf(pass.model)
  if (provider === null) return
  store
    .cool({ provider, until, now: clock.now() })
    .catch((error: unknown) => log("warn", "a provider's wish could not be written down", { error: String(error) }))
}

export function createEngine(deps: EngineDeps): Engine {
  const questions = createQuestions()
  const running = createRunning(questions.over)

  function hear(heard: HostEvent) {
    // Whoever asked may be gone by now; those above it still wait.
    if (heard.type === "waiting" && !heard.open) return questions.answered(heard.request_id)
    const entry = running.entry(heard.session_id)
    if (!entry) return
    const { runner } = entry
    if (heard.type === "step") {
      runner.input({ type: "step", usage: heard.usage })
      entry.watch.step()
      entry.budget.step()
      for (const above of upwards(running, runner)) if (above !== runner) above.input({ type: "activity" })
      return
    }
    if (heard.type === "waiting")
      return questions.asked(heard.request_id, runner.pass.id, [...upwaiting(running, runner)])
    if (heard.type === "turn") {
      entry.scribe.turn(heard.turn)
      return entry.watch.turn(heard.turn)
    }
    if (heard.type === "said") return entry.scribe.said(heard.said)
    if (heard.type === "retry") return putOff(deps, running, runner, heard)
    if (heard.type === "deleted") {
      const failure = { code: PassOverErrorCode.CANCELLED, message: "its session was deleted", final: true }
      return runner.input({ type: "cancel", failure })
    }
    if (heard.type !== "activity") return
    const touched = heard.tool !== undefined && heard.tool.status !== "pending" && !looksOnly(heard.tool.name)
    runner.input({ type: "activity", touched })
    for (const above of upwards(running, runner)) if (above !== runner) above.input({ type: "activity" })
  }

  return {
    ...deps,
    running,
    gates: createWaits(),
    taking: new Map(),
    closings: new Map(),
    late: createLate(deps.clock),
    reworking: new Set(),
    completing: new Map(),
    bringing: new Set(),
    answers: createAnswers(),
    news: createNews(),
    pace: createPace(),
    notes: createNotes(deps),
    projects: new Map(),
    hear,
  }
}

/** Ends what a pass has started when the pass itself ends; passes that nobody waits for go on. */
export function endBelow(running: Running, id: PassID, why: string) {
  for (const runner of running.below(id)) {
    if (!runner.pass.wait) continue
    runner.input({
      type: "cancel",
      failure: { code: PassOverErrorCode.CANCELLED, message: `the pass above it ended: ${why}` },
    })
  }
}
