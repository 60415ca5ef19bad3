import { ERRORS, PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { event, type Pass } from "../domain/pass"
import { valuesOf } from "../domain/policy"
import { conforms } from "../domain/output-schema"
import { readReport, says, type Report } from "../domain/report"
import { open } from "../domain/return-context"
import { changesOf } from "./change/deps"
import { inProject, inTarget } from "./change/place"
import { checkProposals } from "./change/propose"
import type { Engine } from "./engine"
import { callOffBelow, unfinished } from "./return-early"
import type { Runner } from "./runner"

export type Returning = { session_id: string; agent: string; report: unknown }

export type Returned = { ok: true; text: string } | { ok: false; refusal: Refusal }

const no = (code: PassOverErrorCode, message: string, suggestion?: string): Returned => ({
  ok: false,
  refusal: refuse(code, message, suggestion === undefined ? {} : { suggestion }),
})

const REPAIR = "Correct this and call pass_over_return again; your work is not lost."

/** Takes a child's return: checked, staged, and settled when the step that carries it is over. */
export async function returnFromPassOver(engine: Engine, returning: Returning): Promise<Returned> {
  const runner = engine.running.byChild(returning.session_id)
  if (!runner) return gone(engine, returning.session_id)
  if (returning.agent !== runner.pass.subagent_id) {
    return no(
      PassOverErrorCode.PERMISSION_DENIED,
      `This pass was given to ${runner.pass.subagent_id}, so ${returning.agent} cannot return it.`,
      "Answer the user instead.",
    )
  }
  const { workspace, pass } = runner
  const report = workspace ? inTarget(returning.report, workspace) : returning.report
  const read = readReport(report)
  if (!read.ok) {
    return no(PassOverErrorCode.INVALID_WORK_OUTPUT, `The return is not valid:\n${read.problem}`, REPAIR)
  }
  if (!says(read.report)) {
    return no(
      PassOverErrorCode.INVALID_WORK_OUTPUT,
      "The return says nothing: it has no decision, finding, recommendation, artifact or reason.",
      `Say what you found, or give decision_reason where there was nothing to find. ${REPAIR}`,
    )
  }
  const { validate_output, output_schema } = valuesOf(runner.pass)
  if (validate_output && output_schema) {
    const checked = await conforms(output_schema, returning.report)
    if (!checked.ok) {
      return no(
        PassOverErrorCode.INVALID_WORK_OUTPUT,
        `The user wants returns of ${runner.pass.subagent_id} in a form of their own:\n${checked.problem}`,
        REPAIR,
      )
    }
  }
  const deps = changesOf(engine)
  const target = workspace?.instead_of ?? runner.recorder?.directory ?? pass.directory
  // What earlier steps have made is in its tree alone.
  const at = workspace?.onto ? workspace.directory : target
  const proposed = deps ? await checkProposals(deps, target, read.report, at) : read
  if (!proposed.ok) {
    return no(
      PassOverErrorCode.INVALID_WORK_OUTPUT,
      `What you propose does not fit the files:\n${proposed.problem}`,
      REPAIR,
    )
  }
  // Whatever it calls its tree, to everybody else it is the project.
  const told = workspace ? inProject(proposed.report, workspace) : proposed.report
  return taken(engine, runner, told)
}

/** Where nothing is in its way, a return is the run's before anything is waited for: nothing ends it without it then. */
async function taken(engine: Engine, runner: Runner, report: Report): Promise<Returned> {
  const { pass, run } = runner
  // It may have ended while its return was looked through.
  if (run.phase === "ended") return gone(engine, pass.child_session_id ?? "")
  if (run.phase === "staged") return ALREADY
  const stage = () => writeDown(engine, pass, report)
  const waiting = unfinished(engine, runner, { report, stage })
  if (waiting) return { ok: false, refusal: waiting }
  const staging = stage()
  runner.returned(report, staging)
  const staged = await staging
  if (staged === "already") return ALREADY
  if (staged === "ended") return gone(engine, pass.child_session_id ?? "")
  await callOffBelow(engine, runner)
  return { ok: true, text: `Received. ${pass.originating_agent_id} has it now; your work on this pass is done.` }
}

const ALREADY = no(
  PassOverErrorCode.STALE_REVISION,
  "You have returned already; the first return counts.",
  "Stop here.",
)

const writeDown = (engine: Engine, pass: Pass, report: Report) =>
  engine.store
    .stage({ pass, report, event: event(pass, "pass.staged", engine.clock.now()) })
    .catch((error: unknown) => {
      // The disk may be full. What the child found is worth more than its place on it.
      engine.log("error", "a return could not be staged", { pass_over_id: pass.id, error: String(error) })
      return "unstaged" as const
    })

async function gone(engine: Engine, session_id: string): Promise<Returned> {
  const pass = await engine.store.byChild(session_id)
  if (!pass) {
    const code = PassOverErrorCode.RETURN_CONTEXT_LOST
    const restore = `If a pass ran here, its record is lost. ${ERRORS[code].action}`
    return no(code, "No pass runs in this session.", `Answer the user instead. ${restore}`)
  }
  return no(
    PassOverErrorCode.STALE_REVISION,
    `Pass ${pass.id} has ended already${open(pass.status) ? "" : ` (${pass.status})`}; nothing more is taken for it.`,
    "Answer the user instead.",
  )
}
