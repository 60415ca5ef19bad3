import { and, asc, eq, sql } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import { isDeepStrictEqual } from "node:util"
import { once } from "remeda"
import { describeProblem, parse } from "../domain/config-check"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import type { PassOverPreferences } from "../domain/preference"
import type { PreferenceKey } from "../domain/preference-edit"
import type { PreferenceStore, StoredPreference } from "../service/port-preference"
import { DefaultTable, PreferenceTable } from "./preference.sql"
import type { Base } from "./statement"

type Keyed = Exclude<PreferenceKey, { level: "defaults" }>

/** The columns that a group is found by. */
const columns = (key: Keyed) =>
  key.level === "pair"
    ? { level: key.level, from_agent: key.from, to_agent: key.to }
    : { level: key.level, from_agent: "", to_agent: key.subagent }

const at = (directory: string, key: Keyed) => {
  const { level, from_agent, to_agent } = columns(key)
  return and(
    eq(PreferenceTable.directory, directory),
    eq(PreferenceTable.level, level),
    eq(PreferenceTable.from_agent, from_agent),
    eq(PreferenceTable.to_agent, to_agent),
  )
}

function defaults(db: BunSQLiteDatabase, directory: string): StoredPreference[] {
  const rows = db
    .select()
    .from(DefaultTable)
    .where(eq(DefaultTable.directory, directory))
    .orderBy(asc(DefaultTable.updated_at))
    .all()
  const last = rows.at(-1)
  if (!last) return []
  const settings = Object.fromEntries(rows.map((row) => [row.key, row.value]))
  const [first = last] = rows
  return [
    {
      key: { level: "defaults" },
      settings,
      created_at: first.updated_at,
      updated_at: last.updated_at,
      updated_by: last.updated_by,
    },
  ]
}

const list = (db: BunSQLiteDatabase, directory: string): StoredPreference[] => [
  ...defaults(db, directory),
  ...db
    .select()
    .from(PreferenceTable)
    .where(eq(PreferenceTable.directory, directory))
    .orderBy(asc(PreferenceTable.level), asc(PreferenceTable.from_agent), asc(PreferenceTable.to_agent))
    .all()
    .map(({ level, from_agent, to_agent, settings, created_at, updated_at, updated_by }): StoredPreference => {
      const key: PreferenceKey =
        level === "pair" ? { level, from: from_agent, to: to_agent } : { level, subagent: to_agent }
      return { key, settings, created_at, updated_at, updated_by }
    }),
]

const settingsAt = (db: BunSQLiteDatabase, directory: string, key: PreferenceKey): Record<string, unknown> =>
  key.level === "defaults"
    ? (defaults(db, directory)[0]?.settings ?? {})
    : (db.select().from(PreferenceTable).where(at(directory, key)).get()?.settings ?? {})

/** As preferences, the way the files are. Another version may have left what this one does not know. */
function asPreferences(rows: readonly StoredPreference[]): PassOverPreferences {
  if (rows.length === 0) return {}
  const stored = {
    defaults: Object.assign({}, ...rows.flatMap((row) => (row.key.level === "defaults" ? [row.settings] : []))),
    pairs: Object.fromEntries(
      rows.flatMap((row) => (row.key.level === "pair" ? [[`${row.key.from}->${row.key.to}`, row.settings]] : [])),
    ),
    subagents: Object.fromEntries(
      rows.flatMap((row) => (row.key.level === "subagent" ? [[row.key.subagent, row.settings]] : [])),
    ),
  }
  const parsed = parse(stored, { wishes: true })
  if (parsed.ok) return parsed.preferences
  const [first] = parsed.problems
  throw new PassOverError(
    first?.code ?? PassOverErrorCode.CONFIG_INVALID,
    `The stored preferences of this project are not valid: ${parsed.problems.map(describeProblem).join("; ")}`,
    { suggestedAction: "Take what is stored away: pass-over config unset 'FROM->TO' --stored, or in the panel." },
  )
}

/** What is stored for a project, or a refusal that says what is wrong with it. */
export const storedPreferences = (db: BunSQLiteDatabase, directory: string) => asPreferences(list(db, directory))

const typeOf = (value: unknown): (typeof DefaultTable.$inferInsert)["type"] => {
  const type = typeof value
  return type === "boolean" || type === "number" || type === "string" ? type : "json"
}

/** Preferences that were set through us, kept for one project each. */
export function createPreferences({ db, write }: Base): PreferenceStore {
  const drop = (directory: string, key: PreferenceKey) =>
    key.level === "defaults"
      ? db.delete(DefaultTable).where(eq(DefaultTable.directory, directory)).returning().all().length > 0
      : db.delete(PreferenceTable).where(at(directory, key)).returning().all().length > 0

  // Read for every pass, and most projects have none stored.
  const any = once(() =>
    [PreferenceTable, DefaultTable].map((table) =>
      db
        .select({ directory: table.directory })
        .from(table)
        .where(eq(table.directory, sql.placeholder("directory")))
        .limit(1)
        .prepare(),
    ),
  )
  return {
    preferences: async (directory) =>
      any().some((statement) => statement.get({ directory })) ? storedPreferences(db, directory) : {},
    listPreferences: async (directory) => list(db, directory),

    putPreference: ({ directory, key, before, settings, actor, at: now }) =>
      write(() => {
        const was = settingsAt(db, directory, key)
        if (!isDeepStrictEqual(was, before)) return "stale"
        const stamp = { updated_at: now, updated_by: actor }
        if (key.level === "defaults") {
          const kept = Object.entries(was).filter(([name, value]) => isDeepStrictEqual(settings[name], value))
          for (const [name] of Object.entries(was)) {
            if (kept.some(([one]) => one === name)) continue
            db.delete(DefaultTable)
              .where(and(eq(DefaultTable.directory, directory), eq(DefaultTable.key, name)))
              .run()
          }
          const rows = Object.entries(settings)
            .filter(([name]) => !kept.some(([one]) => one === name))
            .map(([name, value]) => ({ directory, key: name, value, type: typeOf(value), ...stamp }))
          if (rows.length > 0) db.insert(DefaultTable).values(rows).run()
          return "written"
        }
        if (Object.keys(settings).length === 0) {
          drop(directory, key)
          return "written"
        }
        db.insert(PreferenceTable)
          .values({ directory, ...columns(key), settings, created_at: now, ...stamp })
          .onConflictDoUpdate({
            target: [
              PreferenceTable.directory,
              PreferenceTable.level,
              PreferenceTable.from_agent,
              PreferenceTable.to_agent,
            ],
            set: { settings, ...stamp },
          })
          .run()
        return "written"
      }),

    deletePreference: ({ directory, key }) => write(() => drop(directory, key)),
  }
}
