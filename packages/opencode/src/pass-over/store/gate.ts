import { and, asc, eq, gt, inArray, isNull, lte } from "drizzle-orm"
import { statusAfter, type Gate } from "../domain/gate"
import type { Answering, GateFilter, GateStore } from "../service/port-gate"
import { GateTable } from "./gate.sql"
import { announce, record } from "./record"
import type { Base, Statements } from "./statement"

const PENDING = eq(GateTable.status, "pending")

function matching(filter: GateFilter) {
  return and(
    filter.directory === undefined ? undefined : eq(GateTable.directory, filter.directory),
    filter.session_id === undefined ? undefined : eq(GateTable.session_id, filter.session_id),
    filter.pass_over_id === undefined ? undefined : eq(GateTable.pass_over_id, filter.pass_over_id),
    filter.run_id === undefined ? undefined : eq(GateTable.run_id, filter.run_id),
    filter.kind === undefined ? undefined : eq(GateTable.kind, filter.kind),
    filter.status === undefined ? undefined : inArray(GateTable.status, [...filter.status]),
    filter.unacted ? isNull(GateTable.time_acted) : undefined,
    filter.after === undefined ? undefined : gt(GateTable.gate_id, filter.after),
  )
}

type Kept = Pick<Parameters<GateStore["ask"]>[0], "note" | "event">

const keep = (run: Statements, { note, event }: Kept) => (note ? record(run, note, event) : announce(run, event))

const one = (db: Base["db"], gate_id: string): Gate | undefined =>
  db.select().from(GateTable).where(eq(GateTable.gate_id, gate_id)).get()

function answer({ db, run }: Base, { gate_id, answer: given, at, ...kept }: Answering) {
  const rows = db
    .update(GateTable)
    .set({
      status: statusAfter(given.verdict),
      note: given.note,
      answered_by: given.by,
      surface: given.surface,
      time_answered: at,
    })
    .where(and(eq(GateTable.gate_id, gate_id), PENDING))
    .returning({ id: GateTable.gate_id })
    .all()
  const first = rows.length === 1
  if (first) keep(run, kept)
  return { first, gate: one(db, gate_id) }
}

/** What a run goes on without; part of the transaction that writes down that it does. */
export function withdrawKeys({ db }: Base, keys: readonly string[], at: number) {
  db.update(GateTable)
    .set({ status: "withdrawn", time_answered: at })
    .where(and(PENDING, inArray(GateTable.key, [...keys])))
    .run()
}

export function createGates(base: Base): GateStore {
  const { db, run, write } = base
  return {
    ask: ({ gate, event, note }) =>
      write(() => {
        const known = db.select().from(GateTable).where(eq(GateTable.key, gate.key)).get()
        if (known) return { gate: known, created: false }
        db.insert(GateTable).values(gate).run()
        keep(run, { event, ...(note ? { note } : {}) })
        return { gate, created: true }
      }),

    gate: async (gate_id) => one(db, gate_id),

    gates: async (filter) =>
      db
        .select()
        .from(GateTable)
        .where(matching(filter))
        .orderBy(asc(GateTable.gate_id))
        .limit(filter.limit ?? 200)
        .all(),

    answerGate: (input) => write(() => answer(base, input)),

    overdue: async (at) =>
      db
        .select()
        .from(GateTable)
        .where(and(PENDING, lte(GateTable.time_expires, at)))
        .all(),

    actOn: (gate_id, at) =>
      write(
        () =>
          db
            .update(GateTable)
            .set({ time_acted: at })
            .where(and(eq(GateTable.gate_id, gate_id), isNull(GateTable.time_acted)))
            .returning({ id: GateTable.gate_id })
            .all().length === 1,
      ),

    withdraw: ({ gate_id, at }) =>
      write(() => {
        db.update(GateTable)
          .set({ status: "withdrawn", time_answered: at })
          .where(and(PENDING, eq(GateTable.gate_id, gate_id)))
          .run()
      }),
  }
}
