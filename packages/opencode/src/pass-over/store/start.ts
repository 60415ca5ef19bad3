import { and, asc, eq, inArray, isNull, sql, type SQL } from "drizzle-orm"
import type { OwnerID } from "../domain/id"
import type { StartOrder } from "../domain/start"
import type { StartStore } from "../service/port-start"
import { StartTable } from "./start.sql"
import type { Base } from "./statement"

const OPEN = inArray(StartTable.state, ["pending", "claimed"])
const named = (start_id: string) => eq(StartTable.start_id, start_id as StartOrder["start_id"])
const held = (owner_id: OwnerID | null) =>
  owner_id === null ? isNull(StartTable.owner_id) : eq(StartTable.owner_id, owner_id)

/** Orders to start a pass: written by whoever wants one, carried out by whoever has the project open. */
export function createStarts({ db, write }: Base): StartStore {
  /** Changes the one row that is still as the caller believes it to be. */
  const change = (start_id: string, owner_id: OwnerID | null, set: Partial<Omit<StartOrder, "ask">> & { ask?: SQL }) =>
    write(
      () =>
        db
          .update(StartTable)
          .set(set)
          .where(and(named(start_id), OPEN, held(owner_id)))
          .returning({ start_id: StartTable.start_id })
          .all().length === 1,
    )

  return {
    askStart: (order) =>
      write(() => {
        db.insert(StartTable).values(order).run()
      }),

    start: async (start_id) => db.select().from(StartTable).where(named(start_id)).get(),

    openStarts: async ({ directory }) =>
      db
        .select()
        .from(StartTable)
        .where(and(OPEN, directory === undefined ? undefined : eq(StartTable.directory, directory)))
        .orderBy(asc(StartTable.start_id))
        .all(),

    claimStart: ({ start_id, from, owner_id }) => change(start_id, from, { state: "claimed", owner_id }),

    placeStart: ({ start_id, owner_id, session_id }) => change(start_id, owner_id, { session_id }),

    // What was given for the pass lies with the pass from now on, as far as it went along.
    endStart: ({ start_id, owner_id, ...end }) =>
      change(start_id, owner_id, {
        state: "pass_over_id" in end ? "started" : "refused",
        ask: sql`json_remove(${StartTable.ask}, '$.given')`,
        ...end,
      }),
  }
}
