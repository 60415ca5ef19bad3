import { desc, eq, like, or } from "drizzle-orm"
import type { LookupStore } from "../service/port-lookup"
import { PassOverRequestTable, ReturnContextTable } from "./pass-over.sql"
import { toPass } from "./row"
import type { Base } from "./statement"

/** People write a part of an id; it is looked for in all of them, so this is not for opencode's event loop. */
export function createLookup({ db }: Base): LookupStore {
  return {
    lookup: async (text, limit) => {
      const part = text.toLowerCase().replaceAll(/[^0-9a-f-]/g, "")
      if (part === "" || part !== text.toLowerCase()) return []
      return db
        .select()
        .from(PassOverRequestTable)
        .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, PassOverRequestTable.id))
        .where(or(like(PassOverRequestTable.id, `${part}%`), like(PassOverRequestTable.id, `%${part}`)))
        .orderBy(desc(PassOverRequestTable.id))
        .limit(limit)
        .all()
        .map((row) => toPass(row.pass_over_requests, row.return_contexts))
    },
  }
}
