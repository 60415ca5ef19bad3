import type { Written } from "../domain/config"
import { PassOverErrorCode } from "../domain/errors"
import type { PassID, SessionID } from "../domain/id"
import type { InlineOverride } from "../domain/preference"
import type { Watch } from "./circles"
import type { Runner } from "./runner"
import type { Clock, Host, HostEvent, Ids, Log, Store, Tokens } from "./port"

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
  /** What our own agents carry in the registry. */
  agents: { defaults: Record<string, InlineOverride>; originators: readonly string[] }
}

/** What one project brings: its host, and the preferences that hold there. */
export type Project = {
  host: Host
  directory: string
  written(): Promise<Written[]>
  /** Brings the log files of a session up to date; it never throws and is not waited for. */
  logged(session_id: SessionID): void
}

export type Engine = EngineDeps & {
  running: Running
  hear(event: HostEvent): void
}

/** A running pass with the host that it lives in and who watches it. */
export type Entry = { runner: Runner; host: Host; watch: Watch }

/** The passes that this process runs, by id and by child session. */
export type Running = {
  add(entry: Entry): void
  remove(id: PassID): void
  get(id: PassID): Runner | undefined
  hostOf(id: PassID): Host | undefined
  /** What runs in a child session. */
  entry(session_id: SessionID): Entry | undefined
  byChild(session_id: SessionID): Runner | undefined
  /** Passes that a pass has started and that still run. */
  below(id: PassID): Runner[]
  all(): Runner[]
}

export function createRunning(): Running {
  const entries = new Map<PassID, Entry>()
  const all = () => [...entries.values()].map((entry) => entry.runner)
  const entry = (session_id: SessionID) =>
    [...entries.values()].find(({ runner }) => runner.pass.child_session_id === session_id)
  return {
    add: (added) => void entries.set(added.runner.pass.id, added),
    remove: (id) => void entries.delete(id),
    get: (id) => entries.get(id)?.runner,
    hostOf: (id) => entries.get(id)?.host,
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

const READ_ONLY = ["read", "grep", "glob", "list", "webfetch", "websearch", "todowrite", "skill"]

export function createEngine(deps: EngineDeps): Engine {
  const running = createRunning()
  const asked = new Set<string>()

  function hear(heard: HostEvent) {
    const entry = running.entry(heard.session_id)
    if (!entry) return
    const { runner } = entry
    if (heard.type === "step") {
      runner.input({ type: "step", usage: heard.usage })
      entry.watch.step()
      for (const above of upwards(running, runner)) if (above !== runner) above.input({ type: "activity" })
      return
    }
    if (heard.type === "waiting") {
      // The same question may be heard of more than once.
      if (heard.open === asked.has(heard.request_id)) return
      if (heard.open) asked.add(heard.request_id)
      if (!heard.open) asked.delete(heard.request_id)
      // While a person is asked anywhere below, no limit above runs either.
      for (const waiting of upwards(running, runner)) waiting.input({ type: "waiting", more: heard.open })
      return
    }
    if (heard.type === "turn") return entry.watch.turn(heard.turn)
    if (heard.type === "deleted") {
      const failure = { code: PassOverErrorCode.CANCELLED, message: "its session was deleted", final: true }
      return runner.input({ type: "cancel", failure })
    }
    if (heard.type !== "activity") return
    const touched = heard.tool !== undefined && heard.tool.status !== "pending" && !READ_ONLY.includes(heard.tool.name)
    runner.input({ type: "activity", touched })
    for (const above of upwards(running, runner)) if (above !== runner) above.input({ type: "activity" })
  }

  return { ...deps, running, hear }
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
