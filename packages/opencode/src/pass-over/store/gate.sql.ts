import { sql } from "drizzle-orm"
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core"
import type { GateKind, GateStatus } from "../domain/gate"
import type { PassID } from "../domain/id"
import type { GateDefault } from "../domain/preference"

/** Questions to people. The row is the gate: it is answered where its status changes, and nowhere else. */
export const GateTable = sqliteTable(
  "pass_over_gates",
  {
    gate_id: text().primaryKey(),
    key: text().notNull(),
    kind: text().$type<GateKind>().notNull(),
    pass_over_id: text().$type<PassID>(),
    run_id: text(),
    session_id: text().notNull(),
    directory: text().notNull(),
    asked_by: text().notNull(),
    question: text().notNull(),
    detail: text({ mode: "json" }).$type<Record<string, unknown>>().notNull(),
    policy: text().notNull(),
    default_action: text().$type<GateDefault>().notNull(),
    status: text().$type<GateStatus>().notNull(),
    note: text(),
    answered_by: text(),
    surface: text(),
    time_created: integer().notNull(),
    time_expires: integer().notNull(),
    time_answered: integer(),
    time_acted: integer(),
  },
  (table) => [
    uniqueIndex("pass_over_gates_key_idx").on(table.key),
    index("pass_over_gates_pass_over_id_idx").on(table.pass_over_id),
    index("pass_over_gates_run_id_idx").on(table.run_id),
    index("pass_over_gates_pending_idx")
      .on(table.time_expires)
      .where(sql`${table.status} = 'pending'`),
    check(
      "pass_over_gates_status_known",
      sql`${table.status} in ('pending', 'approved', 'rejected', 'questioned', 'withdrawn')`,
    ),
  ],
)
