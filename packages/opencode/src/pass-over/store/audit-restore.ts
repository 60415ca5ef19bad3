import { z } from "zod"
import { WorkArtifact } from "../domain/artifact"
import { follow, intact } from "../domain/audit-chain"
import type { AuditLine } from "../domain/audit-log"
import { PassOverErrorCode } from "../domain/errors"
import { PassOverMetadata, WorkOutput } from "../domain/output"
import { Pass } from "../domain/pass"
import { ReturnStatus } from "../domain/return-context"
import type { Fault, Restored } from "../service/port-audit"
import { arrivalOf, Sent } from "./audit-delivery"
import { logFiles } from "./audit-folder"
import { anchorOf, linesOf, readLog, type AuditPlace } from "./audit-read"
import { AUDIT_COLUMNS, AUDIT_NAMES, writeLine } from "./audit-row"
import { readSummary } from "./audit-summary"
import { sha256 } from "./record"
import { storable } from "./row"
import type { Base } from "./statement"

// A file of the log is somebody's file: what comes out of it is parsed like everything else that comes in.
const Opened = z.object({
  pass: Pass,
  return: z.object({ return_id: z.string(), auto_return_enabled: z.boolean(), auto_apply_enabled: z.boolean() }),
})
const Moved = z.object({
  move: z.object({ to: ReturnStatus, revision: z.int().nonnegative(), child_session_id: z.string().nullish() }),
})
const Ended = z.object({
  outcome: z.object({
    output: WorkOutput.omit({ artifacts: true }),
    usage: z.record(z.string(), z.number()),
    delivery: Sent.optional(),
    artifacts: z.array(
      z.object({ artifact_id: z.templateLiteral(["art_", z.string()]), position: z.int(), artifact: WorkArtifact }),
    ),
    artifacts_omitted: z.int().nonnegative(),
  }),
})
const Written = z.object({ metadata: PassOverMetadata.pick({ applied: true, applied_at: true, applied_by: true }) })

type Kept = Omit<Restored, "ok" | "refused">

const none = (): Kept => ({ lines: 0, passes: 0, outcomes: 0, artifacts: 0, omitted: 0 })

function insertOpened({ run }: Base, lines: readonly AuditLine[], opened: z.infer<typeof Opened>) {
  const { chain_depth, max_chain_depth, ancestors, status, revision, ...request } = opened.pass
  const moves = lines.flatMap((line) => {
    const moved = Moved.safeParse(line.detail).data
    return moved ? [{ ...moved.move, at: line.timestamp }] : []
  })
  const last = moves.at(-1)
  const child = moves.findLast((move) => typeof move.child_session_id === "string")?.child_session_id
  const started = moves.find((move) => move.to === "waiting_for_return")?.at ?? null
  const [settled] = lines.flatMap((line) => Ended.safeParse(line.detail).data?.outcome.output.metadata ?? [])
  const ended = settled?.completed_at ?? moves.find((move) => /returned|timed_out|cancelled/.test(move.to))?.at ?? null
  run.insert.request(
    storable({
      ...request,
      child_session_id: child ?? request.child_session_id,
      time_started: started ?? request.time_started,
      time_ended: ended ?? request.time_ended,
    }),
  )
  run.insert.return({
    ...opened.return,
    return_id: opened.return.return_id as `ret_${string}`,
    pass_over_id: request.id,
    session_id: request.session_id,
    chain_depth,
    max_chain_depth,
    ancestors,
    status: last?.to ?? status,
    revision: last?.revision ?? revision,
    created_at: request.time_created,
    returned_at: moves.find((move) => move.to === "returned")?.at ?? null,
  })
}

/** What the last line says of its being applied; older ones tell no more than whether, who and when they were written. */
function appliedOf(later: readonly AuditLine[]): Partial<PassOverMetadata> {
  const last = later.findLast(({ action }) => action === "applied" || action === "undone")
  if (!last) return {}
  const told = Written.safeParse(last.detail).data
  if (told) return told.metadata
  return last.applied
    ? { applied: true, applied_at: last.timestamp, applied_by: last.applied_by ?? last.actor }
    : { applied: false }
}

type Line = { line: AuditLine; ended: z.infer<typeof Ended>; later: readonly AuditLine[] }

function insertEnded({ run }: Base, { line, ended: { outcome }, later }: Line, pass: Pass) {
  const { output } = outcome
  run.insert.output(
    storable({
      work_id: pass.id,
      status: output.status,
      completion_reason: output.completion_reason ?? null,
      summary: output.summary,
      auto_apply_allowed: output.auto_apply_allowed,
      metadata: { ...output.metadata, ...appliedOf(later) },
      usage: outcome.usage as never,
      error_code: line.error_code,
      transcript: "read" as const,
      time_created: line.timestamp,
    }),
  )
  for (const { artifact_id, position, artifact } of outcome.artifacts) {
    const path = artifact.type === "file_modification" ? artifact.path : null
    const severity = artifact.type === "finding" ? artifact.severity : null
    run.insert.artifact({
      artifact_id,
      pass_over_id: pass.id,
      position,
      type: artifact.type,
      path,
      severity,
      body: artifact,
    })
  }
  const arrival = arrivalOf({
    pass,
    output: { ...output, artifacts: outcome.artifacts.map(({ artifact }) => artifact) },
    error_code: z.enum(PassOverErrorCode).nullable().catch(null).parse(line.error_code),
    omitted: outcome.artifacts_omitted,
    sent: outcome.delivery,
    later,
  })
  run.insert.delivery({ pass_over_id: pass.id, session_id: pass.session_id, ...arrival, time_created: line.timestamp })
}

