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
import { openOutside } from "./cli/engine"
import { userName } from "./identity"
import { runOutside, type Ran } from "./outside"
import type { FileModificationArtifact, WorkArtifact } from "./pass-over/domain/artifact"
import type { WorkContext } from "./pass-over/domain/context"
import { PassOverError, PassOverErrorCode, toError, type Refusal } from "./pass-over/domain/errors"
import { MOST_GIVEN } from "./pass-over/domain/given"
import { PassID } from "./pass-over/domain/id"
import type { WorkOutput } from "./pass-over/domain/output"
import type { InlineOverride } from "./pass-over/domain/preference"
import { findingLine, readReport, type Report } from "./pass-over/domain/report"
import { StartAsk } from "./pass-over/domain/start"
import { applyAndVerify, changeOf, preview, review } from "./pass-over/service/change/act"
import { changesOf } from "./pass-over/service/change/deps"
import { order } from "./pass-over/service/command"
import type { Engine } from "./pass-over/service/engine"

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

const thrown = (refusal: Pick<Refusal, "code" | "message" | "suggestion">) => toError({ detail: {}, ...refusal })

async function outside<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const opened = openOutside()
  if (!opened.ok) throw new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, opened.problem)
  try {
    return await work(opened.engine)
  } finally {
    opened.engine.store.close()
  }
}

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

// Which pass an artifact came back from and with which content, so that a script can hand over those that it likes.
const came = new WeakMap<WorkArtifact, { id: PassID; content: string | undefined }>()

const contentOf = (artifact: WorkArtifact) => (artifact.type === "file_modification" ? artifact.new_content : undefined)

function outcomeOf({ order: { start_id, refusal }, pass, outcome }: Ran): WorkOutput {
  if (refusal) throw thrown({ ...refusal, code: refusal.code as PassOverErrorCode })
  if (!pass) throw new PassOverError(PassOverErrorCode.RETURN_TIMEOUT, `The order ${start_id} is not taken up yet.`)
  if (!outcome) {
    throw new PassOverError(PassOverErrorCode.SUBAGENT_CRASHED, `The opencode that ran pass ${pass.id} is gone.`, {
      suggestedAction: "It is settled when opencode opens the project again; pass-over show tells how it ended.",
    })
  }
  for (const artifact of outcome.output.artifacts) came.set(artifact, { id: pass.id, content: contentOf(artifact) })
  return outcome.output
}

/** The guide's entry (5.1): hands work over and comes back with its one outcome. */
export async function passOver(options: PassOverOptions): Promise<WorkOutput> {
  const { session_id, directory = process.cwd() } = options.work_context
  const ask = askOf(options)
  return outside(async (engine) => {
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
  const done = await outside((engine) =>
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

const wrong = (message: string, suggestedAction: string) =>
  new PassOverError(PassOverErrorCode.CONFIG_INVALID, `${message} Nothing was written.`, { suggestedAction })

/** The one pass that all of them came from. Of several nothing could be written together, or not at all. */
function originOf(files: readonly FileModificationArtifact[], work_id: string | undefined): PassID | undefined {
  const named = work_id === undefined ? undefined : PassID.safeParse(work_id)
  if (named && !named.success) throw wrong(`"${work_id}" is no id of a pass.`, "Give the work_id of an outcome.")
  const known = files.flatMap((file) => came.get(file) ?? [])
  const ids = new Set([...(named ? [named.data] : []), ...known.map(({ id }) => id)])
  if (ids.size > 1) {
    throw wrong(
      `These artifacts are of ${ids.size} passes: ${[...ids].join(", ")}.`,
      "Apply those of each by themselves.",
    )
  }
  if (!named && known.length > 0 && known.length < files.length) {
    throw wrong(
      `Of ${files.length - known.length} of these artifacts it is not known which pass they came from.`,
      "Hand over the artifacts that passOver gave, or name the pass with work_id.",
    )
  }
  const other = files.find((file) => came.has(file) && came.get(file)?.content !== file.new_content)
  if (other) {
    throw wrong(
      `The new content of ${other.path} is another than the one that came back.`,
      "Apply it as it came back, or write the file yourself.",
    )
  }
  return [...ids][0]
}

/**
 * §11.1: applies what came back from one pass, all of it or nothing, and comes back with the paths that were written. Of
 * a file that is left out of `artifacts` nothing is written. Artifacts that did not come from `passOver` here need their
 * `work_id`.
 */
export async function applyArtifacts(
  artifacts: readonly WorkArtifact[],
  from: { work_id?: string } = {},
): Promise<string[]> {
  const files = artifacts.filter((artifact) => artifact.type === "file_modification")
  if (files.length === 0) return []
  const id = originOf(files, from.work_id)
  const actor = userName() ?? "script"
  return outside(async (engine) => {
    const deps = changesOf(engine)
    const pass = id && (await engine.store.find(id))
    if (!deps || !pass) throw new PassOverError(PassOverErrorCode.NOT_FOUND, "No pass is known that these came from.")
    const found = await changeOf(deps, pass)
    if (!found.ok) throw thrown(found.refusal)
    const { change } = found
    const wanted = new Set(files.map(({ path }) => path))
    const verdicts = change.files.map(({ path }) => ({ path, hunk: null, accepted: wanted.has(path), reason: null }))
    const stray = await review(deps, { pass, change, verdicts, actor })
    if (stray) throw thrown(stray)
    const planned = await preview(deps, change)
    if (!planned.ok) throw thrown(planned.refusal)
    const applied = await applyAndVerify(deps, { pass, change, actor, approval: planned.planned.approval })
    if (!applied.ok) throw thrown(applied.refusal)
    return applied.application.ops.map(({ path }) => path)
  })
}
