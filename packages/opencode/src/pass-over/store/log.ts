import { and, asc, eq, gt } from "drizzle-orm"
import type { Store } from "../service/port"
import { AuditFileTable, AuditTable } from "./pass-over.sql"
import { toLine } from "./row"
import type { Base } from "./statement"

/** Brings log files up to date with the audit table. */
export function createLog({ db, write }: Base): Pick<Store, "flushAudit"> {
  return {
    // The append happens under the write lock, so that two processes never write the same lines. If it fails, nothing is
    // recorded; if the process dies after it, the file itself knows which lines it holds.
    flushAudit: (session_id, append) =>
      write(() => {
        const reached =
          db.select().from(AuditFileTable).where(eq(AuditFileTable.session_id, session_id)).get()?.seq ?? 0
        const lines = db
          .select()
          .from(AuditTable)
          .where(and(eq(AuditTable.session_id, session_id), gt(AuditTable.seq, reached)))
          .orderBy(asc(AuditTable.seq))
          .all()
          .map(toLine)
        const last = lines.at(-1)
        if (!last) return
        append(lines)
        const now = { seq: last.seq, time_updated: last.timestamp }
        db.insert(AuditFileTable)
          .values({ session_id, ...now })
          .onConflictDoUpdate({ target: AuditFileTable.session_id, set: now })
          .run()
      }),
  }
}
