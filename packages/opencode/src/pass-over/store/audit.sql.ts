import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core"

/** Where the chain of a session goes on after its oldest lines were pruned: the last of those that are gone. */
export const AuditAnchorTable = sqliteTable("pass_over_audit_anchors", {
  session_id: text().primaryKey(),
  directory: text().notNull(),
  seq: integer().notNull(),
  hash: text().notNull(),
  time_pruned: integer().notNull(),
})
