import { refusePath } from "../../domain/change/path"
import type { WorkArtifact } from "../../domain/artifact"
import { approvalOf, operations, type ChangeSet, type FileChange } from "../../domain/change/change"
import { below as within } from "../../domain/change/path"
import { readSides } from "../../domain/change/text"
import { event, type Pass } from "../../domain/pass"
import type { Report } from "../../domain/report"
import type { Taken } from "../conclude"
import type { Application } from "../port-change"
import { hashText } from "./apply"
import { whole } from "./blob"
import type { ChangeDeps } from "./deps"
import { proposedFiles } from "./propose"
import { targetOf } from "./target"
import { withRights } from "./write"

/** What was seen of a child's own changes, however it made them. */
export type Observed = {
  origin: "isolated" | "direct"
  files: readonly FileChange[]
  notes: readonly string[]
  /** The directory that it worked in. */
  directory: string
  /** The directory that its changes are for, where that is neither the project nor the one that it worked in. */
  target?: string
  /** Of one that stands on the work of others: the paths that it has changed itself, and all that is different there. */
  own?: readonly string[]
  there?: readonly FileChange[]
  /** Who might read the files of the user's own tree that it has changed. */
  rights?: ReadonlyMap<string, number>
}

const MOST_IN_ARTIFACT = 1_000_000

/** How a note begins that is no news by itself. */
export const LINKED = "linked from the project"

/** A file of a change as an artifact; nothing where it cannot be shown as text or is too large to be carried along. */
async function artifactOf(deps: ChangeDeps, file: FileChange): Promise<WorkArtifact | undefined> {
  if (file.binary || file.old?.mode === "120000" || file.new?.mode === "120000") return
  const side = async (state: FileChange["old"]) =>
    state ? whole(deps, state.hash, MOST_IN_ARTIFACT) : new Uint8Array()
  const [before, after] = await Promise.all([side(file.old), side(file.new)])
  if (!before || !after) return
  const read = readSides([before, after])
  if (!read || read.encoding !== "utf8") return
  const [old_content = "", new_content = ""] = read.texts
  const { path, reason, confidence } = file
  const deleted = file.new === null ? { deleted: true as const } : {}
  return { type: "file_modification", path, old_content, new_content, ...deleted, reason, confidence }
}

/** Files of a change as artifacts, as far as they can be shown. */
export async function exactly(deps: ChangeDeps, files: readonly FileChange[]): Promise<WorkArtifact[]> {
  const all = await Promise.all(files.map((file) => artifactOf(deps, file)))
  return all.flatMap((artifact) => artifact ?? [])
}

/** A file that was both changed and proposed is the changed one: that is what was really tried. */
function together(observed: Pick<Observed, "files" | "own" | "there"> | undefined, said: readonly FileChange[]) {
  const { files = [], there = [] } = observed ?? {}
  const own = observed?.own ?? files.map(({ path }) => path)
  const both = said.filter(({ path }) => own.includes(path)).map(({ path }) => path)
  const notes = both.map((path) => `${path} was changed and proposed too; what was changed counts`)
  // What is proposed of a file that earlier work has changed is proposed of it as the project has it.
  const proposed = said
    .filter(({ path }) => !own.includes(path))
    .map((file) => ({ ...file, ...below(there, file.path) }))
  const named = new Set(proposed.map(({ path }) => path))
  return { files: [...files.filter(({ path }) => !named.has(path)), ...proposed], notes }
}

function below(there: readonly FileChange[], path: string): Partial<FileChange> {
  const known = there.find((file) => file.path === path)
  return known ? { old: known.old, old_path: known.old_path } : {}
}

type Making = Pick<ChangeSet, "directory" | "origin" | "files" | "notes">

export async function save(deps: ChangeDeps, pass: Pass, making: Making): Promise<ChangeSet> {
  const change: ChangeSet = {
    change_id: deps.ids.make("chg"),
    pass_over_id: pass.id,
    from_change_id: null,
    time_created: deps.clock.now(),
    ...making,
  }
  await deps.store.saveChange(change)
  await deps.store.announce(
    event(pass, "pass.changed", change.time_created, {
      change_id: change.change_id,
      origin: change.origin,
      files: change.files.length,
    }),
  )
  return change
}

export const summaryOf = ({ change_id, origin, files, notes }: ChangeSet): NonNullable<Taken["change"]> => ({
  change_id,
  origin,
  files: files.length,
  notes,
})

type Ending = {
  report: Report | undefined
  observed: Observed | undefined
  /** Why these do not apply themselves, where that has to be told. */
  barred?: (files: readonly FileChange[]) => Promise<string | undefined>
}