/** A pass with all that its lines tell of it, unless the database has it. */
function rebuild(base: Base, lines: readonly AuditLine[], sum: Kept) {
  const opened = lines.map((line) => Opened.safeParse(line.detail).data).find((found) => found !== undefined)
  if (!opened || base.run.pass.byId({ id: opened.pass.id })) return
  insertOpened(base, lines, opened)
  sum.passes += 1
  for (const [index, line] of lines.entries()) {
    const ended = Ended.safeParse(line.detail).data
    if (!ended || base.run.select.output.get({ id: opened.pass.id })) continue
    insertEnded(base, { line, ended, later: lines.slice(index + 1) }, opened.pass)
    sum.outcomes += 1
    sum.artifacts += ended.outcome.artifacts.length
    sum.omitted += ended.outcome.artifacts_omitted
  }
}

function insertLines(place: AuditPlace, session_id: string, lines: readonly AuditLine[]): number {
  const marks = ["directory", ...AUDIT_NAMES].map(() => "?").join(", ")
  const put = place.client.query(
    `insert into pass_over_audit (directory, ${AUDIT_COLUMNS}) values (${marks}) on conflict do nothing returning id`,
  )
  const inserted = lines.filter((line) => put.all(place.directory, ...writeLine(line)).length > 0)
  const last = lines.at(-1)
  if (last)
    place.client
      .query(
        "insert into pass_over_audit_files values (?, ?, ?) on conflict (session_id) do update set seq = max(seq, excluded.seq)",
      )
      .run(session_id, last.seq, last.timestamp)
  const anchor = readSummary(place.folder).anchors[session_id]
  if (anchor)
    place.client
      .query("insert into pass_over_audit_anchors values (?, ?, ?, ?, ?) on conflict do nothing")
      .run(session_id, place.directory, anchor.seq, anchor.hash, last?.timestamp ?? 0)
  return inserted.length
}

/** Why the lines of a session cannot be trusted: their chain is broken, or the database knows others. */
function against(place: AuditPlace, session_id: string, found: ReturnType<typeof readLog>): Fault[] {
  const anchor = anchorOf(place, session_id)
  const kept = found.filter(({ entry }) => !entry || entry.seq > anchor.seq)
  const broken = follow(kept, anchor, sha256).map(({ kind, at, seq, message }): Fault => {
    const where = `${at?.path ?? ""}:${at?.line ?? 0}`
    return { kind, place: where, session_id, ...(seq === undefined ? {} : { seq }), message: `${where}: ${message}` }
  })
  const known = new Map(linesOf(place, session_id).map((row) => [row.seq, row.hash]))
  const other = kept.find(({ entry }) => entry && known.has(entry.seq) && known.get(entry.seq) !== entry.hash)
  if (!other) return broken
  const where = `${other.path}:${other.line}`
  const message = `${where}: the database has another line ${other.entry?.seq}`
  return [...broken, { kind: "edited", place: where, session_id, message }]
}

/**
 * Brings back what a lost database held: all audit lines, the passes and where they stood, their outcomes with findings,
 * decisions and messages. Contexts, contents of files and what tools said are not in the lines. It can be done again and
 * again. A chain that is broken is refused, unless it is forced: then every line that is intact by itself is taken.
 */
export async function restoreAudit(base: Base, place: AuditPlace, force = false): Promise<Restored> {
  const bySession = Map.groupBy(logFiles(place.folder).flatMap(readLog), ({ entry, path }) => entry?.session_id ?? path)
  const sessions = [...bySession].map(([session_id, found]) => {
    const sorted = found.toSorted((a, b) => (a.entry?.seq ?? 0) - (b.entry?.seq ?? 0))
    return { session_id, found: sorted, faults: against(place, session_id, sorted) }
  })
  const refused = sessions.flatMap(({ faults }) => faults)
  if (refused.length > 0 && !force) return { ok: false, refused, ...none() }
  const sum = none()
  for (const { session_id, found } of sessions) {
    const lines = found.flatMap(({ entry }) => (entry && intact(entry, sha256) ? [entry] : []))
    await base.write(() => {
      sum.lines += insertLines(place, session_id, lines)
      for (const group of Map.groupBy(lines, (line) => line.pass_over_id).values()) rebuild(base, group, sum)
    })
  }
  return { ok: true, ...(refused.length > 0 ? { refused } : {}), ...sum }
}
