import { and, asc, desc, eq, isNull } from "drizzle-orm"
import { once } from "remeda"
import type { ChangeID, ChangeSet } from "../domain/change/change"
import type { Application, ChangeStore, Ended, TreeOf } from "../service/port-change"
import { ApplyTable, ChangeFileTable, ChangeTable, VerdictTable, WorktreeTable } from "./change.sql"
import { WorkOutputTable } from "./pass-over.sql"
import { record } from "./record"
import { insertInto } from "./direct"
import type { Base, Row } from "./statement"

type Changes = Omit<
  ChangeStore,
  "hasBlobs" | "putPieces" | "closeBlobs" | "blob" | "piece" | "dropPieces" | "sweepBlobs" | "pruneBlobs" | "leftBlobs"
>

function toChange({ db }: Base, row: Row<typeof ChangeTable>): ChangeSet {
  const files = db
    .select({ body: ChangeFileTable.body })
    .from(ChangeFileTable)
    .where(eq(ChangeFileTable.change_id, row.change_id))
    .orderBy(asc(ChangeFileTable.position))
    .all()
  return { ...row, files: files.map(({ body }) => body) }
}

type Sets = Pick<Changes, "saveChange" | "change" | "changes" | "review" | "repeat" | "verdicts">

function sets(base: Base): Sets {
  const { db, run, write } = base
  // A change may have ten thousand of each.
  const put = {
    file: once(() => insertInto(db, ChangeFileTable)),
    verdict: once(() => insertInto(db, VerdictTable, { leave: ["id"] })),
  }
  return {
    saveChange: ({ files, ...change }) =>
      write(() => {
        db.insert(ChangeTable).values(change).run()
        for (const [position, body] of files.entries()) {
          put.file()({
            change_id: change.change_id,
            position,
            path: body.path,
            old_hash: body.old?.hash ?? null,
            new_hash: body.new?.hash ?? null,
            body,
          })
        }
      }),

    change: async (change_id) => {
      const row = db.select().from(ChangeTable).where(eq(ChangeTable.change_id, change_id)).get()
      return row && toChange(base, row)
    },

    changes: async (pass_over_id) =>
      db
        .select()
        .from(ChangeTable)
        .where(eq(ChangeTable.pass_over_id, pass_over_id))
        .orderBy(asc(ChangeTable.change_id))
        .all()
        .map((row) => toChange(base, row)),

    review: (change_id, verdicts, { note, event }) =>
      write(() => {
        for (const verdict of verdicts) put.verdict()({ change_id, ...verdict })
        record(run, note, event)
      }),

    repeat: (change_id, verdicts) =>
      write(() => {
        for (const verdict of verdicts) put.verdict()({ ...verdict, change_id })
      }),

    verdicts: async (change_id: ChangeID) =>
      db
        .select()
        .from(VerdictTable)
        .where(eq(VerdictTable.change_id, change_id))
        .orderBy(asc(VerdictTable.id))
        .all()
        .map(({ id: _id, change_id: _change, ...verdict }) => verdict),
  }
}

const isOf = ({ directory, pass_over_id }: TreeOf) =>
  and(eq(WorktreeTable.directory, directory), eq(WorktreeTable.pass_over_id, pass_over_id))

const free = (base: Base, application: Application, tree: TreeOf | undefined) => {
  const { db } = base
  const there = tree && db.select().from(WorktreeTable).where(isOf(tree)).get()
  if (tree && (!there || there.collected)) return "closed"
  const busy = db
    .select({ id: ApplyTable.apply_id })
    .from(ApplyTable)
    .where(and(eq(ApplyTable.directory, application.directory), eq(ApplyTable.status, "pending")))
    .get()
  if (busy) return "busy"
  if (application.undoes === null) return "ok"
  const undone = db
    .select({ status: ApplyTable.status })
    .from(ApplyTable)
    .where(eq(ApplyTable.apply_id, application.undoes))
    .get()
  return undone?.status === "done" ? "ok" : "undone"
}

