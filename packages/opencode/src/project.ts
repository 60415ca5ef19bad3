import type { PluginInput } from "@opencode-ai/plugin"
import { relative } from "node:path"
import { keepAuditFiles, type AuditFiles } from "./audit-files"
import { projectFlows } from "./flow/project"
import { alive, headless } from "./identity"
import { resolveAudit } from "./pass-over/domain/config"
import { tendGates } from "./pass-over/service/act"
import { adopt } from "./pass-over/service/adopt"
import { answered } from "./pass-over/service/deliver"
import { attendReworks } from "./pass-over/service/change/rework"
import { pruneContents } from "./pass-over/service/change/prune"
import type { Answered } from "./pass-over/service/answers"
import type { Engine, Project } from "./pass-over/service/engine"
import type { Flows } from "./pass-over/service/flow"
import { askHeld } from "./pass-over/service/held"
import type { Log } from "./pass-over/service/port"
import { allWritten } from "./pass-over/service/preference"
import { resume } from "./pass-over/service/recover"
import { within } from "./pass-over/service/within"
import { forgetPasses } from "./pass-over/service/retention"
import { attendStarts } from "./pass-over/service/start"
import type { ConfigFiles } from "./pass-over/store/config-file"
import { keepRetention } from "./retention"
import type { Keeper } from "./keeper"
import type { Client } from "./session/client"
import { createHost } from "./session/host"
import type { Observed } from "./session/observed"
import { createRoutedHost } from "./session/routed-host"
import { nursery, turns } from "./runtime"
import { stay } from "./standby/stay"
import { homeOf } from "./session/home"
import { hostAt, workspacesInside, workspacesOf } from "./session/worktrees"

export type Opening = {
  input: Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">
  client: Client
  observed: Observed
  files: ConfigFiles
  log: Log
  /** Shows the user a line, where one sits before it. */
  tell(line: string): void
  /** Ends opencode. */
  quit(): void
}

/** A project that this process has open, with what goes on in it besides passes. */
export type Opened = {
  engine: Engine
  project: Project
  flows: Flows | undefined
  /** An originator's tool call has its answer stored. It is written down a moment later, with others. */
  answered(call: Answered): void
  close(): Promise<void>
}

// The instance waits for this plugin; what needs the instance has to wait for it in turn.
const later = (run: () => void) => void setTimeout(run, 300).unref()

// Outside of a repository the host calls the root of the disk its worktree.
const below = ({ directory, worktree }: { directory: string; worktree: string }) =>
  worktree === "/" ? "" : relative(worktree, directory).replaceAll("\\", "/")

/** Takes part in a project: its host, its preferences, its flows, and what an earlier opencode left there. */
export function openProject({ engine, keeper }: { engine: Engine; keeper: Keeper }, opening: Opening): Opened {
  const { input, client, observed, files, log, tell, quit } = opening
  const home = homeOf(input.directory)
  const directory = home?.directory ?? input.directory
  const auditFiles = keepAuditFiles({ engine, directory, files, log, tell })
  const own = home ? undefined : workspacesOf(engine, input)
  const closing = new AbortController()
  const above = home && engine.projects.get(directory)?.closing
  const project: Project = {
    directory,
    within: below(home ?? input),
    ...(home ? { tree: input.directory } : {}),
    host: createRoutedHost(createHost({ client, observed, turns, nursery }), hostAt(input)),
    // A tree goes with its project.
    get closing() {
      return home ? (engine.projects.get(directory)?.closing ?? above) : closing.signal
    },
    // Asked each time in a tree: those are its project's, and it is theirs only while somebody below is at work.
    get workspaces() {
      return home ? workspacesInside(engine, home, input) : own
    },
    written: () => allWritten(engine, { directory, files: files.read() }),
    logged: auditFiles.logged,
  }
  const flows = projectFlows(engine, project, client, log)
  const retention = () =>
    keepRetention({
      directory,
      settings: () => resolveAudit(files.read()),
      passes: (before, limit) => forgetPasses(engine, { directory, before, limit }),
      contents: () => pruneContents(engine, alive),
      log,
    })
  const kept = home ? undefined : retention()
  // Two hosts of one process may have opened the same one.
  const before = engine.projects.get(directory)
  // The instance of a tree comes and goes; what has to be looked after is looked after where the user has the project.
  if (!home) {
    engine.projects.set(directory, project)
    // It may have left when the last project was closed.
    keeper.enter()
    const left = createLeft({ engine, keeper, project, flows, auditFiles }, log)
    later(() => void keeper.recovered.then(left))
    stay({ engine, keeper, client, directory, quit })
  }

  const arrivals = createArrivals({ engine, project, flows }, log)
  return {
    engine,
    project,
    flows,
    answered: arrivals.heard,
    async close() {
      // First of all, and at once: the host is about to stop what runs here, and nobody has asked for that.
      const leaving = home ? [] : engine.running.all().filter((runner) => runner.pass.directory === directory)
      closing.abort()
      if (!home && engine.projects.get(directory) === project) shadow(engine, directory, before)
      const left = leaving.filter(({ run }) => run.phase === "ended").map(({ outcome }) => outcome)
      await within(engine.clock, LEFT_MS, Promise.all(left))
      await arrivals.flush()
      await engine.late.flush()
      await engine.notes.flush()
      await auditFiles.close()
      kept?.close()
      if (home) return
      await project.workspaces
        ?.close()
        .catch((error: unknown) => log("warn", "trees are left", { error: String(error) }))
      // Whoever has another project open here is still to be found, and still looks after its passes.
      if (engine.projects.size === 0 && engine.running.all().length === 0) await keeper.leave()
    },
  }
}

