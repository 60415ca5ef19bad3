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
import { userName } from "./identity"
import { inStore, thrown } from "./library"
import { runOutside, type Ran } from "./outside"
import type { WorkArtifact } from "./pass-over/domain/artifact"
import type { WorkContext } from "./pass-over/domain/context"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"
import { MOST_GIVEN } from "./pass-over/domain/given"
import { PassID } from "./pass-over/domain/id"
import type { WorkOutput } from "./pass-over/domain/output"
import type { InlineOverride } from "./pass-over/domain/preference"
import { findingLine, readReport, type Report } from "./pass-over/domain/report"
import { StartAsk } from "./pass-over/domain/start"
import { order } from "./pass-over/service/command"

export { applyArtifacts } from "./apply"
export type { WorkArtifact, WorkContext, WorkOutput }

export type PassOverOptions = {
  subagent: string
  /** What is to be done, and what goes along. The working directory is the project where none is named. */
  work_context: Pick<WorkContext, "objective"> & Partial<WorkContext>
  reason: string
  /** Whether the result is also brought into the session that the context names. */
  return_required?: boolean
  override?: InlineOverride
  /** The originator, whose preferences and rights hold; alice where none is named. */
  from?: string
  model?: string
  constraints?: string[]
  signal?: AbortSignal
}

const PATIENCE_MS = 5_000
const BACKGROUND = 20_000

const tooMuch = (message: string) =>
  new PassOverError(PassOverErrorCode.CONTEXT_OVERFLOW, message, {
    suggestedAction: "Send less of it (HistorySelector.select chooses), or name the session that it is from.",
  })

/** What a script has of its own goes along as data, chosen from as a session is. Of one that is named opencode knows it. */
function givenBy({ files = [], messages, tool_results, todos, errors }: PassOverOptions["work_context"]) {
  const read = files.filter(({ content }) => content !== undefined).map(({ given: _given, ...file }) => file)
  const given = { files: read, messages, tool_results, todos, errors }
  const some = Object.entries(given).filter(([, list]) => (list ?? []).length > 0)
  if (some.length === 0) return undefined
  const { length } = JSON.stringify(given)
  if (length <= MOST_GIVEN) return Object.fromEntries(some)
  throw tooMuch(`The context has ${length} characters with its files; no more than ${MOST_GIVEN} can be chosen from.`)
}

function backgroundOf({ background = "" }: PassOverOptions["work_context"]) {
  if (background.length <= BACKGROUND) return background.trim() === "" ? undefined : background
  throw tooMuch(`The background has ${background.length} characters; ${BACKGROUND} go along.`)
}

function askOf({ subagent, work_context, reason, from, model, constraints, ...rest }: PassOverOptions): StartAsk {
  const parsed = StartAsk.safeParse({
    subagent,
    objective: work_context.objective,
    reason,
    ...(from === undefined ? {} : { from }),
    background: backgroundOf(work_context),
    files: work_context.files?.map(({ path }) => path),
    given: givenBy(work_context),
    model,
    constraints,
    return_required: rest.return_required,
    override: rest.override,
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const [first, ...place] = issue?.path ?? []
  const what = (first === "given" ? ["work_context", ...place] : [first, ...place]).join(".")
  throw new PassOverError(
    PassOverErrorCode.CONFIG_INVALID,
    `passOver cannot use ${what || "this"}: ${issue?.message ?? "it is not right"}.`,
    { suggestedAction: "Correct the call; docs/library.md shows one." },
  )
}

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
  const { session_id, directory = process.cwd() } = options.work_context
  const ask = askOf(options)
  return inStore(async (engine) => {
    const starting = { directory, session_id, ask, actor: userName() ?? "script" }
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
