import { desc, eq } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import { canonical, GENESIS } from "../domain/audit-log"
import type { AuditNote, PassEvent } from "../domain/pass"
import { AuditTable, EventTable } from "./pass-over.sql"
import { storable } from "./row"

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

/**
 * Writes down what happened: the audit line at the end of its session's chain, and the event. Only ever called inside
 * the transaction that makes it happen, so that neither can exist without the other.
 */
export function record(db: BunSQLiteDatabase, note: AuditNote, event: PassEvent) {
  const entry = storable(note)
  const last = db
    .select({ seq: AuditTable.seq, hash: AuditTable.hash })
    .from(AuditTable)
    .where(eq(AuditTable.session_id, entry.session_id))
    .orderBy(desc(AuditTable.seq))
    .limit(1)
    .get()
  const line = { ...entry, seq: (last?.seq ?? 0) + 1 }
  const prev = last?.hash ?? GENESIS
  db.insert(AuditTable)
    .values({ ...line, directory: event.directory, prev, hash: sha256(canonical(line, prev)) })
    .run()
  announce(db, event)
}

export function announce(db: BunSQLiteDatabase, event: PassEvent) {
  db.insert(EventTable).values(event).run()
}
