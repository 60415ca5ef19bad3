import { eq, getTableColumns } from "drizzle-orm"
import type { LiveStore } from "../service/port-live"
import { LiveTable } from "./live.sql"
import { ReturnContextTable } from "./pass-over.sql"
import { OPEN, type Base } from "./statement"

/** How far running passes are, for whoever looks on from another process. */
export function createLives({ db, write }: Base): LiveStore {
  return {
    live: (row) =>
      write(() => {
        const { pass_over_id: _id, ...rest } = row
        db.insert(LiveTable).values(row).onConflictDoUpdate({ target: LiveTable.pass_over_id, set: rest }).run()
      }),

    lives: async () =>
      db
        .select(getTableColumns(LiveTable))
        .from(LiveTable)
        .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, LiveTable.pass_over_id))
        .where(OPEN)
        .all(),

    unlive: (pass_over_id) =>
      write(() => {
        db.delete(LiveTable).where(eq(LiveTable.pass_over_id, pass_over_id)).run()
      }),
  }
}
