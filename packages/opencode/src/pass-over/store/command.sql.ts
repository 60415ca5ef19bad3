import { sql } from "drizzle-orm"
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { PassID } from "../domain/id"
import type { Command } from "../service/port"
import { PassOverRequestTable } from "./pass-over.sql"

/** What somebody wants of a pass that another process runs; its owner carries it out. */
export const CommandTable = sqliteTable(
  "pass_over_commands",
  {
    command_id: text().$type<`cmd_${string}`>().primaryKey(),
    pass_over_id: text()
      .$type<PassID>()
      .notNull()
      .references(() => PassOverRequestTable.id),
    kind: text().$type<Command["kind"]>().notNull(),
    text: text().notNull(),
    actor: text().notNull(),
    status: text().$type<"pending" | "done" | "refused">().notNull(),
    result: text(),
    time_created: integer().notNull(),
    time_done: integer(),
  },
  (table) => [
    // A pass that is forgotten takes them along.
    index("pass_over_commands_pass_over_id_idx").on(table.pass_over_id),
    index("pass_over_commands_pending_idx")
      .on(table.pass_over_id)
      .where(sql`${table.status} = 'pending'`),
  ],
)
