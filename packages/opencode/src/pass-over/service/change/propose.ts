import { isRedacted } from "../../domain/secret"
import type { FileChange, FileState } from "../../domain/change/change"
import { below, refusePath } from "../../domain/change/path"
import { propose, type Wish } from "../../domain/change/propose"
import { isBinary, writeText } from "../../domain/change/text"
import type { Report } from "../../domain/report"
import type { Found, Tree } from "../port-tree"
import { joined, keep, type Content } from "./blob"
import type { ChangeDeps } from "./deps"

type Reported = Report["artifacts"][number]
type Modification = Extract<Reported, { type: "file_modification" }>

// Who proposes to change more than this by its words alone should use its tools.
const MOST_BYTES = 4 * 1024 * 1024

export type Checked = { ok: true; report: Report } | { ok: false; problem: string }

/** A file as it really is, and as the proposals so far would leave it. */
type Draft = { real: string | null; now: string | null; reasons: string[]; confidence: Modification["confidence"] }

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

async function readReal(tree: Tree, path: string): Promise<{ text: string | null } | { problem: string }> {
  const found = await tree.look(path)
  if (found.kind === "refused") return { problem: found.why }
  if (found.kind === "none") return { text: null }
  if (found.state.bytes > MOST_BYTES)
    return { problem: "it is too large to be proposed in words; change it with tools" }
  const pieces: Uint8Array[] = []
  for await (const piece of tree.pieces(path)) pieces.push(piece)
  const bytes = joined(pieces, found.state.bytes)
  if (isBinary(bytes)) return { problem: "it is a binary file" }
  try {
    return { text: strict.decode(bytes) }
  } catch {
    return { problem: "it is not UTF-8; change it with tools" }
  }
}

type Wanted = Wish & { reason: string; confidence: Modification["confidence"]; what: string }

function wishes(report: Report): Wanted[] {
  const fixes = report.findings.flatMap((item, index): Wanted[] => {
    if (typeof item === "string" || item.replaces === undefined || item.suggested_fix === undefined) return []
    if (item.path === undefined) return []
    const edits = [{ old_string: item.replaces, new_string: item.suggested_fix }]
    return [{ path: item.path, edits, reason: item.message, confidence: "medium", what: `findings[${index}]` }]
  })
  const given = report.artifacts.flatMap((artifact, index): Wanted[] =>
    artifact.type === "file_modification" ? [{ ...artifact, what: `artifacts[${index}]` }] : [],
  )
  return [...given, ...fixes]
}

async function draftAll(tree: Tree, directory: string, all: readonly Wanted[]) {
  const drafts = new Map<string, Draft>()
  const problems: string[] = []
  for (const wish of all) {
    const path = below(directory, wish.path)
    const bad = path === undefined ? "it lies outside of the project" : refusePath(path)
    const known = path === undefined ? undefined : drafts.get(path)
    const read = path === undefined || bad !== undefined || known ? undefined : await readReal(tree, path)
    if (path === undefined || bad !== undefined || (read && "problem" in read)) {
      problems.push(`${wish.what} (${wish.path}): ${bad ?? (read && "problem" in read ? read.problem : "")}`)
      continue
    }
    const draft = known ?? {
      real: read?.text ?? null,
      now: read?.text ?? null,
      reasons: [],
      confidence: wish.confidence,
    }
    const proposed = propose(draft.now, known ? { ...wish, old_content: undefined } : wish)
    if (!proposed.ok) {
      problems.push(`${wish.what} (${wish.path}): ${proposed.problem}`)
      continue
    }
    drafts.set(path, { ...draft, now: proposed.text, reasons: [...draft.reasons, wish.reason].filter(Boolean) })
  }
  return { drafts, problems }
}

const exact = ([path, { real, now, reasons, confidence }]: [string, Draft]): Modification => ({
  type: "file_modification",
  path,
  old_content: real ?? "",
  new_content: now ?? "",
  ...(now === null ? { deleted: true as const } : {}),
  reason: reasons.join("; "),
  confidence,
})

/**
 * Checks what a return proposes against the files as they really are, and puts exact contents in the place of edits.
 * Nothing is written; what does not fit goes back to the child with the reason. `at` is where the files lie, where they
 * are called as if they lay elsewhere.
 */
export async function checkProposals(
  deps: ChangeDeps,
  directory: string,
  report: Report,
  at = directory,
): Promise<Checked> {
  const all = wishes(report)
  if (all.length === 0) return { ok: true, report }
  const tree = await deps.openTree(at).catch(() => undefined)
  if (!tree) return { ok: true, report }
  try {
    const { drafts, problems } = await draftAll(tree, directory, all)
    if (problems.length > 0) return { ok: false, problem: problems.join("\n") }
    const artifacts: Reported[] = report.artifacts.filter((artifact) => artifact.type !== "file_modification")
    return { ok: true, report: { ...report, artifacts: [...artifacts, ...[...drafts].map(exact)] } }
  } finally {
    tree.close()
  }
}

const stateAt = (found: Found | undefined): FileState | null => (found?.kind === "file" ? found.state : null)

/**
 * A mark in the place of a secret, from a context or a report that went through the store: written into a file it would
 * destroy what it stands for. Where the old content has one too, the file is another than that, and is not applied to.
 */
const masked = (old_content: string, new_content: string) =>
  isRedacted(new_content) && !isRedacted(old_content)
    ? 'it has a mark like "[redacted:token]" in the place of a secret; an edit that leaves that line alone can be applied'
    : undefined

/** The proposals of a checked return as files of a change, with their contents kept. */
export async function proposedFiles(deps: ChangeDeps, directory: string, report: Report): Promise<FileChange[]> {
  const given = report.artifacts.filter((artifact) => artifact.type === "file_modification")
  if (given.length === 0) return []
  const tree = await deps.openTree(directory).catch(() => undefined)
  try {
    const files: FileChange[] = []
    const contents: Content[] = []
    for (const { path, old_content = "", new_content = "", deleted, reason, confidence } of given) {
      const bad = refusePath(path) ?? masked(old_content, new_content)
      const there = bad === undefined ? stateAt(await tree?.look(path)) : null
      const [before, after] = [writeText(old_content, "utf8"), writeText(new_content, "utf8")]
      const mode = there?.mode ?? "100644"
      const side = (bytes: Uint8Array): FileState => ({ hash: deps.sha(bytes), mode, bytes: bytes.length })
      const isNew = old_content === "" && there?.bytes !== 0
      const [was, becomes] = [side(before), side(after)]
      contents.push({ hash: was.hash, content: before }, { hash: becomes.hash, content: after })
      files.push({
        path,
        old_path: null,
        old: isNew ? null : was,
        new: deleted ? null : becomes,
        binary: isBinary(before) || isBinary(after),
        reason,
        confidence,
        refused: bad ?? null,
      })
    }
    await keep(deps, contents)
    return files
  } finally {
    tree?.close()
  }
}
