import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { send, type Ask } from "../../../src/pass-over/service/api-send"
import { applyAndVerify, changeOf, preview, review } from "../../../src/pass-over/service/change/act"
import type { Permit } from "../../../src/pass-over/service/change/apply"
import { keep } from "../../../src/pass-over/service/change/blob"
import { changesOf, type ChangeDeps } from "../../../src/pass-over/service/change/deps"
import { isUnread } from "../../../src/pass-over/service/change/unread"
import type { Project } from "../../../src/pass-over/service/engine"
import type { Runner } from "../../../src/pass-over/service/runner"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { createWorkspaces } from "../../../src/session/worktree"
import { createEngineWorld, type EngineWorld } from "./engine"
import { createFolder } from "./folder"
import type { Child } from "./scripted-host"

const GIT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
}

export function git(cwd: string, ...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], { cwd, env: { ...process.env, ...GIT } })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

export const read = (directory: string, path: string) => {
  try {
    return readFileSync(join(directory, path), "utf8")
  } catch {
    return undefined
  }
}

export const put = (directory: string, path: string, content: string) => {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), content)
}

/** A child that works in a place of its own, and can pass work on from there. */
export type Working = Child & {
  tree: string
  pass: Pass
  on(agent: string, script: (working: Working) => Promise<void>, ask?: Partial<Ask>): Promise<Runner>
}

export type NestedWorld = EngineWorld & {
  directory: string
  trees: string
  deps: ChangeDeps
  workspaces: NonNullable<Project["workspaces"]>
  /** Runs a pass of the user's agent, with what its child does; comes back when it is over. */
  run(agent: string, script: (working: Working) => Promise<void>, ask?: Partial<Ask>): Promise<Runner>
  /** What the next child of an agent does that somebody else has begun. */
  plays(agent: string, script: (working: Working) => Promise<void>): void
  /** Accepts all of the newest change of a pass, and applies it. */
  apply(pass: Pass, actor: string, permit?: Permit): ReturnType<typeof applyAndVerify>
}

type NestedOptions = {
  git?: boolean
  /** Another process on the project and the database of this one. */
  of?: NestedWorld
  /** Its database, where others read it too. */
  path?: string
}

/** The whole engine over a real repository with real trees; only the children are scripted. */
export function createNestedWorld(files: Record<string, string>, options: NestedOptions = {}): NestedWorld {
  const folder = createFolder()
  const { of } = options
  const world = createEngineWorld(of ? { store: of.engine.store, owner: "2", seed: 1_000_000, serial: 1_000 } : options)
  if (of) Object.assign(world.engine, { files: of.engine.files })
  mkdirSync(folder.at("project"), { recursive: true })
  const directory = of?.directory ?? realpathSync(folder.at("project"))
  for (const [path, content] of Object.entries(files)) put(directory, path, content)
  if (options.git !== false && !of) {
    git(directory, "init", "-q")
    git(directory, "add", "-A")
    git(directory, "commit", "-qm", "one")
  }
  const { engine, project, host } = world
  const deps = changesOf(engine)!
  const trees = of?.trees ?? folder.at("trees")
  const workspaces = createWorkspaces({
    store: engine.store,
    log: engine.log,
    owner_id: engine.owner_id,
    now: () => engine.clock.now(),
    folder: trees,
    directory,
    version: "1.18.33",
    keep: (contents) => keep(deps, contents),
    gone: async (owner_id) => owner_id === of?.engine.owner_id,
    boot: async () => {},
    busy: () => true,
    dispose: async () => {},
  })
  Object.assign(project, { directory, workspaces })
  host.directoryOf = async (session_id) => places.get(session_id) ?? directory
  const places = new Map<string, string>()
  const scripts: { agent: string; script: (working: Working) => Promise<void> }[] = []

  for (const agent of ["scout", "audit", "inspector"]) {
    host.script(agent, async (child) => {
      const runner = engine.running.byChild(child.session_id)!
      const at = scripts.findIndex((one) => one.agent === agent)
      const [{ script }] = scripts.splice(at, 1) as [(typeof scripts)[number]]
      const above = runner.recorder?.directory ?? directory
      const tree = runner.workspace?.directory ?? above
      places.set(child.session_id, tree)
      const inside: Project = { ...project, tree, workspaces: workspaces.inside(tree) }
      const on: Working["on"] = (to, next, ask) => {
        scripts.push({ agent: to, script: next })
        return begin(tree === directory ? project : inside, { agent, session_id: child.session_id }, { to, ask })
      }
      await script(Object.assign(child, { tree, pass: runner.pass, on })).catch(failed.reject)
    })
  }

  // What a child's script finds wrong is the test's to fail with, and not its pass's to retry.
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  let calls = 0
  async function begin(
    from: Project,
    caller: { agent: string; session_id: string },
    { to, ask }: { to: string; ask?: Partial<Ask> | undefined },
  ) {
    calls += 1
    const sent = await send(
      engine,
      from,
      { ...caller, message_id: "msg_1", call_id: `call_${calls}`, by: "model", model: null },
      { subagent: to, objective: `Do part ${calls}`, reason: "work", ...ask },
    )
    if (!sent.ok) throw new Error(sent.refusal.message)
    return sent.runner
  }

  return Object.assign(world, {
    directory,
    trees,
    deps,
    workspaces,
    async run(agent: string, script: (working: Working) => Promise<void>, ask?: Partial<Ask>) {
      scripts.push({ agent, script })
      const runner = await begin(project, { agent: "alice", session_id: "ses_root" }, { to: agent, ask })
      await Promise.race([runner.outcome, failed.promise])
      const held = async () => {
        const row = (await engine.store.worktrees()).find(({ pass_over_id }) => pass_over_id === runner.pass.id)
        // One that could not be read stays.
        return row !== undefined && !(row.collected && isUnread((await engine.store.changes(runner.pass.id)).at(-1)))
      }
      while (await held()) await Bun.sleep(5)
      return runner
    },
    plays: (agent: string, script: (working: Working) => Promise<void>) => void scripts.push({ agent, script }),
    async apply(pass: Pass, actor: string, permit?: Permit) {
      const found = await changeOf(deps, pass)
      if (!found.ok) return found
      const { change } = found
      const verdicts = change.files.map(({ path }) => ({ path, hunk: null, accepted: true, reason: null }))
      await review(deps, { pass, change, verdicts, actor })
      const planned = await preview(deps, change)
      if (!planned.ok) return planned
      return applyAndVerify(deps, { pass, change, actor, approval: planned.planned.approval, permit })
    },
    [Symbol.dispose]: () => {
      if (!of) engine.store.close()
      folder[Symbol.dispose]()
    },
  })
}

/** Returns and ends the step that it does so in. */
export async function back(child: Child, more: Record<string, unknown> = {}) {
  const told = await child.return({ status: "completed", decision_reason: "done", ...more })
  if (!told.startsWith("Received")) throw new Error(told)
  child.step()
  return told
}

export const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("")
export const FILES = { "a.txt": LINES, "sub/b.txt": "b\n", ".gitignore": "node_modules\n" }

export const prefer = (world: NestedWorld, preferences: object) =>
  world.preferences.push({ origin: "project", path: "p", preferences } as never)

/** The newest change of a pass. */
export const changed = async (world: NestedWorld, pass: Pass) => (await world.engine.store.changes(pass.id)).at(-1)
