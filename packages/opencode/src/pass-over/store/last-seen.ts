import { and, eq, inArray, sql } from "drizzle-orm"
import type { OwnerID, PassID } from "../domain/id"
import type { LastSeen, Wait } from "../domain/last-seen"
import type { Pass, PassEvent } from "../domain/pass"
import { GateTable } from "./gate.sql"
import { LiveTable } from "./live.sql"
import { EventTable, OwnerTable } from "./pass-over.sql"
import type { Base } from "./statement"

type Left = Pick<Pass, "id" | "time_started">

// What a child itself is behind; a person may answer, and others may write to it, when it is long gone.
const ITS_OWN: PassEvent["type"][] = ["pass.dispatched", "pass.attempt", "pass.artifact", "pass.said", "pass.staged"]

const latest = (...types: PassEvent["type"][]) =>
  sql<number | null>`max(case when ${inArray(EventTable.type, types)} then ${EventTable.at} end)`

const eventsOf = ({ db }: Base, ids: readonly PassID[]) =>
  db
    .select({
      id: EventTable.pass_over_id,
      at: latest(...ITS_OWN),
      staged_at: latest("pass.staged"),
      queued_at: sql<number | null>`min(case when ${EventTable.type} = 'pass.queued' then ${EventTable.at} end)`,
    })
    .from(EventTable)
    .where(inArray(EventTable.pass_over_id, [...ids]))
    .groupBy(EventTable.pass_over_id)
    .all()

/** Questions that hold a pass up while they are open. Whether its result may go on is asked when it is over. */
const askedOf = ({ db }: Base, ids: readonly PassID[]) =>
  db
    .select({ id: GateTable.pass_over_id, from: GateTable.time_created, to: GateTable.time_answered })
    .from(GateTable)
    .where(
      and(
        inArray(GateTable.pass_over_id, [...ids]),
        inArray(GateTable.kind, ["confirmation", "question", "escalation"]),
      ),
    )
    .all()

const byId = <T extends { id: string }>(rows: readonly T[]) => new Map<string, T>(rows.map((row) => [row.id, row]))

const some = (...times: (number | null | undefined)[]) => {
  const known = times.filter((time) => typeof time === "number")
  return known.length > 0 ? Math.max(...known) : null
}

/** What is known of passes of an owner that is gone. */
export function lastSeen(base: Base, owner_id: OwnerID, passes: readonly Left[]): Map<PassID, LastSeen> {
  const { db } = base
  const ids = passes.map(({ id }) => id)
  const owner = db.select().from(OwnerTable).where(eq(OwnerTable.owner_id, owner_id)).get()
  const lives = db
    .select({ id: LiveTable.pass_over_id, at: LiveTable.time_updated, waits: LiveTable.waits })
    .from(LiveTable)
    .where(inArray(LiveTable.pass_over_id, [...ids]))
    .all()
  const [live, events] = [byId(lives), byId(eventsOf(base, ids))]
  const asked = Map.groupBy(askedOf(base, ids), ({ id }) => id)
  const seen = ({ id, time_started }: Left): LastSeen => {
    const [row, told] = [live.get(id), events.get(id)]
    const waits: Wait[] = (asked.get(id) ?? []).map(({ from, to }) => ({ from, to }))
    if (told?.queued_at) waits.push({ from: told.queued_at, to: time_started })
    // A question of the host is written down nowhere else.
    if (row && row.waits > 0 && row.at >= (told?.at ?? 0)) waits.push({ from: row.at, to: null })
    return { at: some(told?.at, row?.at, owner?.time_heartbeat), staged_at: told?.staged_at ?? null, waits }
  }
  return new Map(passes.map((pass) => [pass.id, seen(pass)]))
}
