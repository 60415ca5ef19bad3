import type { Pass } from "../../domain/pass"
import { valuesOf } from "../../domain/policy"
import type { Rule } from "../../domain/right"
import { translate, translateAll } from "../../domain/translate"
import type { Live, RunDeps } from "../live"
import type { Store } from "../port"
import type { Workspace, Workspaces } from "../port-workspace"
import { attributed } from "./attribute"
import { changesOf } from "./deps"
import { putBack } from "./put-back"
import { createRecorder } from "./record"
import { standOn } from "./stand-on"
import type { Observed } from "./take"

const denied = (rules: readonly Rule[], what: "bash" | "edit") =>
  rules.findLast(({ permission, pattern }) => [what, "*"].includes(permission) && pattern === "*")?.action === "deny"

/**
 * Whether a child works in a tree of its own. What a shell will write cannot be told in advance; and who only reads
 * finds work that nobody has applied yet (`stands`) in a tree alone.
 */
export function isolated(pass: Pass, rules: readonly Rule[], stands = false): boolean {
  const { isolation, can_run_tools } = valuesOf(pass)
  if (isolation !== "auto") return isolation === "worktree"
  if (can_run_tools && !denied(rules, "bash")) return true
  return stands && denied(rules, "edit")
}

/** Whether a child may change files, with all above it: what no tool may do for it, its shell may not either. */
export async function mayModify(store: Pick<Store, "find">, pass: Pass): Promise<boolean> {
  if (!valuesOf(pass).can_modify_files) return false
  if (pass.parent_pass_id === null) return true
  const parent = await store.find(pass.parent_pass_id)
  return !parent || mayModify(store, parent)
}

const COPYING = "waiting for its copy of the project"

// A large project is photographed for the first time once; nobody waits for longer than this.
const PATIENCE_MS = 10_000

/** Gives a child its place before its session is made. Without trees it works in the project, as it would anywhere. */
export async function placeChild(deps: RunDeps, live: Live, rules: readonly Rule[]): Promise<Workspace | undefined> {
  const { workspaces } = deps
  const { stands_on = [] } = live.assignment
  if (workspaces && isolated(live.pass, rules, stands_on.length > 0)) {
    live.hold?.(COPYING)
    try {
      const may = await mayModify(deps.store, live.pass)
      const files = changesOf(deps)
      const fill = files && stands_on.length > 0 ? (into: string) => standOn(files, stands_on, into) : undefined
      live.workspace ??= await inTime(deps, workspaces, live.pass, workspaces.take(live.pass, may, fill))
    } finally {
      live.hold?.(undefined)
    }
    return live.workspace
  }
  record(deps, live)
  return undefined
}

function record(deps: RunDeps, live: Live) {
  const files = changesOf(deps)
  const directory = deps.tree ?? live.pass.directory
  if (files) live.recorder ??= createRecorder({ deps: files, directory, workspaces: deps.workspaces })
}

/** The place that a child's session is bound to: the project itself, or its very tree with what it had made there. */
export async function placeAgain(deps: RunDeps, live: Live, { earlier, directory }: Again) {
  const { workspaces } = deps
  if (directory === undefined) {
    record(deps, live)
    return undefined
  }
  if (!workspaces) throw new Error("it worked in a tree of its own, and there are none here")
  live.hold?.(COPYING)
  try {
    const fill = (into: string) => filled(deps, earlier, into)
    const from = { directory, fill, can_modify_files: await mayModify(deps.store, live.pass) }
    live.workspace ??= await inTime(deps, workspaces, live.pass, workspaces.retake(live.pass, from))
  } finally {
    live.hold?.(undefined)
  }
  return live.workspace
}

export type Again = {
  earlier: Pass
  /** Where its child has worked; nothing where that was the project itself. */
  directory: string | undefined
}

async function filled(deps: RunDeps, earlier: Pass, directory: string): Promise<string[]> {
  const files = changesOf(deps)
  const change = files && (await files.store.changes(earlier.id)).at(-1)
  return files && change ? putBack(files, change, directory) : []
}

