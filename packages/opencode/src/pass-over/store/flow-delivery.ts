import { and, asc, eq, isNull, ne, sql } from "drizzle-orm"
import { once } from "remeda"
import type { FlowDelivery, FlowEnd, FlowStore } from "../service/port-flow"
import { FlowDeliveryTable } from "./flow.sql"
import type { Base } from "./statement"

type Deliveries = Pick<FlowStore, "flowDeliveries" | "takeFlowDelivery" | "flowDelivered" | "redirectFlow">

const T = FlowDeliveryTable

const only = ({ run_id, seq }: Pick<FlowDelivery, "run_id" | "seq">) => and(eq(T.run_id, run_id), eq(T.seq, seq))

// In the very words of the index, or it is not used.
const WAITING = sql`${T.status} <> 'delivered' and ${T.mode} <> 'none'`

/** What the entry that ends a run leaves for its session; part of the transaction that writes the entry. */
export function noteEnd({ db }: Base, of: { run_id: string; seq: number; at: number; end: FlowEnd }) {
  const { run_id, seq, at, end } = of
  db.insert(T)
    .values({
      ...end,
      run_id: run_id as FlowDelivery["run_id"],
      seq,
      status: "pending",
      message_id: null,
      time_created: at,
    })
    .run()
}

/** How the ends of runs reach their sessions, each once. */
export function createFlowDeliveries({ db, write }: Base): Deliveries {
  // Asked at every end of a pass, and nearly always nothing waits: that has to cost nothing.
  const any = once(() => db.select({ seq: T.seq }).from(T).where(WAITING).limit(1).prepare())
  return {
    flowDeliveries: async ({ directory, session_id, run_id }) => {
      if (any().get() === undefined) return []
      return db
        .select()
        .from(T)
        .where(
          and(
            WAITING,
            directory === undefined ? undefined : eq(T.directory, directory),
            session_id === undefined ? undefined : eq(T.session_id, session_id),
            run_id === undefined ? undefined : eq(T.run_id, run_id as FlowDelivery["run_id"]),
          ),
        )
        .orderBy(asc(T.time_created))
        .all()
        .map(({ time_created: _created, time_delivered: _delivered, ...delivery }) => delivery)
    },

    // Compare-and-set on what the taker has seen: of two that bring the same end, one is told that it is not theirs.
    takeFlowDelivery: ({ from, owner_id, message_id }) =>
      write(
        () =>
          db
            .update(T)
            .set({ status: "sending", owner_id, message_id })
            .where(
              and(
                only(from),
                eq(T.mode, from.mode),
                eq(T.status, from.status),
                eq(T.owner_id, from.owner_id),
                from.message_id === null ? isNull(T.message_id) : eq(T.message_id, from.message_id),
              ),
            )
            .returning({ seq: T.seq })
            .all().length === 1,
      ),

    flowDelivered: ({ of, message_id, at }) =>
      write(
        () =>
          db
            .update(T)
            .set({ status: "delivered", message_id, time_delivered: at })
            .where(and(only(of), ne(T.status, "delivered")))
            .returning({ seq: T.seq })
            .all().length === 1,
      ),

    redirectFlow: ({ of, mode }) =>
      write(
        () =>
          db
            .update(T)
            .set({ mode })
            .where(and(only(of), ne(T.status, "delivered")))
            .returning({ seq: T.seq })
            .all().length === 1,
      ),
  }
}
