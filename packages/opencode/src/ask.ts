import { existsSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { isPlainObject } from "remeda"
import { WorkContext } from "./pass-over/domain/context"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"
import { MOST_GIVEN } from "./pass-over/domain/given"
import { nearest } from "./pass-over/domain/nearest"
import type { InlineOverride } from "./pass-over/domain/preference"
import type { ExpectedOutputType, Priority } from "./pass-over/domain/request"
import { StartAsk } from "./pass-over/domain/start"

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
  priority?: Priority
  timeout_ms?: number
  expected_output_type?: ExpectedOutputType
  auto_apply_on_success?: boolean
  signal?: AbortSignal
}

const tooMuch = (message: string) =>
  new PassOverError(PassOverErrorCode.CONTEXT_OVERFLOW, message, {
    suggestedAction: "Send less of it (HistorySelector.select chooses), or name the session that it is from.",
  })

const BACKGROUND = 20_000

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

const unusable = (message: string) =>
  new PassOverError(PassOverErrorCode.CONFIG_INVALID, `passOver ${message}`, {
    suggestedAction: "Correct the call; docs/library.md shows one.",
  })

const OPTIONS = [
  "subagent",
  "work_context",
  "reason",
  "return_required",
  "override",
  "from",
  "model",
  "constraints",
  "priority",
  "timeout_ms",
  "expected_output_type",
  "auto_apply_on_success",
  "signal",
] as const satisfies readonly (keyof PassOverOptions)[]

const CONTEXT = Object.keys(WorkContext.shape)

/** What a request of §2.1 calls otherwise. */
const ALSO: Record<string, string> = { subagent_id: "subagent", originating_agent_id: "from" }

function meant(name: string, names: readonly string[]): string {
  const near = ALSO[name] ?? nearest(name, names)
  return near === undefined ? `; it takes ${names.join(", ")}.` : `; did you mean ${near}?`
}

/** What nobody would look at is told: a wish that is dropped in silence is worse than none. */
export function allKnown({ work_context, ...options }: PassOverOptions) {
  const stray = Object.keys(options).find((name) => !OPTIONS.some((one) => one === name))
  if (stray !== undefined && CONTEXT.includes(stray)) throw unusable(`takes ${stray} in work_context.`)
  if (stray !== undefined) throw unusable(`takes no ${stray}${meant(stray, OPTIONS)}`)
  if (!isPlainObject(work_context)) throw unusable("needs a work_context with an objective.")
  const other = Object.keys(work_context).find((name) => !CONTEXT.includes(name))
  if (other !== undefined) throw unusable(`takes no work_context.${other}${meant(other, CONTEXT)}`)
}

export type Place = {
  /** The folder that the script names, or works in. */
  folder: string
  /** The top of its project. */
  top: string
}

/** A path as the project calls it, where a script calls it from a folder in it. */
function named(path: string, { folder, top }: Place): string {
  const here = join(folder, path)
  return folder === top || isAbsolute(path) || !existsSync(here) ? path : relative(top, here)
}

/** What a script asks for, as an order is written down; what of it cannot be meant is thrown. */
export function askOf(options: PassOverOptions, place: Place): StartAsk {
  const { work_context, from, signal: _signal, ...rest } = options
  const files = work_context.files?.map((file) => ({ ...file, path: named(file.path, place) }))
  const parsed = StartAsk.safeParse({
    ...rest,
    objective: work_context.objective,
    ...(from === undefined ? {} : { from }),
    background: backgroundOf(work_context),
    files: files?.map(({ path }) => path),
    given: givenBy({ ...work_context, ...(files ? { files } : {}) }),
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const [first, ...way] = issue?.path ?? []
  const what = (first === "given" ? ["work_context", ...way] : [first, ...way]).join(".")
  throw unusable(`cannot use ${what || "this"}: ${issue?.message ?? "it is not right"}.`)
}
