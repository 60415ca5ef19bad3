import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { PassID } from "../domain/id"
import type { Phase } from "../domain/run"
import { PassOverRequestTable } from "./pass-over.sql"

/** How far each running pass is. Rows go when the pass ends; what stays after a crash is never shown. */
export const LiveTable = sqliteTable("pass_over_live", {
  pass_over_id: text()
    .$type<PassID>()
    .primaryKey()
    .references(() => PassOverRequestTable.id),
  phase: text().$type<Phase>().notNull(),
  step: integer().notNull(),
  attempt: integer().notNull(),
  tokens: integer().notNull(),
  cost: real().notNull(),
  waits: integer().notNull(),
  deadline_at: integer(),
  idle_at: integer(),
  time_updated: integer().notNull(),
})
