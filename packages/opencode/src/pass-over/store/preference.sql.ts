import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"

type Json = Record<string, unknown>

/** Preferences that were set through us for one project, rather than written into a file. */
export const PreferenceTable = sqliteTable(
  "pass_over_preferences",
  {
    directory: text().notNull(),
    level: text().$type<"pair" | "subagent">().notNull(),
    /** Empty where the settings are those of a subagent, whoever passes to it. */
    from_agent: text().notNull(),
    to_agent: text().notNull(),
    settings: text({ mode: "json" }).$type<Json>().notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    updated_by: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.directory, table.level, table.from_agent, table.to_agent] })],
)

export const DefaultTable = sqliteTable(
  "pass_over_defaults",
  {
    directory: text().notNull(),
    key: text().notNull(),
    value: text({ mode: "json" }).$type<unknown>().notNull(),
    type: text().$type<"boolean" | "number" | "string" | "json">().notNull(),
    updated_at: integer().notNull(),
    updated_by: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.directory, table.key] })],
)
