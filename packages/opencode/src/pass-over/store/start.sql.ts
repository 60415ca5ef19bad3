import { sql } from "drizzle-orm"
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { OwnerID, PassID } from "../domain/id"
import type { StartAsk, StartOrder, StartState } from "../domain/start"

/** Passes that somebody outside of opencode wants started; an opencode that has the project open does it. */
export const StartTable = sqliteTable(
  "pass_over_starts",
  {
    start_id: text().$type<StartOrder["start_id"]>().primaryKey(),
    directory: text().notNull(),
    session_id: text(),
    named: integer({ mode: "boolean" }).notNull(),
    ask: text({ mode: "json" }).$type<StartAsk>().notNull(),
    actor: text().notNull(),
    state: text().$type<StartState>().notNull(),
    owner_id: text().$type<OwnerID>(),
    pass_over_id: text().$type<PassID>(),
    refusal: text({ mode: "json" }).$type<NonNullable<StartOrder["refusal"]>>(),
    time_created: integer().notNull(),
    time_expires: integer().notNull(),
  },
  (table) => [
    // Only the few that are still open are in it.
    index("pass_over_starts_open_idx")
      .on(table.directory)
      .where(sql`${table.state} in ('pending', 'claimed')`),
    index("pass_over_starts_pass_over_id_idx")
      .on(table.pass_over_id)
      .where(sql`${table.pass_over_id} is not null`),
    check("pass_over_starts_state_known", sql`${table.state} in ('pending', 'claimed', 'started', 'refused')`),
  ],
)
