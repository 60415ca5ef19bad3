import { and, asc, eq, gt, sql } from "drizzle-orm"
import { once } from "remeda"
import type { Store } from "../service/port"
import { AuditFileTable, AuditTable } from "./pass-over.sql"
import { toLine } from "./row"
import type { Base } from "./statement"

const at = sql.placeholder

// What a process that ended left unwritten is among the latest lines; nobody goes over a million of them at a start.
const RECENT = 5_000

const createStatements = (db: Base["db"]) => ({
  reached: db
    .select({ seq: AuditFileTable.seq })
    .from(AuditFileTable)
    .where(eq(AuditFileTable.session_id, at("session_id")))
    .prepare(),
  missing: db
    .select()
    .from(AuditTable)
    .where(and(eq(AuditTable.session_id, at("session_id")), gt(AuditTable.seq, at("reached"))))
    .orderBy(asc(AuditTable.seq))
    .prepare(),
  note: db
    .insert(AuditFileTable)
    .values({ session_id: sql`${at("session_id")}`, seq: sql`${at("seq")}`, time_updated: sql`${at("time_updated")}` })
    .onConflictDoUpdate({
      target: AuditFileTable.session_id,
      set: { seq: sql`excluded.seq`, time_updated: sql`excluded.time_updated` },
    })
    .prepare(),
})

/** Brings log files up to date with the audit table. */
export function createLog({ db, soon, toDisk }: Base): Pick<Store, "flushAudit" | "unwritten"> {
  const statements = once(() => createStatements(db))
  return {
    // The append happens under the write lock, so that two processes never write the same lines. If it fails, nothing is
    // recorded; if the process dies after it, the file itself knows which lines it holds.
    flushAudit: (session_ids, append) =>
      soon(() => {
        const { reached, missing, note } = statements()
        const lines = session_ids.map((session_id) =>
          missing.all({ session_id, reached: reached.get({ session_id })?.seq ?? 0 }).map(toLine),
        )
        if (lines.every(({ length }) => length === 0)) return
        // A line that is in a file and not in the database after a power cut would have its number given away again.
        toDisk()
        append(lines.flat())
        for (const last of lines.flatMap((one) => one.at(-1) ?? []))
          note.run({ session_id: last.session_id, seq: last.seq, time_updated: last.timestamp })
      }),

    unwritten: async (directory) =>
      db
        .select({ session_id: AuditTable.session_id })
        .from(AuditTable)
        .leftJoin(AuditFileTable, eq(AuditFileTable.session_id, AuditTable.session_id))
        .where(
          and(
            eq(AuditTable.directory, directory),
            sql`${AuditTable.id} > (select max(id) from ${AuditTable}) - ${RECENT}`,
          ),
        )
        .groupBy(AuditTable.session_id)
        .having(sql`max(${AuditTable.seq}) > coalesce(max(${AuditFileTable.seq}), 0)`)
        .all()
        .map(({ session_id }) => session_id),
  }
}
