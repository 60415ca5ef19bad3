import { and, asc, eq, ne, notInArray, sql } from "drizzle-orm"
import { once } from "remeda"
import type { PassID } from "../domain/id"
import type { Delivered, Delivery, Store } from "../service/port"
import { direct } from "./direct"
import { applyMove } from "./pass"
import { DeliveryTable, PassOverRequestTable, ReturnContextTable } from "./pass-over.sql"
import { toPass } from "./row"
import type { Base, Row } from "./statement"

type Deliveries = Pick<
  Store,
  "delivered" | "delivery" | "deliveries" | "held" | "undelivered" | "take" | "release" | "redirect"
>

const toDelivery = ({
  time_created: _created,
  time_delivered: _delivered,
  ...delivery
}: Row<typeof DeliveryTable>): Delivery => delivery

// In words and not as values: so SQLite sees that its index of what has not arrived is enough.
const WAITING = and(sql`${DeliveryTable.status} <> 'delivered'`, sql`${DeliveryTable.mode} <> 'none'`)

// Compare-and-set on what the taker has seen: of two that bring the same result, one is told that it is not theirs.
function take(db: Base["db"], { pass_over_id, owner_id, from, message_id }: Parameters<Store["take"]>[0]) {
  const row = db.select().from(DeliveryTable).where(eq(DeliveryTable.pass_over_id, pass_over_id)).get()
  if (!row || row.status !== from.status || row.owner_id !== from.owner_id || row.message_id !== from.message_id) {
    return false
  }
  db.update(DeliveryTable)
    .set({ status: "sending", owner_id, message_id })
    .where(eq(DeliveryTable.pass_over_id, pass_over_id))
    .run()
  return true
}

const at = sql.placeholder

const createStatements = (db: Base["db"]) => ({
  delivered: direct(
    db,
    db
      .update(DeliveryTable)
      .set({ status: "delivered", message_id: sql`${at("message_id")}`, time_delivered: sql`${at("at")}` })
      // What a person holds back has not reached anybody, whoever says so.
      .where(
        and(
          eq(DeliveryTable.pass_over_id, at("pass_over_id")),
          notInArray(DeliveryTable.status, ["delivered", "held"]),
        ),
      )
      .returning({ id: DeliveryTable.pass_over_id }),
  ),
  // Looked for over and over: by the index of what has not arrived, which is nearly nothing.
  held: direct<{ id: PassID }>(
    db,
    db
      .select({ id: sql<PassID>`${DeliveryTable.pass_over_id}`.as("id") })
      .from(DeliveryTable)
      .where(and(WAITING, eq(DeliveryTable.status, "held"))),
  ),
  waiting: db
    .select()
    .from(DeliveryTable)
    .where(and(eq(DeliveryTable.session_id, at("session_id")), WAITING))
    .orderBy(asc(DeliveryTable.time_created))
    .prepare(),
})

/** How results reach the sessions that asked for them, each once. */
export function createDeliveries({ db, run, write, soon }: Base): Deliveries {
  const statements = once(() => createStatements(db))

  /** Whether it was the first to arrive. */
  function arrive({ pass_over_id, message_id, at, commit }: Delivered): boolean {
    const first = statements().delivered.all({ pass_over_id, message_id, at }).length === 1
    if (first && commit) applyMove(run, commit)
    return first
  }

  return {
    // Whether it arrived can be seen in the session.
    delivered: (inputs) => soon(() => inputs.filter((input) => arrive(input)).map(({ pass_over_id }) => pass_over_id)),

    delivery: async (pass_over_id) => {
      const row = run.select.delivery.get({ id: pass_over_id })
      return row && toDelivery(row)
    },

    deliveries: async (session_id) => statements().waiting.all({ session_id }).map(toDelivery),

    held: async (directory) =>
      statements()
        .held.all({})
        .flatMap(({ id }) => run.pass.byId({ id }) ?? [])
        .filter((pass) => pass.directory === directory),

    undelivered: async (directory) =>
      db
        .select()
        .from(DeliveryTable)
        .innerJoin(PassOverRequestTable, eq(PassOverRequestTable.id, DeliveryTable.pass_over_id))
        .innerJoin(ReturnContextTable, eq(ReturnContextTable.pass_over_id, DeliveryTable.pass_over_id))
        .where(and(eq(PassOverRequestTable.directory, directory), WAITING))
        .orderBy(asc(DeliveryTable.time_created))
        .all()
        .map((row) => ({
          pass: toPass(row.pass_over_requests, row.return_contexts),
          delivery: toDelivery(row.pass_over_deliveries),
        })),

    take: (input) => write(() => take(db, input)),

    release: (pass_over_id) =>
      write(
        () =>
          db
            .update(DeliveryTable)
            .set({ status: "pending", mode: "message" })
            .where(and(eq(DeliveryTable.pass_over_id, pass_over_id), eq(DeliveryTable.status, "held")))
            .returning({ id: DeliveryTable.pass_over_id })
            .all().length === 1,
      ),

    redirect: ({ pass_over_id, mode }) =>
      write(
        () =>
          db
            .update(DeliveryTable)
            .set({ mode })
            .where(and(eq(DeliveryTable.pass_over_id, pass_over_id), ne(DeliveryTable.status, "delivered")))
            .returning({ id: DeliveryTable.pass_over_id })
            .all().length === 1,
      ),
  }
}
