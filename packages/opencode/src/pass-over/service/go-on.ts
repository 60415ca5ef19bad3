import { PassOverError, PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { PassID, type SessionID } from "../domain/id"
import type { Pass } from "../domain/pass"
import { open } from "../domain/return-context"
import type { Rule } from "../domain/right"
import { isolated, placeAgain } from "./change/place"
import type { Engine, Project } from "./engine"
import { keptFrom, notWhileKept } from "./kept"
import type { Live, RunDeps } from "./live"
import { rightsOf, startingRules } from "./right"

const INSTEAD = "Pass it over anew, without continue; say in background what matters of the earlier pass."

const no = (code: PassOverErrorCode, message: string, suggestion = INSTEAD): Refusal =>
  refuse(code, message, { suggestion })

export const continuedAlready = (earlier: string, by: Pass["id"]): Refusal =>
  no(
    PassOverErrorCode.STALE_REVISION,
    `Pass ${earlier} is being continued already, by pass ${by}.`,
    "Wait for that one, then continue it.",
  )

const unknown = (id: string) =>
  no(
    PassOverErrorCode.NOT_FOUND,
    `No pass ${id} is known in this session.`,
    "Call pass_over_read without an id for those of this session.",
  )

/** A pass that goes on in the session of an earlier one's child: which one, with its session. */
export type Earlier = { pass: Pass; session_id: SessionID }

type Wanted = {
  id: string
  subagent: string
  root_session_id: SessionID
  by: "person" | "model"
  /** The session that asks. */
  session_id: SessionID
}

/** The pass that is to be continued, or a word why it cannot be. Foreign and unknown ids get the same answer. */
export async function earlierOf(engine: Engine, wanted: Wanted): Promise<Earlier | Refusal> {
  const { id, subagent, root_session_id, by } = wanted
  const parsed = PassID.safeParse(id)
  const pass = parsed.success ? await engine.store.find(parsed.data) : undefined
  if (!pass || pass.root_session_id !== root_session_id) return unknown(id)
  if (pass.subagent_id !== subagent) {
    return no(
      PassOverErrorCode.INVALID_SUBAGENT,
      `Pass ${id} was given to ${pass.subagent_id}, so ${subagent} cannot continue it.`,
      `Name ${pass.subagent_id}, or leave continue out.`,
    )
  }
  if (open(pass.status) || engine.running.get(pass.id)) {
    return no(
      PassOverErrorCode.STALE_REVISION,
      `Pass ${id} has not ended yet (${pass.status}).`,
      "Wait for its result first.",
    )
  }
  // Its child would tell what a person holds back.
  const kept = by === "model" ? await keptFrom(engine, pass, wanted.session_id) : undefined
  if (kept) return notWhileKept(kept)
  const session_id = pass.child_session_id
  if (session_id === null) {
    return no(
      PassOverErrorCode.NOT_FOUND,
      `Pass ${id} ended before ${subagent} had begun: there is no session to go on in.`,
    )
  }
  const newest = await engine.store.byChild(session_id)
  if (newest && newest.id !== pass.id) {
    if (open(newest.status)) return continuedAlready(id, newest.id)
    return no(
      PassOverErrorCode.STALE_REVISION,
      `Pass ${id} was continued already, by pass ${newest.id}.`,
      `Continue ${newest.id} instead.`,
    )
  }
  return { pass, session_id }
}

/** Keeps the place of an earlier child for a pass that goes on there, or says why it cannot be had. */
export async function promisePlace(
  engine: Engine,
  project: Project,
  { pass, earlier }: { pass: Pass; earlier: Earlier },
): Promise<Refusal | undefined> {
  const { subagent_id } = pass
  const found = await project.host.directoryOf(earlier.session_id)
  if (found === undefined) {
    return no(
      PassOverErrorCode.NOT_FOUND,
      `The session of ${subagent_id} in pass ${earlier.pass.id} is not there any more.`,
    )
  }
  if (found === (project.tree ?? project.directory)) {
    const rules = startingRules(await rightsOf(engine, project, pass))
    if (!project.workspaces || !isolated(pass, rules)) return
    return no(
      PassOverErrorCode.PREFERENCE_CONFLICT,
      `${subagent_id} worked in the project itself in pass ${earlier.pass.id}, and is to work in a tree of its own now.`,
    )
  }
  // Only who is in that tree can let somebody work there: what is changed in it is the proposal of that one.
  const above = await project.host.directoryOf(earlier.pass.session_id)
  const standing =
    above === found
      ? "unknown"
      : await project.workspaces?.promise({ directory: found, earlier: earlier.pass.id, pass: pass.id })
  if (standing === "free") return
  const tree = `The tree in which ${subagent_id} worked in pass ${earlier.pass.id}`
  if (standing === "taken") return no(PassOverErrorCode.RESOURCE_EXHAUSTED, `${tree} is taken by another pass.`)
  if (standing === "elsewhere") {
    return no(PassOverErrorCode.RESOURCE_EXHAUSTED, `${tree} belongs to another opencode that is running.`)
  }
  return no(
    PassOverErrorCode.RESOURCE_EXHAUSTED,
    `${tree} is that of the pass above it; it can only be gone on with from there.`,
  )
}

const gone = (message: string) => new PassOverError(PassOverErrorCode.SUBAGENT_CRASHED, message, { recoverable: false })

/** Makes the session ready in which a pass goes on; nothing for a pass that begins anew. */
export async function goOn(deps: RunDeps, live: Live, spec: { title: string; rules: readonly Rule[] }) {
  const { pass } = live
  if (pass.continues_pass_id === null) return undefined
  if (pass.child_session_id !== null) throw gone("the session in which it went on is gone")
  const earlier = await deps.store.find(pass.continues_pass_id)
  const session_id = earlier?.child_session_id
  if (!earlier || !session_id) throw gone("the pass that it was to continue has no session")
  await deps.closings.get(session_id)?.()
  const found = await deps.host.directoryOf(session_id)
  if (found === undefined) throw gone("the session in which it was to go on is gone")
  const directory = found === (deps.tree ?? pass.directory) ? undefined : found
  const place = await placeAgain(deps, live, { earlier, directory })
  await deps.host.resume({ ...spec, pass, session_id, directory: place?.directory })
  return session_id
}
