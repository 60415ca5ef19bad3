import { and, eq, isNull } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import type { Pass } from "../domain/pass"
import { open as stillOpen } from "../domain/return-context"
import type { Attempt, Commit, OpenPass, Settled, Store } from "../service/port"
import {
  AttemptTable,
  DeliveryTable,
  PassOverRequestTable,
  ReturnContextTable,
  WorkArtifactTable,
  WorkContextTable,
  WorkOutputTable,
} from "./pass-over.sql"
import { announce, record } from "./record"
import { findPass } from "./read"
import { storable } from "./row"
import type { Writer } from "./write"

type Passes = Pick<Store, "open" | "commit" | "settle" | "bind" | "stage" | "attempt" | "refuse">

function insertPass(db: BunSQLiteDatabase, input: OpenPass) {
  const { chain_depth, max_chain_depth, ancestors, status, revision, ...request } = input.pass
  db.insert(PassOverRequestTable).values(storable(request)).run()
  db.insert(WorkContextTable)
    .values({ pass_over_id: request.id, context: input.request.work_context, manifest: input.manifest })
    .run()
  db.insert(ReturnContextTable)
    .values({
      return_id: input.return_id,
      pass_over_id: request.id,
      session_id: request.session_id,
      auto_return_enabled: input.auto_return_enabled,
      auto_apply_enabled: input.auto_apply_enabled,
      chain_depth,
      max_chain_depth,
      ancestors,
      status,
      revision,
      created_at: request.time_created,
    })
    .run()
}

const existing = (db: BunSQLiteDatabase, pass: Pass) => {
  if (pass.call_id === null) return
  const row = db
    .select({ id: PassOverRequestTable.id })
    .from(PassOverRequestTable)
    .where(and(eq(PassOverRequestTable.session_id, pass.session_id), eq(PassOverRequestTable.call_id, pass.call_id)))
    .get()
  return row ? findPass(db, row.id) : undefined
}

// The fence keeps out an owner that was taken for dead: it may still be running, but the pass is not its any more.
const owned = (pass: Pass) => and(eq(PassOverRequestTable.id, pass.id), eq(PassOverRequestTable.fence, pass.fence))

/** Moves the return context if nobody moved it first. */
function moved(db: BunSQLiteDatabase, { pass, move, at }: Commit): boolean {
  const fenced = db.select({ id: PassOverRequestTable.id }).from(PassOverRequestTable).where(owned(pass)).get()
  if (!fenced) return false
  const rows = db
    .update(ReturnContextTable)
    .set({
      status: move.to,
      revision: move.revision,
      ...(move.to === "returned" ? { returned_at: at } : {}),
    })
    .where(
      and(
        eq(ReturnContextTable.pass_over_id, pass.id),
        eq(ReturnContextTable.revision, pass.revision),
        eq(ReturnContextTable.status, move.from),
      ),
    )
    .returning({ id: ReturnContextTable.return_id })
    .all()
  return rows.length === 1
}

const stamp = (db: BunSQLiteDatabase, pass: Pass, times: { time_started?: number; time_ended?: number }) =>
  db.update(PassOverRequestTable).set(times).where(eq(PassOverRequestTable.id, pass.id)).run()

// A statement carries a limited number of values, and a child may have found a great deal.
const ROWS = 1_000

function insertOutcome(db: BunSQLiteDatabase, input: Settled) {
  const { output } = input
  db.insert(WorkOutputTable)
    .values(
      storable({
        work_id: output.work_id,
        status: output.status,
        completion_reason: output.completion_reason ?? null,
        summary: output.summary,
        auto_apply_allowed: output.auto_apply_allowed,
        metadata: output.metadata,
        usage: input.usage,
        error_code: input.error_code,
        time_created: input.at,
      }),
    )
    .run()
  const artifacts = input.artifacts.map(({ artifact_id, artifact }, position) => ({
    artifact_id,
    pass_over_id: output.work_id,
    position,
    type: artifact.type,
    path: artifact.type === "file_modification" ? artifact.path : null,
    severity: artifact.type === "finding" ? artifact.severity : null,
    body: artifact,
  }))
  for (let from = 0; from < artifacts.length; from += ROWS) {
    db.insert(WorkArtifactTable)
      .values(artifacts.slice(from, from + ROWS))
      .run()
  }
  db.insert(DeliveryTable)
    .values({
      pass_over_id: output.work_id,
      session_id: input.pass.session_id,
      ...input.delivery,
      time_created: input.at,
    })
    .run()
}

function putAttempt(db: BunSQLiteDatabase, attempt: Attempt) {
  const row = storable(attempt)
  db.insert(AttemptTable)
    .values(row)
    .onConflictDoUpdate({ target: [AttemptTable.pass_over_id, AttemptTable.attempt], set: row })
    .run()
}

const after = (db: BunSQLiteDatabase, pass: Pass) => findPass(db, pass.id) ?? pass

/** A move with its audit line and its event, inside a transaction that somebody else holds. */
export function commitMove(db: BunSQLiteDatabase, input: Commit): Pass | "stale" {
  if (!moved(db, input)) return "stale"
  if (input.move.to === "waiting_for_return") stamp(db, input.pass, { time_started: input.at })
  record(db, input.note, input.event)
  return after(db, input.pass)
}

/** What happens to a pass, each as one transaction with its audit line and its event. */
export function createPasses(db: BunSQLiteDatabase, write: Writer): Passes {
  return {
    open: (input) =>
      write(() => {
        const known = existing(db, input.pass)
        if (known) return { pass: known, created: false }
        insertPass(db, input)
        record(db, input.note, input.event)
        return { pass: after(db, input.pass), created: true }
      }),

    commit: (input) => write(() => commitMove(db, input)),

    settle: (input) =>
      write(() => {
        if (!moved(db, input)) return "stale"
        insertOutcome(db, input)
        if (input.attempt) putAttempt(db, input.attempt)
        stamp(db, input.pass, { time_ended: input.at })
        record(db, input.note, input.event)
        return after(db, input.pass)
      }),

    bind: ({ pass, attempt, event }) =>
      write(() => {
        const rows = db
          .update(PassOverRequestTable)
          .set({ child_session_id: attempt.child_session_id })
          .where(owned(pass))
          .returning({ id: PassOverRequestTable.id })
          .all()
        if (rows.length === 0) return "stale"
        putAttempt(db, attempt)
        announce(db, event)
        return after(db, pass)
      }),

    stage: ({ pass, report, event }) =>
      write(() => {
        const current = findPass(db, pass.id)
        if (!current || !stillOpen(current.status)) return "ended"
        const rows = db
          .update(ReturnContextTable)
          .set({ staged: report })
          .where(and(eq(ReturnContextTable.pass_over_id, pass.id), isNull(ReturnContextTable.staged)))
          .returning({ id: ReturnContextTable.return_id })
          .all()
        if (rows.length === 0) return "already"
        announce(db, event)
        return "staged"
      }),

    attempt: ({ attempt, event }) =>
      write(() => {
        putAttempt(db, attempt)
        announce(db, event)
      }),

    refuse: (entry, event) => write(() => record(db, entry, event)),
  }
}