/** The hashes of the files that a return names one for. Whoever changed such a file has seen it before and after. */
async function hashes(deps: ChangeDeps, pass: Pass, { report, observed }: Ending): Promise<Taken["hashes"]> {
  const roots = [...new Set([observed?.directory ?? pass.directory, pass.directory])]
  const named = (report?.evidence ?? []).flatMap((item) => {
    if (item.type !== "file" || item.hash === undefined) return []
    return roots.map((root) => within(root, item.path)).find((path) => path !== undefined) ?? []
  })
  if (named.length === 0) return
  const known = new Map<string, string[]>()
  for (const { path, old_path, old, new: after } of observed?.files ?? []) {
    if (old) known.set(old_path ?? path, [...(known.get(old_path ?? path) ?? []), old.hash])
    if (after) known.set(path, [...(known.get(path) ?? []), after.hash])
  }
  const tree = await deps.openTree(roots[0] ?? pass.directory).catch(() => undefined)
  try {
    for (const path of new Set(named)) {
      const found = path.split("/").includes("..") ? undefined : await tree?.look(path)
      if (found?.kind === "file") known.set(path, [...(known.get(path) ?? []), found.state.hash])
    }
    return known
  } finally {
    tree?.close()
  }
}

/** Writes down what a pass changed and what it wants changed, when it ends. */
export async function takeChanges(deps: ChangeDeps, pass: Pass, from: Ending): Promise<Taken> {
  const { report, observed } = from
  const direct = observed?.origin === "direct"
  // What a child of one that works in a tree of its own changes, or wants changed, is for that tree.
  const directory = direct ? observed.directory : (observed?.target ?? pass.directory)
  const there = report && (await targetOf(deps.store, pass, directory))
  const proposed = report && there ? await proposedFiles(deps, there.directory, report) : []
  const found = observed?.files ?? []
  const joined = direct ? { files: proposed, notes: [] } : together(observed, proposed)
  const done = direct && found.length > 0 ? await saveDirect(deps, pass, observed) : undefined
  const bar = joined.files.length > 0 ? await from.barred?.(joined.files) : undefined
  const notes = [...(observed?.notes ?? []), ...joined.notes, ...(bar === undefined ? [] : [bar])]
  // Something that was thrown away is told even where nothing is left to decide about.
  const emptied = found.length === 0 && (observed?.own ?? []).length > 0
  if (emptied) notes.push(`it took back what earlier steps had made: ${(observed?.own ?? []).slice(0, 10).join(", ")}`)
  const telling = joined.files.length > 0 || notes.some((note) => !note.startsWith(LINKED))
  const origin = direct || (found.length === 0 && !emptied) ? "proposed" : "isolated"
  const wanted = telling ? await save(deps, pass, { directory, origin, files: joined.files, notes }) : undefined
  const change = wanted ?? done
  const own = observed?.own
  const mine = own ? found.filter(({ path, old_path }) => own.includes(path) || own.includes(old_path ?? path)) : found
  return {
    change: change && summaryOf(change),
    artifacts: observed && (await exactly(deps, mine)),
    changed: mine.map(({ path }) => path),
    hashes: await hashes(deps, pass, from),
    directory: observed?.directory,
  }
}

/** Why an undo could never write a file: it would keep the undo of everything else from being made. */
const unwritable = ({ path, old, new: after }: Pick<FileChange, "path" | "old" | "new">) =>
  old?.mode === "120000" || after?.mode === "120000" ? "it is a link" : refusePath(path)

/** Changes in the user's own tree are there already: they are recorded as applied, so that they can be undone. */
async function saveDirect(deps: ChangeDeps, pass: Pass, observed: Observed) {
  const { directory, files, notes, rights } = observed
  const lasting = files.flatMap(({ path, ...file }) => {
    const why = unwritable({ path, ...file })
    return why === undefined ? [] : [`${JSON.stringify(path)} cannot be taken back here: ${why}`]
  })
  const change = await save(deps, pass, {
    directory,
    origin: "direct",
    files: [...files],
    notes: [...notes, ...lasting],
  })
  const wrote = files.filter((file) => unwritable(file) === undefined).flatMap((file) => operations(file))
  const ops = withRights({ rights: (path) => rights?.get(path) }, wrote)
  const application: Application = {
    apply_id: deps.ids.make("apl"),
    change_id: change.change_id,
    pass_over_id: pass.id,
    kind: "apply",
    undoes: null,
    directory: change.directory,
    ops,
    approval: approvalOf(ops, hashText(deps)),
    actor: pass.subagent_id,
    owner_id: deps.owner_id,
    status: "done",
    problem: null,
    verification: null,
    time_created: change.time_created,
    time_done: change.time_created,
  }
  await deps.store.recordApplied(application)
  return change
}
