import { normalize } from "node:path"
import { userName } from "./identity"
import { forPerson, inStore, thrown } from "./library"
import type { FileModificationArtifact, WorkArtifact } from "./pass-over/domain/artifact"
import type { ChangeSet, FileChange } from "./pass-over/domain/change/change"
import { below } from "./pass-over/domain/change/path"
import { readSides, writeText } from "./pass-over/domain/change/text"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"
import { PassID } from "./pass-over/domain/id"
import type { WorkOutput } from "./pass-over/domain/output"
import { isRedacted, redact } from "./pass-over/domain/secret"
import { applyAndVerify, changeOf, preview, review } from "./pass-over/service/change/act"
import { whole } from "./pass-over/service/change/blob"
import { changesOf, type ChangeDeps } from "./pass-over/service/change/deps"

// Which pass an artifact came back from, so that a script can hand over those that it likes.
const came = new WeakMap<WorkArtifact, PassID>()

/** Remembers where the artifacts of an outcome came from. */
export function remember({ artifacts }: Pick<WorkOutput, "artifacts">, id: PassID) {
  for (const artifact of artifacts) came.set(artifact, id)
}

const wrong = (message: string, suggestedAction: string) =>
  new PassOverError(PassOverErrorCode.CONFIG_INVALID, `${message} Nothing was written.`, { suggestedAction })

/** The one pass that all of them came from. Of several nothing could be written together, or not at all. */
function originOf(files: readonly FileModificationArtifact[], work_id: string | undefined): PassID | undefined {
  const named = work_id === undefined ? undefined : PassID.safeParse(work_id)
  if (named && !named.success) throw wrong(`"${work_id}" is no id of a pass.`, "Give the work_id of an outcome.")
  const known = files.flatMap((file) => came.get(file) ?? [])
  const ids = new Set([...(named ? [named.data] : []), ...known])
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
  return [...ids][0]
}

/** Whether an artifact wants of a file what its change would write. */
async function agrees(deps: ChangeDeps, { new: after }: FileChange, artifact: FileModificationArtifact) {
  if (after === null || artifact.deleted) return after === null && artifact.deleted === true
  if (deps.sha(writeText(artifact.new_content, "utf8")) === after.hash) return true
  // Secrets are taken out of what comes back, and of nothing that is written.
  if (!isRedacted(artifact.new_content)) return false
  const [text = ""] = readSides([(await whole(deps, after.hash)) ?? null])?.texts ?? []
  return redact(text).text === artifact.new_content
}

type Came = { change: ChangeSet; output: WorkOutput | undefined }

function fileOf({ files, directory }: ChangeSet, artifact: FileModificationArtifact): FileChange {
  const path = below(directory, normalize(artifact.path))
  const file = files.find((one) => one.path === path)
  if (file) return file
  const known = files.slice(0, 20).map((one) => one.path)
  throw wrong(
    `The pass wants no file ${JSON.stringify(artifact.path)} changed.`,
    `Hand over artifacts as they came back; its files are: ${known.join(", ")}.`,
  )
}

/** The paths that these artifacts want written, where each is as it came back. */
async function wantedOf(deps: ChangeDeps, { change, output }: Came, given: readonly FileModificationArtifact[]) {
  const each = given.map((artifact) => ({ artifact, file: fileOf(change, artifact) }))
  const fits = await Promise.all(each.map(({ artifact, file }) => agrees(deps, file, artifact)))
  const wanted = new Set(each.filter((_, at) => fits[at]).map(({ file }) => file.path))
  // Of a file that was both proposed and changed two came back, and what was really changed counts.
  const passedOver = ({ artifact, file }: (typeof each)[number]) =>
    wanted.has(file.path) &&
    (output?.artifacts ?? []).some(
      (one) =>
        one.type === "file_modification" && one.path === artifact.path && one.new_content === artifact.new_content,
    )
  const other = each.find((one, at) => !fits[at] && !passedOver(one))
  if (!other) return wanted
  throw wrong(
    `The new content of ${other.file.path} is another than the one that came back.`,
    "Apply it as it came back, or write the file yourself.",
  )
}

/**
 * §11.1: applies what came back from one pass, all of it or nothing, and comes back with the paths that were written. Of
 * a file that is left out of `artifacts` nothing is written. Artifacts that did not come from `passOver` here need their
 * `work_id`. Nothing is written, or decided, where one of them is not as it came back.
 */
export async function applyArtifacts(
  artifacts: readonly WorkArtifact[],
  from: { work_id?: string } = {},
): Promise<string[]> {
  forPerson("applyArtifacts")
  const files = artifacts.filter((artifact) => artifact.type === "file_modification")
  if (files.length === 0) return []
  const id = originOf(files, from.work_id)
  const actor = userName() ?? "script"
  return inStore(async (engine) => {
    const deps = changesOf(engine)
    const pass = id && (await engine.store.find(id))
    if (!deps || !pass) throw new PassOverError(PassOverErrorCode.NOT_FOUND, "No pass is known that these came from.")
    const found = await changeOf(deps, pass)
    if (!found.ok) throw thrown(found.refusal)
    const { change } = found
    const outcome = await engine.store.outcome(pass.id)
    const wanted = await wantedOf(deps, { change, output: outcome?.output }, files)
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
