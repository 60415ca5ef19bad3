import { eq, getTableColumns } from "drizzle-orm"
import type { LiveStore } from "../service/port-live"
import { LiveTable } from "./live.sql"
import { ReturnContextTable } from "./pass-over.sql"
import { OPEN, type Base } from "./statement"

/** How far running passes are, for whoever looks on from another process. A pass that ends takes its row along. */
export function createLives({ db, run, soon }: Base): LiveStore {
  return {
    live: (row) => soon(() => run.insert.live(row)),

    lives: async () =>
      db
        .select(getTableColumns(LiveTable))
        .from(LiveTable)
        .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, LiveTable.pass_over_id))
        .where(OPEN)
        .all(),
  }
}
