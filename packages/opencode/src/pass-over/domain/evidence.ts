import { place, type FindingArtifact, type WorkArtifact } from "./artifact"
import { lookFor, type Deed, type Seen } from "./evidence-seen"
import type { Evidence, OutputVerdict } from "./evidence-schema"
import type { ContextMessage } from "./context"
import type { ReviewDecision } from "./output"
import type { ExpectedOutputType } from "./request"

type Unresolved = OutputVerdict["unresolved"][number]

export type Claims = {
  evidence: readonly Evidence[]
  status: "completed" | "partial" | "failed" | "aborted"
  decision: ReviewDecision | undefined
  decision_reason: string | undefined
  recommendations: readonly string[]
  /** What the child says, as opposed to what it was seen doing. */
  said: readonly WorkArtifact[]
  expected: ExpectedOutputType
}

export type Witness = {
  messages: readonly ContextMessage[]
  /** Those of them that are of the work in question, where the session is older than it. */
  own?: readonly ContextMessage[]
  /** The directories in which the child's paths may be written: its own, and that of the project. */
  roots: readonly string[]
  /** Paths that it was seen to have changed. */
  changed: readonly string[]
  /** Hashes that a file really had while the child worked: as it is now, and before and after the child's own change. */
  hashes?: ReadonlyMap<string, readonly string[]> | undefined
}

export function describeEvidence(item: Evidence): string {
  switch (item.type) {
    case "file":
      return `file ${item.path}${item.line ? `:${item.line}${item.end_line ? `-${item.end_line}` : ""}` : ""}`
    case "tool":
      return `tool call ${[item.tool, item.call_id].filter(Boolean).join(" ") || "(unnamed)"}`
    case "command":
      return `command ${JSON.stringify(item.command)} with exit code ${item.exit_code}`
    case "artifact":
      return `artifact ${item.ref}`
    case "url":
      return `url ${item.url}`
  }
}

function file(item: Extract<Evidence, { type: "file" }>, seen: Seen, witness: Witness): string | undefined {
  const path = seen.path(item.path)
  if (path === undefined) return "it lies outside of the project"
  if (!seen.files.has(path)) return "this file was never read"
  const { line, end_line = line } = item
  if (line !== undefined && end_line !== undefined) {
    if (end_line < line) return "its last line comes before its first"
    if (!seen.shows(path, line) || !seen.shows(path, end_line)) return "no such line was seen"
  }
  const { hash } = item
  if (hash === undefined) return
  const known = [...(witness.hashes?.get(path) ?? []), ...(seen.sums.get(path) ?? [])]
  return known.some((one) => one.startsWith(hash)) ? undefined : "the file has another hash"
}

function tool({ call_id, tool }: Extract<Evidence, { type: "tool" }>, { deeds }: Seen): string | undefined {
  if (call_id === undefined && tool === undefined) return "it names no call"
  const named = deeds.filter(
    (deed) => (call_id === undefined || deed.call_id === call_id) && (tool === undefined || deed.tool === tool),
  )
  if (named.length === 0) return "no such call was made"
  return named.some((deed) => deed.ok) ? undefined : "that call failed"
}

const REF = (text: string) => text.trim().toLowerCase()

function artifact(ref: string, said: readonly WorkArtifact[], seen: Seen): string | undefined {
  const path = seen.path(ref)
  const known = said.some((one) => {
    if (one.type === "file_modification") return seen.path(one.path) === path
    if (one.type === "decision") return REF(one.id) === REF(ref) || REF(one.question) === REF(ref)
    return false
  })
  if (known || (path !== undefined && seen.changed.has(path))) return
  return "no such artifact came back"
}

const bare = (url: string) => url.trim().replace(/#.*$/, "").replace(/\/+$/, "")

function check(item: Evidence, seen: Seen, claims: Claims, witness: Witness): string | undefined {
  switch (item.type) {
    case "file":
      return file(item, seen, witness)
    case "tool":
      return tool(item, seen)
    case "command":
      return seen.ran(item.command, item.exit_code)
    case "artifact":
      return artifact(item.ref, claims.said, seen)
    case "url":
      return seen.deeds.some((deed: Deed) => deed.ok && deed.url !== undefined && bare(deed.url) === bare(item.url))
        ? undefined
        : "this address was never fetched"
  }
}

const finding = ({ location }: FindingArtifact): Evidence[] =>
  location ? [{ type: "file", path: location.path, ...(location.line ? { line: location.line } : {}) }] : []

const EXPECTS = {
  decision: ({ decision, said }) =>
    decision !== undefined || said.some(({ type }) => type === "decision") ? undefined : "no decision came back",
  artifacts: ({ said }, seen) => (said.length > 0 || seen.changed.size > 0 ? undefined : "no artifact came back"),
  report: ({ said, recommendations, decision_reason }) =>
    said.length > 0 || recommendations.length > 0 || decision_reason ? undefined : "no report came back",
  mixed: () => undefined,
} as const satisfies Record<ExpectedOutputType, (claims: Claims, seen: Seen) => string | undefined>

function holes(claims: Claims, seen: Seen, witness: Witness): { checked: number; unresolved: Unresolved[] } {
  const findings = claims.said.filter((one) => one.type === "finding")
  const pointers = [
    ...claims.evidence.map((item) => ({ item, claim: describeEvidence(item) })),
    ...findings.flatMap((one) => finding(one).map((item) => ({ item, claim: `finding at ${place(one.location)}` }))),
  ]
  const unresolved = pointers.flatMap(({ item, claim }) => {
    const why = check(item, seen, claims, witness)
    return why === undefined ? [] : [{ claim, why }]
  })
  const missing = EXPECTS[claims.expected](claims, seen)
  return {
    checked: pointers.length,
    unresolved:
      missing === undefined ? unresolved : [...unresolved, { claim: `expected: ${claims.expected}`, why: missing }],
  }
}

// What was done for an earlier pass may be pointed to, but it is not this work.
const worked = (witness: Witness, seen: Seen) =>
  (witness.own ? lookFor({ ...witness, messages: witness.own }) : seen).deeds.length > 0

/** Whether what a child claims is borne out by what it did. A list of its own artifacts alone proves nothing. */
export function judge(claims: Claims, witness: Witness): OutputVerdict {
  const seen = lookFor(witness)
  const { checked, unresolved } = holes(claims, seen, witness)
  const blocked = claims.decision === "blocked" || claims.status === "failed" || claims.status === "aborted"
  if (blocked) return { status: "BLOCKED", checked, unresolved }
  const none: Unresolved[] = !worked(witness, seen)
    ? [{ claim: "the work itself", why: "not a single tool call was made" }]
    : claims.evidence.every((item) => item.type === "artifact")
      ? [{ claim: "evidence", why: "it points to nothing that it did" }]
      : []
  const all = [...unresolved, ...none]
  const verified = all.length === 0 && claims.status === "completed"
  return { status: verified ? "VERIFIED" : "UNVERIFIED", checked, unresolved: all }
}
