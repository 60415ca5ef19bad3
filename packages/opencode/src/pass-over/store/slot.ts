import { and, eq, getTableColumns, ne, sql } from "drizzle-orm"
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite"
import { beyond, spent, type Over, type Used } from "../domain/budget"
import type { PassID } from "../domain/id"
import type { Pass } from "../domain/pass"
import { admitted, placeOf, providerOf, type Slot } from "../domain/queue"
import { totalTokens, type Usage } from "../domain/run"
import type { Place, SlotRequest, SlotStore } from "../service/port-slot"
import { ProviderTable, SlotTable } from "./slot.sql"
import { direct, insertInto, type Drizzled } from "./direct"
import type { Base } from "./statement"

const at = sql.placeholder

/** Allowed passes of a provider come back one by one after it has had its rest. */
const RISE_MS = 30_000

function open(db: BunSQLiteDatabase): Slot[] {
  const {
    trace_id: _t,
    reserved_tokens: _r,
    reserved_cost: _c,
    tokens: _u,
    cost: _k,
    ...columns
  } = getTableColumns(SlotTable)
  return db.select(columns).from(SlotTable).where(ne(SlotTable.state, "ended")).all() as Slot[]
}

// Written as the index has it, so that the few open rows are found among many ended ones.
const OPEN = sql`${SlotTable.state} <> 'ended'`

export function createSlotStatements(db: Drizzled) {
  const tree = direct<Used>(
    db,
    db
      .select({
        passes: sql<number>`count(*)`.as("passes"),
        tokens:
          sql<number>`coalesce(sum(case when ${OPEN} then max(${SlotTable.tokens}, ${SlotTable.reserved_tokens}) else ${SlotTable.tokens} end), 0)`.as(
            "tokens",
          ),
        cost: sql<number>`coalesce(sum(case when ${OPEN} then max(${SlotTable.cost}, ${SlotTable.reserved_cost}) else ${SlotTable.cost} end), 0)`.as(
          "cost",
        ),
      })
      .from(SlotTable)
      .where(eq(SlotTable.trace_id, at("trace_id"))),
  )
  const running = direct<{ count: number }>(
    db,
    db
      .select({ count: sql<number>`count(*)`.as("count") })
      .from(SlotTable)
      .where(OPEN),
  )
  const end = direct(
    db,
    db
      .update(SlotTable)
      .set({ state: "ended", tokens: sql`${at("tokens")}`, cost: sql`${at("cost")}` })
      .where(eq(SlotTable.pass_over_id, at("id"))),
  )
  const providers = direct<typeof ProviderTable.$inferSelect>(db, db.select().from(ProviderTable))
  return { insert: insertInto(db, SlotTable), tree, running, end, providers }
}

export type SlotStatements = ReturnType<typeof createSlotStatements>

const NOTHING: Used = { passes: 0, tokens: 0, cost: 0 }

function cooling({ providers }: SlotStatements, now: number): Map<string, number> {
  const rows = providers.all({})
  return new Map(
    rows.map(({ provider, allowed, time_until }) => [
      provider,
      now < time_until ? allowed : allowed + 1 + Math.floor((now - time_until) / RISE_MS),
    ]),
  )
}

/** Takes a part of the tree's budget and a place for a new pass, inside the transaction that opens it. */
export function enter(base: Pick<Base, "db" | "slots">, pass: Pass, wanted: SlotRequest): Place | { over: Over } {
  const { slots } = base
  const used = slots.tree.get({ trace_id: pass.trace_id }) ?? NOTHING
  const over = beyond(wanted.limits.tree, used, wanted.reserve)
  if (over) return { over }
  const { limits } = wanted
  // While there is room for everybody nobody has to be counted one by one.
  const few =
    (slots.running.get({})?.count ?? 0) <
    Math.min(limits.running, limits.running_per_subagent, limits.running_per_model)
  const free = few && cooling(slots, pass.time_created).size === 0
  slots.insert({
    pass_over_id: pass.id,
    trace_id: pass.trace_id,
    parent_pass_id: pass.parent_pass_id,
    root_session_id: pass.root_session_id,
    wait: pass.wait,
    subagent: pass.subagent_id,
    model: pass.model,
    priority: pass.priority,
    state: wanted.waiting ? "waiting" : free ? "running" : "queued",
    reserved_tokens: wanted.reserve.tokens,
    reserved_cost: wanted.reserve.cost,
    tokens: 0,
    cost: 0,
    time_created: pass.time_created,
  })
  if (wanted.waiting) return { state: "queued", place: 0 }
  return free ? { state: "running" } : take(base, pass.id, wanted.limits, pass.time_created)
}

function take(
  { db, slots: statements }: Pick<Base, "db" | "slots">,
  id: PassID,
  limits: SlotRequest["limits"],
  now: number,
): Place {
  const slots = open(db).map((slot): Slot =>
    slot.pass_over_id === id && slot.state === "waiting" ? { ...slot, state: "queued" } : slot,
  )
  const state = admitted(slots, { limits, now, cooling: cooling(statements, now) }).includes(id) ? "running" : "queued"
  db.update(SlotTable).set({ state }).where(eq(SlotTable.pass_over_id, id)).run()
  return state === "running" ? { state } : { state, place: placeOf(slots, id, now) }
}

/** Gives a place back and writes down what it cost, inside the transaction that ends the pass. */
export const leaveSlot = ({ end }: SlotStatements, id: PassID, usage: Usage) =>
  end.run({ id, tokens: totalTokens(usage), cost: usage.cost })

export function createSlots({ db, slots, write }: Base): SlotStore {
  return {
    takeSlot: ({ pass_over_id, limits, now }) =>
      write(() => {
        const row = db.select().from(SlotTable).where(eq(SlotTable.pass_over_id, pass_over_id)).get()
        if (!row || row.state === "ended") return "gone"
        if (row.state === "running") return { state: "running" }
        return take({ db, slots }, pass_over_id, limits, now)
      }),

    spend: ({ pass_over_id, tokens, cost, tree }) =>
      write(() => {
        const [row] = db
          .update(SlotTable)
          .set({ tokens, cost })
          .where(and(eq(SlotTable.pass_over_id, pass_over_id), ne(SlotTable.state, "ended")))
          .returning({ trace_id: SlotTable.trace_id })
          .all()
        return row && spent(tree, slots.tree.get({ trace_id: row.trace_id }) ?? NOTHING)
      }),

    used: async (trace_id) => slots.tree.get({ trace_id }) ?? NOTHING,

    line: async (now) => ({ slots: open(db), cooling: cooling(slots, now) }),

    cool: ({ provider, until, now }) =>
      write(() => {
        const running = open(db).filter(
          (slot) => slot.state === "running" && providerOf(slot.model) === provider,
        ).length
        const known = cooling(slots, now).get(provider)
        const allowed = Math.max(1, Math.floor(Math.min(running, known ?? running) / 2))
        db.insert(ProviderTable)
          .values({ provider, allowed, time_until: until })
          .onConflictDoUpdate({ target: ProviderTable.provider, set: { allowed, time_until: until } })
          .run()
        return allowed
      }),
  }
}
