/**
 * Passes from scripts and other plugins, the guide's phase 5 and the architecture's §11.1:
 *
 *     import { applyArtifacts, passOver } from "opencode-pass-over"
 *
 *     const result = await passOver({
 *       subagent: "audit",
 *       work_context: { objective: "Review the last commit", files: [{ path: "src/total.ts" }] },
 *       reason: "code_review",
 *       override: { timeout_ms: 90_000 },
 *     })
 *     if (result.summary.decision === "approved") await applyArtifacts(result.artifacts)
 *
 * The pass runs in an opencode that has the project open; where none has, one is started for it and goes again. Who
 * calls this is the user, so that an override has no limits. What is refused is thrown as a PassOverError.
 */
import { remember } from "./apply"
import { allKnown, askOf, type PassOverOptions } from "./ask"
import { projectRoot } from "./cli/place"
import { folderOf } from "./folder"
import { userName } from "./identity"
import { forPerson, inStore, thrown } from "./library"
import { runOutside, type Ran } from "./outside"
import type { WorkArtifact } from "./pass-over/domain/artifact"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"
import { PassID } from "./pass-over/domain/id"
import type { WorkOutput } from "./pass-over/domain/output"
import { findingLine, readReport, type Report } from "./pass-over/domain/report"
import { order } from "./pass-over/service/command"

export { applyArtifacts } from "./apply"
export type { PassOverOptions, WorkArtifact, WorkOutput }
export type { WorkContext } from "./pass-over/domain/context"

const PATIENCE_MS = 5_000

function outcomeOf({ order: { start_id, refusal }, pass, outcome }: Ran): WorkOutput {
  if (refusal) throw thrown({ ...refusal, code: refusal.code as PassOverErrorCode })
  if (!pass) throw new PassOverError(PassOverErrorCode.RETURN_TIMEOUT, `The order ${start_id} is not taken up yet.`)
  if (!outcome) {
    throw new PassOverError(PassOverErrorCode.SUBAGENT_CRASHED, `The opencode that ran pass ${pass.id} is gone.`, {
      suggestedAction: "It is settled when opencode opens the project again; pass-over show tells how it ended.",
    })
  }
  remember(outcome.output, pass.id)
  return outcome.output
}

/** The guide's entry (5.1): hands work over and comes back with its one outcome. */
export async function passOver(options: PassOverOptions): Promise<WorkOutput> {
  allKnown(options)
  forPerson("passOver")
  const { session_id, directory = process.cwd() } = options.work_context
  const folder = folderOf(directory)
  // Whoever has the project open has it open at its top, wherever in it a script works.
  const top = projectRoot(folder)
  const ask = askOf(options, { folder, top })
  return inStore(async (engine) => {
    const starting = { directory: top, session_id, ask, actor: userName() ?? "script" }
    return outcomeOf(await runOutside(engine, starting, { signal: options.signal }))
  })
}

type Returned = Pick<WorkOutput, "status"> & {
  /** The pass; for a command that its child runs it stands in `PASS_OVER_ID`. */
  work_id?: string | undefined
  artifacts?: readonly WorkArtifact[]
  summary?: Partial<WorkOutput["summary"]>
  auto_apply_allowed?: boolean
}

/** What a return may hold: tool results are what a child was seen doing, and not for it to say. */
function reportOf({ status, artifacts = [], summary = {}, auto_apply_allowed = false }: Returned): unknown {
  // The summary of an outcome tells its artifacts once more; what only it tells is a finding of its own.
  const told = new Set(artifacts.flatMap((one) => (one.type === "finding" ? [one.message, findingLine(one)] : [])))
  return {
    status,
    decision: summary.decision,
    decision_reason: summary.decision_reason,
    recommendations: summary.recommendations,
    evidence: summary.evidence,
    auto_apply_allowed,
    findings: (summary.findings ?? []).filter((line) => !told.has(line)),
    artifacts: artifacts.filter(({ type }) => type !== "tool_result"),
  }
}

/** The guide's entry (5.2): returns a running pass in its child's place, with `work_id` naming the pass. */
export async function returnFromPassOver(output: Returned): Promise<void> {
  if (output.status === "aborted") {
    throw new PassOverError(
      PassOverErrorCode.INVALID_WORK_OUTPUT,
      "A return cannot say that its pass was aborted: that is what becomes of a pass that somebody stops.",
      { suggestedAction: "Return it as failed with a decision_reason, or stop it with pass-over cancel." },
    )
  }
  const read: { ok: true; report: Report } | { ok: false; problem: string } = readReport(reportOf(output))
  if (!read.ok) throw new PassOverError(PassOverErrorCode.INVALID_WORK_OUTPUT, read.problem)
  const id = PassID.safeParse(output.work_id ?? process.env.PASS_OVER_ID)
  if (!id.success) throw new PassOverError(PassOverErrorCode.NOT_FOUND, "It is not known which pass this returns.")
  const done = await inStore((engine) =>
    order(engine, {
      pass_over_id: id.data,
      kind: "return",
      text: JSON.stringify(reportOf(output)),
      actor: userName() ?? "script",
      patience_ms: PATIENCE_MS,
    }),
  )
  if (!done.ok) throw thrown(done.refusal)
  if (done.command_id === undefined) return
  throw new PassOverError(
    PassOverErrorCode.RETURN_TIMEOUT,
    "The opencode that runs this pass has not taken the return yet; it does so at its next chance.",
  )
}
