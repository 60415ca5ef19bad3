import { and, asc, eq, gt, ne } from "drizzle-orm"
import { drizzle, type BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import type { Store } from "../service/port"
import type { Opened } from "./open"
import { commitMove, createPasses } from "./pass"
import { AuditFileTable, AuditTable, DeliveryTable, OwnerTable } from "./pass-over.sql"
import { createReads } from "./read"
import { toLine } from "./row"
import { createWriter, storeError, type Writer } from "./write"

function createRest(db: BunSQLiteDatabase, write: Writer): Pick<Store, "delivered" | "flushAudit" | "enter" | "beat"> {
  return {
    delivered: ({ pass_over_id, message_id, at, commit }) =>
      write(() => {
        const rows = db
          .update(DeliveryTable)
          .set({ status: "delivered", message_id, time_delivered: at })
          .where(and(eq(DeliveryTable.pass_over_id, pass_over_id), ne(DeliveryTable.status, "delivered")))
          .returning({ id: DeliveryTable.pass_over_id })
          .all()
        if (rows.length === 1 && commit) commitMove(db, commit)
        return rows.length === 1
      }),

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
        db.insert(AuditFileTable)
          .values({ session_id, seq: last.seq, time_updated: last.timestamp })
          .onConflictDoUpdate({
            target: AuditFileTable.session_id,
            set: { seq: last.seq, time_updated: last.timestamp },
          })
          .run()
      }),

    enter: (owner, at) =>
      write(() => {
        db.insert(OwnerTable)
          .values({ ...owner, time_started: at, time_heartbeat: at })
          .onConflictDoNothing()
          .run()
      }),

    beat: (owner_id, at) =>
      write(() => {
        db.update(OwnerTable).set({ time_heartbeat: at }).where(eq(OwnerTable.owner_id, owner_id)).run()
      }),
  }
}

/** The store over a database that could be opened. */
export function createStore(opened: Extract<Opened, { ok: true }>, path: string): Store {
  const db = drizzle({ client: opened.client })
  const write = createWriter(opened.client, path)
  const store = { ...createPasses(db, write), ...createReads(db), ...createRest(db, write) }
  return { ...guarded(store, path), close: () => opened.client.close() }
}

// Reads meet broken disks too; whatever comes out of the store is either ours or a PassOverError with a sentence.
function guarded<T extends Record<string, (...args: never[]) => Promise<unknown>>>(methods: T, path: string): T {
  const wrap =
    (method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      try {
        return await method(...args)
      } catch (error) {
        throw storeError(error, path)
      }
    }
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, wrap(method)])) as T
}
