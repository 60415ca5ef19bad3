import { sql } from "drizzle-orm"
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import type { ApplyID, ChangeID, ChangeOrigin, FileChange, Op } from "../domain/change/change"
import type { OwnerID, PassID } from "../domain/id"
import { PassOverRequestTable } from "./pass-over.sql"
import type { ApplyKind, ApplyStatus, Verification } from "../service/port-change"

/** The content of a file, once, whoever changed it to that. Its pieces lie apart; the row comes last and says that it is whole. */
export const BlobTable = sqliteTable("pass_over_blobs", {
  hash: text().primaryKey(),
  bytes: integer().notNull(),
  pieces: integer().notNull(),
  time_created: integer().notNull(),
})

/** Compressed and sealed: what stands in a user's files is not to be found by looking through ours. */
export const BlobPieceTable = sqliteTable(
  "pass_over_blob_pieces",
  {
    hash: text().notNull(),
    position: integer().notNull(),
    sealed: blob({ mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.hash, table.position] })],
)

/** The contents that the artifacts and the staged return of a pass need. The rows of those hold the hashes. */
export const ContentTable = sqliteTable(
  "pass_over_contents",
  {
    pass_over_id: text()
      .$type<PassID>()
      .notNull()
      .references(() => PassOverRequestTable.id),
    hash: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.pass_over_id, table.hash] })],
)

export const ChangeTable = sqliteTable(
  "pass_over_changes",
  {
    change_id: text().$type<ChangeID>().primaryKey(),
    pass_over_id: text().$type<PassID>().notNull(),
    origin: text().$type<ChangeOrigin>().notNull(),
    directory: text().notNull(),
    notes: text({ mode: "json" }).$type<string[]>().notNull(),
    from_change_id: text().$type<ChangeID>(),
    time_created: integer().notNull(),
  },
  (table) => [
    index("pass_over_changes_pass_over_id_idx").on(table.pass_over_id),
    index("pass_over_changes_directory_idx").on(table.directory),
  ],
)

export const ChangeFileTable = sqliteTable(
  "pass_over_change_files",
  {
    change_id: text()
      .$type<ChangeID>()
      .notNull()
      .references(() => ChangeTable.change_id),
    position: integer().notNull(),
    path: text().notNull(),
    old_hash: text(),
    new_hash: text(),
    body: text({ mode: "json" }).$type<FileChange>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.change_id, table.position] }),
    uniqueIndex("pass_over_change_files_change_id_path_idx").on(table.change_id, table.path),
  ],
)

/** Append-only: what was said about a change, in the order in which it was said. */
export const VerdictTable = sqliteTable(
  "pass_over_verdicts",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    change_id: text()
      .$type<ChangeID>()
      .notNull()
      .references(() => ChangeTable.change_id),
    path: text().notNull(),
    hunk: integer(),
    accepted: integer({ mode: "boolean" }).notNull(),
    reason: text(),
    actor: text().notNull(),
    time_created: integer().notNull(),
  },
  (table) => [index("pass_over_verdicts_change_id_idx").on(table.change_id)],
)

/** What is, or was, written into a user's tree. The row is there before the first byte of it. */
export const ApplyTable = sqliteTable(
  "pass_over_applies",
  {
    apply_id: text().$type<ApplyID>().primaryKey(),
    change_id: text()
      .$type<ChangeID>()
      .notNull()
      .references(() => ChangeTable.change_id),
    pass_over_id: text().$type<PassID>().notNull(),
    kind: text().$type<ApplyKind>().notNull(),
    /** The application that this one takes back. */
    undoes: text().$type<ApplyID>(),
    directory: text().notNull(),
    ops: text({ mode: "json" }).$type<Op[]>().notNull(),
    approval: text().notNull(),
    actor: text().notNull(),
    owner_id: text().$type<OwnerID>().notNull(),
    status: text().$type<ApplyStatus>().notNull(),
    problem: text(),
    verification: text({ mode: "json" }).$type<Verification>(),
    time_created: integer().notNull(),
    time_done: integer(),
  },
  (table) => [
    index("pass_over_applies_pass_over_id_idx").on(table.pass_over_id),
    // One writer a tree: two that write at once could each see half of the other's work.
    uniqueIndex("pass_over_applies_pending_idx")
      .on(table.directory)
      .where(sql`${table.status} = 'pending'`),
    // What was taken back is not taken back again.
    uniqueIndex("pass_over_applies_undoes_idx")
      .on(table.undoes)
      .where(sql`${table.status} in ('pending', 'done')`),
  ],
)

/** The isolated trees that children work in, so that none is forgotten when a process dies. */
export const WorktreeTable = sqliteTable(
  "pass_over_worktrees",
  {
    directory: text().primaryKey(),
    project: text().notNull(),
    kind: text().$type<"git" | "copy">().notNull(),
    owner_id: text().$type<OwnerID>().notNull(),
    /** The pass that works in it; null while it is kept for the next one. */
    pass_over_id: text().$type<PassID>(),
    /** What its child did has been read; what is written into it now would be lost. */
    collected: integer({ mode: "boolean" }).notNull().default(false),
    time_used: integer().notNull(),
  },
  (table) => [index("pass_over_worktrees_project_idx").on(table.project)],
)
