import { and, asc, desc, eq, inArray, lt, notInArray, sql } from "drizzle-orm"
import { once } from "remeda"
import type { FlowFilter, FlowRun, FlowStore } from "../service/port-flow"
import { createFlowDeliveries, noteEnd } from "./flow-delivery"
import { FlowCommandTable, FlowEntryTable, FlowRunTable, ResultCacheTable } from "./flow.sql"
import { withdrawKeys } from "./gate"
import { announce } from "./record"
import type { Base } from "./statement"

const ENDED: FlowRun["status"][] = ["completed", "stopped", "cancelled"]

const at = sql.placeholder

/** What happens at every step, built once. */
function statements({ db }: Base) {
  const moved = db
    .update(FlowRunTable)
    .set({
      seq: sql`${at("seq")}`,
      status: sql`${at("status")}`,
      reason: sql`${at("reason")}`,
      time_ended: sql`${at("time_ended")}`,
    })
    .where(
      and(
        eq(FlowRunTable.run_id, at("run_id")),
        eq(FlowRunTable.fence, at("fence")),
        eq(FlowRunTable.seq, at("before")),
      ),
    )
    .returning({ run_id: FlowRunTable.run_id })
    .prepare()
  const entry = db
    .insert(FlowEntryTable)
    .values({ run_id: at("run_id"), seq: at("seq"), at: at("at"), input: sql`${at("input")}` })
    .prepare()
  return { moved, entry }
}

function matching(filter: FlowFilter) {
  return and(
    filter.directory === undefined ? undefined : eq(FlowRunTable.directory, filter.directory),
    filter.session_id === undefined ? undefined : eq(FlowRunTable.session_id, filter.session_id),
    filter.owner_id === undefined ? undefined : eq(FlowRunTable.owner_id, filter.owner_id),
    filter.status === undefined ? undefined : inArray(FlowRunTable.status, [...filter.status]),
    filter.flow === undefined ? undefined : eq(FlowRunTable.flow, filter.flow),
    filter.after === undefined ? undefined : lt(FlowRunTable.run_id, filter.after as FlowRun["run_id"]),
  )
}

/** Whether the numbers of a run's handoffs are another's, which keeps its own in the same place. */
function numbered({ db }: Base, { directory, session_id, plan }: FlowRun): boolean {
  // Who has no session yet is given one of its own.
  if (plan.archive === null || session_id === "") return false
  const other = db
    .select({ run_id: FlowRunTable.run_id })
    .from(FlowRunTable)
    .where(
      and(
        eq(FlowRunTable.directory, directory),
        eq(FlowRunTable.session_id, session_id),
        sql`${FlowRunTable.plan} ->> '$.first_handoff' = ${plan.first_handoff}`,
        sql`${FlowRunTable.plan} ->> '$.archive' = ${plan.archive}`,
      ),
    )
    .limit(1)
  return other.get() !== undefined
}

type Reads = Pick<FlowStore, "run" | "starter" | "runs" | "openRuns" | "entries">
type Runs = Pick<FlowStore, "startRun" | "journal" | "claimRun" | "houseRun">

const oneRun = ({ db }: Base, run_id: string): FlowRun | undefined =>
  db
    .select()
    .from(FlowRunTable)
    .where(eq(FlowRunTable.run_id, run_id as FlowRun["run_id"]))
    .get()

/** Adds the next entry of a run, and what follows from it. */
function journaling(base: Base) {
  const { moved, entry } = statements(base)
  return ({
    run_id,
    fence,
    entry: next,
    status,
    reason,
    event,
    end,
    withdraw = [],
  }: Parameters<FlowStore["journal"]>[0]) => {
    const { seq, at: when, input } = next
    const time_ended = ENDED.includes(status) ? when : null
    if (moved.all({ run_id, fence, before: seq - 1, seq, status, reason, time_ended }).length === 0) return "stale"
    entry.run({ run_id, seq, at: when, input: JSON.stringify(input) })
    if (withdraw.length > 0) withdrawKeys(base, withdraw, when)
    if (end) noteEnd(base, { run_id, seq, at: when, end })
    announce(base.run, event)
    return "written"
  }
}