/** Ends an intent, once, and with it what the outcome of its pass says of having been applied. */
function end({ db, run }: Base, { apply_id, status, problem, at, metadata, told }: Ended): boolean {
  const rows = db
    .update(ApplyTable)
    .set({ status, problem, time_done: at })
    .where(and(eq(ApplyTable.apply_id, apply_id), eq(ApplyTable.status, "pending")))
    .returning({ undoes: ApplyTable.undoes, pass_over_id: ApplyTable.pass_over_id })
    .all()
  const [ended] = rows
  if (!ended) return false
  if (status === "done" && ended.undoes !== null) {
    db.update(ApplyTable).set({ status: "undone" }).where(eq(ApplyTable.apply_id, ended.undoes)).run()
  }
  const output = db.select().from(WorkOutputTable).where(eq(WorkOutputTable.work_id, ended.pass_over_id)).get()
  if (output && metadata) {
    const { applied: _was, applied_at: _at, applied_by: _by, ...rest } = output.metadata
    db.update(WorkOutputTable)
      .set({ metadata: { ...rest, ...metadata } })
      .where(eq(WorkOutputTable.work_id, ended.pass_over_id))
      .run()
  }
  if (told) record(run, told.note, told.event)
  return true
}

type Applications = Pick<
  Changes,
  "intend" | "recordApplied" | "endApply" | "verified" | "application" | "applications" | "pending" | "takeApply"
>

function applications(base: Base): Applications {
  const { db, write } = base
  return {
    intend: (application, tree) =>
      write(() => {
        const may = free(base, application, tree)
        if (may === "ok") db.insert(ApplyTable).values(application).run()
        return may
      }),

    recordApplied: (application) =>
      write(() => {
        db.insert(ApplyTable).values(application).run()
      }),

    endApply: (ended) => write(() => end(base, ended)),

    verified: (apply_id, verification) =>
      write(() => {
        db.update(ApplyTable).set({ verification }).where(eq(ApplyTable.apply_id, apply_id)).run()
      }),

    application: async (apply_id) => db.select().from(ApplyTable).where(eq(ApplyTable.apply_id, apply_id)).get(),

    applications: async ({ pass_over_id, directory, limit }) =>
      db
        .select()
        .from(ApplyTable)
        .where(
          and(
            pass_over_id === undefined ? undefined : eq(ApplyTable.pass_over_id, pass_over_id),
            directory === undefined ? undefined : eq(ApplyTable.directory, directory),
          ),
        )
        .orderBy(desc(ApplyTable.apply_id))
        .limit(limit ?? 100)
        .all(),

    pending: async () =>
      db.select().from(ApplyTable).where(eq(ApplyTable.status, "pending")).orderBy(asc(ApplyTable.apply_id)).all(),

    takeApply: ({ apply_id, from, owner_id }) =>
      write(
        () =>
          db
            .update(ApplyTable)
            .set({ owner_id })
            .where(
              and(eq(ApplyTable.apply_id, apply_id), eq(ApplyTable.owner_id, from), eq(ApplyTable.status, "pending")),
            )
            .returning({ id: ApplyTable.apply_id })
            .all().length === 1,
      ),
  }
}

/** Changes, what was decided about them, and what of them was written into a tree. */
export function createChanges(base: Base): Changes {
  const { db, write } = base
  return {
    ...sets(base),
    ...applications(base),

    worktrees: async (project) =>
      db
        .select()
        .from(WorktreeTable)
        .where(project === undefined ? undefined : eq(WorktreeTable.project, project))
        .all(),

    takeWorktree: (worktree, from) =>
      write(() => {
        if (from === null) {
          return (
            db
              .insert(WorktreeTable)
              .values(worktree)
              .onConflictDoNothing()
              .returning({ d: WorktreeTable.directory })
              .all().length === 1
          )
        }
        const seen = and(
          eq(WorktreeTable.directory, worktree.directory),
          eq(WorktreeTable.owner_id, from.owner_id),
          eq(WorktreeTable.time_used, from.time_used),
          from.pass_over_id === null
            ? isNull(WorktreeTable.pass_over_id)
            : eq(WorktreeTable.pass_over_id, from.pass_over_id),
        )
        const rows = db.update(WorktreeTable).set(worktree).where(seen).returning({ d: WorktreeTable.directory })
        return rows.all().length === 1
      }),

    closeWorktree: (tree) =>
      write(() => {
        db.update(WorktreeTable).set({ collected: true }).where(isOf(tree)).run()
      }),

    dropWorktree: (directory) =>
      write(() => {
        db.delete(WorktreeTable).where(eq(WorktreeTable.directory, directory)).run()
      }),
  }
}
