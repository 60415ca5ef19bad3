import { sql, type SQL } from "drizzle-orm"

/**
 * What keeps a row from being forgotten, said of a row by its alias. Written as it runs: rows of many tables are asked
 * about one, which no builder says as briefly.
 */
type Guard = (row: SQL, before: number) => SQL

const latest = (...times: string[]) => sql.raw(`max(${times.map((time) => `coalesce(${time}, 0)`).join(", ")})`)

const anyOf = (guards: Record<string, Guard>): Guard => {
  return (row, before) =>
    sql`(${sql.join(
      Object.values(guards).map((guard) => sql`(${guard(row, before)})`),
      sql` or `,
    )})`
}

/** Why a run of a flow is not over, each reason by itself. */
export const RUN_STANDS: Record<string, Guard> = {
  open: (run, before) => sql`${run}.status not in ('completed', 'stopped', 'cancelled')
    or ${run}.time_ended is null or ${run}.time_ended >= ${before} or ${run}.time_created >= ${before}`,
  command: (run, before) => sql`exists (select 1 from pass_over_flow_commands x where x.run_id = ${run}.run_id
    and (x.status = 'pending' or ${latest("x.time_created", "x.time_done")} >= ${before}))`,
  delivery: (run, before) => sql`exists (select 1 from pass_over_flow_deliveries x where x.run_id = ${run}.run_id
    and ((x.status <> 'delivered' and x.mode <> 'none')
      or ${latest("x.time_created", "x.time_delivered")} >= ${before}))`,
  gate: (run, before) => sql`exists (select 1 from pass_over_gates x where x.run_id = ${run}.run_id
    and (x.status = 'pending' or ${latest("x.time_created", "x.time_answered", "x.time_acted")} >= ${before}))`,
}

export const runStands = anyOf(RUN_STANDS)

/** What works for a flow has it in the name of its call: "flow:<run>:<step>". */
const runOf = (pass: SQL) => sql`substr(${pass}.call_id, 6, instr(substr(${pass}.call_id, 6), ':') - 1)`

/** Why a pass is not over, or not for long enough, each reason by itself. */
export const PASS_STANDS: Record<string, Guard> = {
  young: (pass, before) =>
    sql`${pass}.time_ended is null or ${pass}.time_ended >= ${before} or ${pass}.time_created >= ${before}`,
  open: (pass, before) => sql`exists (select 1 from return_contexts x where x.pass_over_id = ${pass}.id
    and (x.status in ('initial', 'waiting_for_return') or x.returned_at >= ${before}))`,
  undelivered: (pass, before) => sql`exists (select 1 from pass_over_deliveries x where x.pass_over_id = ${pass}.id
    and ((x.status <> 'delivered' and x.mode <> 'none')
      or ${latest("x.time_created", "x.time_delivered")} >= ${before}))`,
  queued: (pass) => sql`exists (select 1 from pass_over_slots x where x.pass_over_id = ${pass}.id
    and x.state <> 'ended')`,
  asked: (pass, before) => sql`exists (select 1 from pass_over_gates x where x.pass_over_id = ${pass}.id
    and (x.status = 'pending' or (x.kind = 'delivery' and x.status <> 'withdrawn' and x.time_acted is null)
      or ${latest("x.time_created", "x.time_answered", "x.time_acted")} >= ${before}))`,
  ordered: (pass, before) => sql`exists (select 1 from pass_over_commands x where x.pass_over_id = ${pass}.id
    and (x.status = 'pending' or ${latest("x.time_created", "x.time_done")} >= ${before}))`,
  started: (pass, before) => sql`exists (select 1 from pass_over_starts x where x.pass_over_id = ${pass}.id
    and (x.state in ('pending', 'claimed') or x.time_created >= ${before}))`,
  changed: (pass, before) => sql`exists (select 1 from pass_over_changes x where x.pass_over_id = ${pass}.id
    and x.time_created >= ${before})`,
  reviewed: (pass, before) => sql`exists (select 1 from pass_over_changes c
    join pass_over_verdicts x on x.change_id = c.change_id
    where c.pass_over_id = ${pass}.id and x.time_created >= ${before})`,
  // What was written into a tree can be taken back for as long as anything else is kept.
  applied: (pass, before) => sql`exists (select 1 from pass_over_applies x where x.pass_over_id = ${pass}.id
    and (x.status = 'pending' or ${latest("x.time_created", "x.time_done")} >= ${before}))`,
  placed: (pass) => sql`exists (select 1 from pass_over_worktrees x where x.pass_over_id = ${pass}.id)`,
  remembered: (pass, before) => sql`exists (select 1 from pass_over_result_cache x where x.pass_over_id = ${pass}.id
    and x.at >= ${before})`,
  flowing: (pass, before) => sql`${pass}.call_id like 'flow:%' and exists (
    select 1 from pass_over_flow_runs f where f.run_id = ${runOf(pass)} and ${runStands(sql.raw("f"), before)})`,
}

const passStands = anyOf(PASS_STANDS)

/** Nothing keeps it, and nothing keeps another pass of its tree: they share a budget, and each is a part of the other's story. */
export const isOver: Guard = (pass, before) => sql`not ${passStands(pass, before)} and not exists (
  select 1 from pass_over_requests o where o.trace_id = ${pass}.trace_id and o.id <> ${pass}.id
    and ${passStands(sql.raw("o"), before)})`