// An outcome without anything that has to be read is written in no time.
const LEFT_MS = 1_000

/** The project is again whose it was before, if that one is still open. */
function shadow({ projects }: Engine, directory: string, before: Project | undefined) {
  if (before && before.closing?.aborted === false) return void projects.set(directory, before)
  projects.delete(directory)
}

// Nobody waits for us by then: the originator's model has been asked. Whether a call had its answer can be seen in its
// session at any time, also by who comes after a crash.
const ARRIVED_MS = 25

/** Writes down which answers were stored, those of a moment together. */
function createArrivals({ engine, project, flows }: Pick<Opened, "engine" | "project" | "flows">, log: Log) {
  const heard: Answered[] = []
  const state = { unarm: () => {} }

  async function flush() {
    state.unarm()
    const calls = heard.splice(0)
    if (calls.length === 0) return
    try {
      await answered(engine, project, ...calls)
      for (const call of calls) await flows?.answered(call)
    } catch (error) {
      log("warn", "deliveries could not be recorded", { calls, error: String(error) })
    }
  }

  return {
    flush,
    heard({ session_id, call_id, message_id }: Answered) {
      if (heard.length === 0) state.unarm = engine.clock.after(ARRIVED_MS, () => void flush())
      heard.push({ session_id, call_id, message_id })
    },
  }
}

type Left = Pick<Opened, "engine" | "project" | "flows"> & { auditFiles: AuditFiles; keeper: Keeper }

/** Takes up what an earlier opencode left in this project. One thing that fails does not keep the next from its turn. */
function createLeft({ engine, keeper, project, flows, auditFiles }: Left, log: Log) {
  // An `opencode run` ends with its own prompt: what it took up would end with it.
  const lasting = (work: () => Promise<unknown> | undefined) => (headless() ? () => undefined : work)
  const works: [string, () => Promise<unknown> | undefined][] = [
    ["what was interrupted could not be taken over", () => keeper.recover()],
    ["what waits for a person could not be taken up again", lasting(() => adopt(engine, project))],
    ["what was interrupted could not all be brought in", () => resume(engine, project, alive)],
    ["nobody could be asked about held results", () => askHeld(engine, project, alive)],
    ["trees are left", () => project.workspaces?.sweep()],
    ["the audit log could not be brought up to date", () => auditFiles.catchUp()],
    ["flows that had ended could not all be brought in", () => flows?.bring(alive)],
    ["interrupted flows could not be taken up again", lasting(() => flows?.recover(alive))],
    ["questions of flows that have ended are left", () => flows?.tidy()],
    ["what was sent back could not be taken up", lasting(() => attendReworks(engine))],
    ["passes that were asked for from outside could not be started", lasting(() => attendStarts(engine, alive))],
  ]
  const failed = (problem: string) => (error: unknown) => log("warn", problem, { error: String(error) })
  return async () => {
    for (const [problem, work] of works) await Promise.resolve(work()).catch(failed(problem))
    // A user's check may be part of it, which nothing else waits for.
    void tendGates(engine).catch(failed("answers that came meanwhile could not be carried out"))
  }
}
