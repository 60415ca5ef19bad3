import { sql } from "drizzle-orm"
import { check, index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { PassID } from "../domain/id"
import type { Priority } from "../domain/request"

/** Who runs, who stands in line, and what each has used of its tree's budget. A row stays for the sake of the budget. */
export const SlotTable = sqliteTable(
  "pass_over_slots",
  {
    pass_over_id: text().$type<PassID>().primaryKey(),
    trace_id: text().$type<PassID>().notNull(),
    parent_pass_id: text().$type<PassID>(),
    root_session_id: text().notNull(),
    wait: integer({ mode: "boolean" }).notNull(),
    subagent: text().notNull(),
    model: text(),
    priority: text().$type<Priority>().notNull(),
    state: text().$type<"waiting" | "queued" | "running" | "ended">().notNull(),
    reserved_tokens: integer().notNull(),
    reserved_cost: real().notNull(),
    tokens: integer().notNull(),
    cost: real().notNull(),
    time_created: integer().notNull(),
  },
  (table) => [
    index("pass_over_slots_trace_id_idx").on(table.trace_id),
    index("pass_over_slots_open_idx")
      .on(table.state)
      .where(sql`${table.state} <> 'ended'`),
    check("pass_over_slots_state_known", sql`${table.state} in ('waiting', 'queued', 'running', 'ended')`),
  ],
)

/** Providers that have asked for less. */
export const ProviderTable = sqliteTable("pass_over_providers", {
  provider: text().primaryKey(),
  allowed: integer().notNull(),
  time_until: integer().notNull(),
})
