import type { Database, SQLQueryBindings } from "bun:sqlite"
import { getTableColumns, is, Param, Placeholder, sql, type InferInsertModel, type Query } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"

/** Drizzle over the connection that it was made with. */
export type Drizzled = BunSQLiteDatabase & { $client: Database }

/**
 * Building a statement costs Drizzle some hundred microseconds, running it ten: what happens in every pass is built
 * once. A value that is missing is null; keys that the table does not have are passed over. Values are encoded here,
 * because a placeholder's own encoder writes the word "null" into a JSON column. `over` puts a row in the place of the
 * one with its key.
 */
export function insertInto<T extends SQLiteTable>(
  db: Drizzled,
  table: T,
  { leave = [], over = false }: { leave?: readonly string[]; over?: boolean } = {},
) {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !leave.includes(name))
  const values = Object.fromEntries(columns.map(([name]) => [name, sql`${sql.placeholder(name)}`]))
  const { sql: text } = db
    .insert(table)
    .values(values as InferInsertModel<T>)
    .toSQL()
  // Its placeholders stand in the order of the columns.
  const statement = db.$client.prepare<unknown, SQLQueryBindings[]>(
    over ? text.replace(/^insert/i, "insert or replace") : text,
  )
  return (row: InferInsertModel<T>) => {
    const given: Record<string, unknown> = row
    const encoded = columns.map(([name, column]) => {
      const value = given[name]
      return value === undefined || value === null ? null : (column.mapToDriverValue(value) as SQLQueryBindings)
    })
    statement.run(...encoded)
  }
}

/** A statement with the columns of its rows as the database has them: numbers and text, and nothing to decode. */
export type Direct<R> = {
  run(values: Readonly<Record<string, unknown>>): void
  get(values: Readonly<Record<string, unknown>>): R | undefined
  all(values: Readonly<Record<string, unknown>>): R[]
}

const nameOf = (param: unknown): string | undefined => {
  const value = is(param, Param) ? param.value : param
  return is(value, Placeholder) ? value.name : undefined
}

/**
 * A statement that Drizzle has built, run without Drizzle in between: some forty of them run in every pass, and what it
 * does around each takes longer than the statement. A value that is missing is null.
 */
export function direct<R = unknown>(db: Drizzled, query: { toSQL(): Query }): Direct<R> {
  const { sql: text, params } = query.toSQL()
  const statement = db.$client.prepare<R, SQLQueryBindings[]>(text)
  const names = params.map(nameOf)
  const given = (values: Readonly<Record<string, unknown>>) =>
    names.map((name, place) => (name === undefined ? params[place] : (values[name] ?? null)) as SQLQueryBindings)
  return {
    run: (values) => void statement.run(...given(values)),
    get: (values) => statement.get(...given(values)) ?? undefined,
    all: (values) => statement.all(...given(values)),
  }
}
