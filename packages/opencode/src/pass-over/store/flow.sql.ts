import { sql } from "drizzle-orm"
import { check, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { OwnerID, PassID } from "../domain/id"
import type { FlowDelivery, FlowEntry, FlowRun } from "../service/port-flow"

/** One run of a flow. The plan in it never changes. */
export const FlowRunTable = sqliteTable(
  "pass_over_flow_runs",
  {
    run_id: text().$type<`run_${string}`>().primaryKey(),
    flow: text().notNull(),
    plan: text({ mode: "json" }).$type<FlowRun["plan"]>().notNull(),
    plan_hash: text().notNull(),
    machine: integer().notNull(),
    inputs: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    directory: text().notNull(),
    session_id: text().notNull(),
    originator: text().notNull(),
    started_by: text().$type<"person" | "model">().notNull(),
    starter: text(),
    model: text(),
    status: text().$type<FlowRun["status"]>().notNull(),
    reason: text(),
    seq: integer().notNull(),
    owner_id: text().$type<OwnerID>().notNull(),
    fence: integer().notNull(),
    time_created: integer().notNull(),
    time_ended: integer(),
  },
  (table) => [
    index("pass_over_flow_runs_directory_idx").on(table.directory, table.time_created),
    index("pass_over_flow_runs_owner_id_idx")
      .on(table.owner_id)
      .where(sql`${table.time_ended} is null`),
    check(
      "pass_over_flow_runs_status_known",
      sql`${table.status} in ('running', 'waiting', 'paused', 'completed', 'stopped', 'cancelled')`,
    ),
  ],
)

/** Append-only. (run_id, seq) is the key, so two carriers can never both write the same next entry. */
export const FlowEntryTable = sqliteTable(
  "pass_over_flow_journal",
  {
    run_id: text()
      .notNull()
      .references(() => FlowRunTable.run_id),
    seq: integer().notNull(),
    at: integer().notNull(),
    input: text({ mode: "json" }).$type<FlowEntry["input"]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.seq] })],
)

/** What a session has to hear of the end of a run: written with the entry that ends it. */
export const FlowDeliveryTable = sqliteTable(
  "pass_over_flow_deliveries",
  {
    run_id: text()
      .$type<`run_${string}`>()
      .notNull()
      .references(() => FlowRunTable.run_id),
    /** The entry that ended it: a run that is done again from a step ends again. */
    seq: integer().notNull(),
    session_id: text().notNull(),
    directory: text().notNull(),
    mode: text().$type<FlowDelivery["mode"]>().notNull(),
    call_id: text(),
    status: text().$type<FlowDelivery["status"]>().notNull(),
    message_id: text(),
    owner_id: text().$type<OwnerID>().notNull(),
    time_created: integer().notNull(),
    time_delivered: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.run_id, table.seq] }),
    index("pass_over_flow_deliveries_directory_idx")
      .on(table.directory)
      .where(sql`${table.status} <> 'delivered' and ${table.mode} <> 'none'`),
  ],
)

export const FlowCommandTable = sqliteTable(
  "pass_over_flow_commands",
  {
    command_id: text().$type<`cmd_${string}`>().primaryKey(),
    run_id: text()
      .notNull()
      .references(() => FlowRunTable.run_id),
    input: text({ mode: "json" }).$type<FlowEntry["input"]>().notNull(),
    actor: text().notNull(),
    status: text().$type<"pending" | "done" | "refused">().notNull(),
    result: text(),
    time_created: integer().notNull(),
    time_done: integer(),
  },
  (table) => [
    index("pass_over_flow_commands_run_id_idx").on(table.run_id),
    index("pass_over_flow_commands_pending_idx")
      .on(table.run_id)
      .where(sql`${table.status} = 'pending'`),
  ],
)

/** Outputs that may answer an identical request again, with the content of every file that they rest on. */
export const ResultCacheTable = sqliteTable(
  "pass_over_result_cache",
  {
    key: text().primaryKey(),
    pass_over_id: text().$type<PassID>().notNull(),
    files: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    at: integer().notNull(),
  },
  (table) => [index("pass_over_result_cache_pass_over_id_idx").on(table.pass_over_id)],
)