function createReads(base: Base): Reads {
  const { db } = base
  // Who uses no flows does not pay for them.
  const any = once(() => db.select({ run_id: FlowRunTable.run_id }).from(FlowRunTable).limit(1).prepare())
  return {
    run: async (run_id) => oneRun(base, run_id),
    starter: async (run_id) =>
      db
        .select({ starter: FlowRunTable.starter })
        .from(FlowRunTable)
        .where(eq(FlowRunTable.run_id, run_id as FlowRun["run_id"]))
        .get()?.starter,

    runs: async (filter) => {
      if (any().get() === undefined) return []
      return db
        .select()
        .from(FlowRunTable)
        .where(matching(filter))
        .orderBy(desc(FlowRunTable.run_id))
        .limit(filter.limit ?? 200)
        .all()
    },

    openRuns: async (directory) => {
      if (any().get() === undefined) return []
      return db
        .select({ run_id: FlowRunTable.run_id })
        .from(FlowRunTable)
        .where(and(eq(FlowRunTable.directory, directory), notInArray(FlowRunTable.status, ENDED)))
        .orderBy(asc(FlowRunTable.run_id))
        .all()
        .map(({ run_id }) => run_id)
    },

    entries: async (run_id) =>
      db
        .select({ seq: FlowEntryTable.seq, at: FlowEntryTable.at, input: FlowEntryTable.input })
        .from(FlowEntryTable)
        .where(eq(FlowEntryTable.run_id, run_id))
        .orderBy(asc(FlowEntryTable.seq))
        .all(),
  }
}

function createRuns(base: Base): Runs {
  const { db, run, write } = base
  const add = journaling(base)
  return {
    startRun: (input) =>
      write(() => {
        if (numbered(base, input.run)) return false
        db.insert(FlowRunTable).values(input.run).run()
        db.insert(FlowEntryTable)
          .values({ run_id: input.run.run_id, ...input.entry })
          .run()
        announce(run, input.event)
        return true
      }),

    journal: (input) => write(() => add(input)),

    claimRun: ({ run_id, from, owner_id }) =>
      write(() => {
        const rows = db
          .update(FlowRunTable)
          .set({ owner_id, fence: sql`${FlowRunTable.fence} + 1` })
          .where(and(eq(FlowRunTable.run_id, run_id as FlowRun["run_id"]), eq(FlowRunTable.owner_id, from)))
          .returning({ run_id: FlowRunTable.run_id })
          .all()
        return rows.length === 0 ? undefined : oneRun(base, run_id)
      }),

    houseRun: ({ run_id, fence, session_id }) =>
      write(() => {
        db.update(FlowRunTable)
          .set({ session_id })
          .where(and(eq(FlowRunTable.run_id, run_id as FlowRun["run_id"]), eq(FlowRunTable.fence, fence)))
          .run()
      }),
  }
}

type Commands = Pick<FlowStore, "flowCommand" | "flowCommands" | "flowCommandState" | "answerFlowCommand">

function createCommands({ db, write }: Base): Commands {
  const any = once(() =>
    db
      .select({ id: FlowCommandTable.command_id })
      .from(FlowCommandTable)
      .where(eq(FlowCommandTable.status, "pending"))
      .limit(1)
      .prepare(),
  )
  return {
    flowCommand: (command, when) =>
      write(() => {
        db.insert(FlowCommandTable)
          .values({ ...command, status: "pending", time_created: when })
          .run()
      }),

    flowCommands: async (directory) => {
      if (any().get() === undefined) return []
      return db
        .select()
        .from(FlowCommandTable)
        .innerJoin(FlowRunTable, eq(FlowRunTable.run_id, FlowCommandTable.run_id))
        .where(and(eq(FlowCommandTable.status, "pending"), eq(FlowRunTable.directory, directory)))
        .orderBy(asc(FlowCommandTable.command_id))
        .all()
        .map((row) => {
          const { command_id, run_id, input, actor } = row.pass_over_flow_commands
          return { command_id, run_id, input, actor, owner_id: row.pass_over_flow_runs.owner_id }
        })
    },

    flowCommandState: async (command_id) => {
      const row = db
        .select()
        .from(FlowCommandTable)
        .where(eq(FlowCommandTable.command_id, command_id as `cmd_${string}`))
        .get()
      if (!row) return undefined
      const { time_created: _created, time_done: _done, ...state } = row
      return state
    },

    answerFlowCommand: ({ command_id, status, result, at: when }) =>
      write(() => {
        db.update(FlowCommandTable)
          .set({ status, result, time_done: when })
          .where(
            and(eq(FlowCommandTable.command_id, command_id as `cmd_${string}`), eq(FlowCommandTable.status, "pending")),
          )
          .run()
      }),
  }
}

/** Runs of flows, their journals, what is wanted of them, and the results that may be used again. */
export function createFlows(base: Base): FlowStore {
  const { db, write } = base
  return {
    ...createReads(base),
    ...createRuns(base),
    ...createCommands(base),
    ...createFlowDeliveries(base),
    cached: async (key) => db.select().from(ResultCacheTable).where(eq(ResultCacheTable.key, key)).get(),
    cache: (result) =>
      write(() => {
        db.insert(ResultCacheTable)
          .values(result)
          .onConflictDoUpdate({ target: ResultCacheTable.key, set: result })
          .run()
      }),
    uncache: (key) =>
      write(() => {
        db.delete(ResultCacheTable).where(eq(ResultCacheTable.key, key)).run()
      }),
  }
}
