import { and, eq, inArray, isNull, ne, notExists, or, sql } from "drizzle-orm"
import type { WorkArtifact } from "../domain/artifact"
import type { OwnerID } from "../domain/id"
import { KEEPS } from "../domain/gate"
import type { Claimed, Outcome, Store } from "../service/port"
import { GateTable } from "./gate.sql"
import { lastSeen } from "./last-seen"
import { holdArtifacts, insertArtifacts } from "./pass"
import { AttemptTable, OwnerTable, PassOverRequestTable, ReturnContextTable, WorkOutputTable } from "./pass-over.sql"
import { toOutcome, toPass } from "./row"
import { OPEN, type Base } from "./statement"

type Owners = Pick<Store, "enter" | "beat" | "owner" | "owners" | "leave" | "claim" | "unread" | "enrich">

type Claiming = Parameters<Store["claim"]>[0]

/** Those that no person is asked about, and those of projects in which whoever takes them can go on with them. */
function takeable(db: Base["db"], directories: readonly string[]) {
  const asked = db
    .select({ id: GateTable.gate_id })
    .from(GateTable)
    .where(
      and(
        eq(GateTable.pass_over_id, PassOverRequestTable.id),
        eq(GateTable.kind, "confirmation"),
        inArray(GateTable.status, [...KEEPS]),
        isNull(GateTable.time_acted),
      ),
    )
  return or(
    ne(ReturnContextTable.status, "initial"),
    notExists(asked),
    inArray(PassOverRequestTable.directory, [...directories]),
  )
}

function openPasses({ db }: Base, { from, limit, waiting_in, only }: Claiming) {
  return db
    .select()
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(
      and(
        eq(PassOverRequestTable.owner_id, from),
        OPEN,
        waiting_in && takeable(db, waiting_in),
        only && inArray(PassOverRequestTable.id, [...only]),
      ),
    )
    .limit(limit)
    .all()
}

/** Takes over what an owner left. Only passes that are still its own: somebody else may be taking them too. */
function claim(base: Base, input: Claiming): Claimed[] {
  const { db, contents } = base
  const rows = openPasses(base, input)
  const ids = rows.map((row) => row.pass_over_requests.id)
  if (ids.length === 0) return []
  const seen = lastSeen(
    base,
    input.from,
    rows.map((row) => row.pass_over_requests),
  )
  db.update(PassOverRequestTable)
    // The tool calls that waited for them went with their process.
    .set({ owner_id: input.owner_id, fence: sql`${PassOverRequestTable.fence} + 1`, wait: false })
    .where(inArray(PassOverRequestTable.id, ids))
    .run()
  const attempts = Map.groupBy(
    db.select().from(AttemptTable).where(inArray(AttemptTable.pass_over_id, ids)).all(),
    (attempt) => attempt.pass_over_id,
  )
  return rows.map(({ pass_over_requests: request, return_contexts: context }) => {
    const known = attempts.get(request.id) ?? []
    return {
      pass: toPass({ ...request, owner_id: input.owner_id, fence: request.fence + 1, wait: false }, context),
      staged: context.staged ? contents.report(context.staged) : undefined,
      usage: known.findLast((attempt) => attempt.usage !== null)?.usage ?? undefined,
      attempts: known.length,
      seen: seen.get(request.id) ?? { at: null, staged_at: null, waits: [] },
    }
  })
}

function unread({ db, run, contents }: Base, directory: string, limit: number) {
  return db
    .select()
    .from(WorkOutputTable)
    .innerJoin(PassOverRequestTable, eq(PassOverRequestTable.id, WorkOutputTable.work_id))
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, WorkOutputTable.work_id))
    .where(and(eq(WorkOutputTable.transcript, "unread"), eq(PassOverRequestTable.directory, directory)))
    .limit(limit)
    .all()
    .map((row) => {
      const pass = toPass(row.pass_over_requests, row.return_contexts)
      const rows = run.select.artifacts.all({ id: pass.id })
      const artifacts = rows.map(({ body }) => contents.whole<WorkArtifact>(body))
      const outcome: Outcome = toOutcome(pass, row.work_outputs, artifacts, run.select.delivery.get({ id: pass.id }))
      return { pass, outcome }
    })
}

function owners({ db }: Base) {
  const owning = db
    .selectDistinct({ owner_id: PassOverRequestTable.owner_id })
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(OPEN)
    .all()
  const known = db.select().from(OwnerTable).all()
  const named = new Set(known.map((owner) => owner.owner_id))
  const lost = owning
    .filter(({ owner_id }) => !named.has(owner_id))
    .map(({ owner_id }) => ({ owner_id, lost: true as const }))
  return [...known, ...lost]
}

/** An owner's row goes only when nothing of it is left to recover. */
function leave({ db }: Base, owner_id: OwnerID) {
  const open = db
    .select({ id: PassOverRequestTable.id })
    .from(PassOverRequestTable)
    .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
    .where(and(eq(PassOverRequestTable.owner_id, owner_id), OPEN))
  db.delete(OwnerTable)
    .where(and(eq(OwnerTable.owner_id, owner_id), notExists(open)))
    .run()
}

/** Who runs what, and what becomes of it when they are gone. */
export function createOwners(base: Base): Owners {
  const { db, run, write, contents } = base
  return {
    enter: (owner, at) =>
      write(() => {
        db.insert(OwnerTable)
          .values({ ...owner, time_started: at, time_heartbeat: at })
          .onConflictDoNothing()
          .run()
      }),

    beat: (owner_id, at) =>
      write(() => {
        db.update(OwnerTable).set({ time_heartbeat: at }).where(eq(OwnerTable.owner_id, owner_id)).run()
      }),

    owners: async () => owners(base),

    owner: async (owner_id) => db.select().from(OwnerTable).where(eq(OwnerTable.owner_id, owner_id)).get(),

    leave: (owner_id) => write(() => leave(base, owner_id)),

    claim: (input) => write(() => claim(base, input)),

    unread: async (directory, limit) => unread(base, directory, limit),

    enrich: async ({ pass, output, artifacts }) => {
      const held = holdArtifacts(contents, artifacts)
      return write(() => {
        const rows = db
          .update(WorkOutputTable)
          .set({
            transcript: "read",
            status: output.status,
            summary: output.summary,
            completion_reason: output.completion_reason ?? null,
          })
          .where(and(eq(WorkOutputTable.work_id, pass.id), eq(WorkOutputTable.transcript, "unread")))
          .returning({ id: WorkOutputTable.work_id })
          .all()
        if (rows.length === 0) return false
        insertArtifacts(run, pass.id, held, {
          at: pass.time_ended ?? pass.time_created,
          from: run.select.artifacts.all({ id: pass.id }).length,
        })
        return true
      })
    },
  }
}