/** A tree, or the reason why there is none; who is to work apart from the user's files never works in them instead. */
async function inTime(
  { clock, log }: RunDeps,
  workspaces: Workspaces,
  pass: Pass,
  taking: Promise<Workspace>,
): Promise<Workspace> {
  const late = Promise.withResolvers<undefined>()
  const unarm = clock.after(PATIENCE_MS, () => late.resolve(undefined))
  try {
    const workspace = await Promise.race([taking, late.promise])
    if (workspace) return workspace
  } finally {
    unarm()
  }
  // Ready by then for whoever tries again.
  taking
    .then((workspace) => workspaces.release(workspace))
    .catch((error: unknown) => log("warn", "a tree could not be made", { error: String(error) }))
  throw new Error(
    `the copy of the project that ${pass.subagent_id} is to work in was not ready within ${PATIENCE_MS / 1_000} s; try again in a moment, or set isolation to "none" for it`,
  )
}

/** What a child did in its place. */
export async function observe(deps: RunDeps, live: Live): Promise<Observed | undefined> {
  const { workspace } = live
  if (live.recorder) return live.recorder.observed()
  if (!workspace || !deps.workspaces) return
  const { files, shared, ...found } = await deps.workspaces.collect(workspace)
  const { directory, instead_of } = workspace
  const named = shared ? await attributed(deps.store, live.pass, { directory, files }) : files
  return { origin: "isolated", files: named, ...found, directory, target: instead_of }
}

/**
 * Gives the place back, once nothing runs or is read there any more; one that could not be read stays as it is. It never
 * throws and is not waited for.
 */
export async function leavePlace(deps: RunDeps, live: Live) {
  const { workspace, pass, left } = live
  // What its child has made there is read by whoever opens the project next.
  if (left) return
  const { isolation } = valuesOf(pass)
  if (isolation !== "none") deps.workspaces?.expect()
  if (!workspace || !deps.workspaces) return
  delete live.workspace
  try {
    if (pass.child_session_id) await deps.host.stop(pass.child_session_id).catch(() => {})
    await deps.taking.get(pass.id)
    await (live.unread ? deps.workspaces.setAside(workspace) : deps.workspaces.release(workspace))
  } catch (error) {
    deps.log("warn", "a tree could not be given back", { directory: workspace.directory, error: String(error) })
  }
}

/** The names that others have for the place where a child works. */
const elsewhere = ({ instead_of, project }: Workspace) => (project === undefined ? instead_of : [instead_of, project])

/** A child in a tree of its own that names the place which it was made of means its tree. */
export const inTree = <T>(value: T, workspace: Workspace): T =>
  translateAll(value, elsewhere(workspace), workspace.directory)

/** What a child says, with paths as they are where its changes go. */
export const inTarget = <T>(value: T, workspace: Workspace): T =>
  translateAll(
    value,
    workspace.project === undefined ? workspace.directory : [workspace.directory, workspace.project],
    workspace.instead_of,
  )

/** What was said of the place where changes go, for everybody: to them it is the project. */
export const inProject = <T>(value: T, { instead_of, project }: Workspace): T =>
  project === undefined ? value : translateAll(value, instead_of, project)

const ONTO =
  "It is the project as it is now, with what earlier steps have made on top, where it still fits. What you change is proposed together with that."

const AGAIN =
  "It is the project as it is now, with what you had changed before on top, where it still fits. All of it together comes back as the new proposal."

const MOST_NAMED = 10

/** Who looks for the history of a repository that lies in the project finds none. */
function plain({ nested = [] }: Workspace): string {
  if (nested.length === 0) return ""
  const names = `${nested.slice(0, MOST_NAMED).join(", ")}${nested.length > MOST_NAMED ? " and others" : ""}`
  return nested.length === 1
    ? ` ${names} is a git repository of its own in the project; here it is plain files, without its history.`
    : ` ${names} are git repositories of their own in the project; here they are plain files, without their history.`
}

/** A prompt as a child in a tree of its own has to read it. */
export function localised(text: string, workspace: Workspace | undefined): string {
  if (!workspace) return text
  const links =
    workspace.linked.length > 0
      ? ` ${workspace.linked.join(", ")} ${workspace.linked.length === 1 ? "is a link" : "are links"} to the project's own: do not write there.`
      : ""
  return [
    translate(text, elsewhere(workspace), workspace.directory),
    "",
    `You work in a copy of the project, ${workspace.directory}. What you change there comes back as a proposal.${links}${plain(workspace)}`,
    ...(workspace.again ? [AGAIN, ...workspace.again.map((note) => `- ${note}`)] : []),
    ...(workspace.onto ? [ONTO, ...workspace.onto.map((note) => `- ${note}`)] : []),
  ].join("\n")
}
