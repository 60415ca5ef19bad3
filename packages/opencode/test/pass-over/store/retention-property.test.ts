import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import * as fc from "fast-check"
import { forgetPasses } from "../../../src/pass-over/service/retention"
import { openStore } from "../support/database"

setDefaultTimeout(60_000)

// Databases of any shape are made row by row; what has to stay is written down here once more, by hand and row by row.
const BEFORE = 1_000_000
const HERE = "/project"

const database = openStore(":memory:")
afterAll(() => database.store.close())

type Row = Record<string, string | number | null>

const time = fc.constantFrom(10, BEFORE - 1, BEFORE, BEFORE + 5)
// Most of it is old: a database in which something young is everywhere shows nothing.
const old = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(10, BEFORE - 1) }, { weight: 1, arbitrary: time })
const maybe = fc.option(old, { nil: null, freq: 3 })
const usually = <T>(value: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(value) }, { weight: 2, arbitrary: fc.constantFrom(value, ...others) })
const few = <T>(one: fc.Arbitrary<T>) => fc.oneof(fc.constant<T[]>([]), fc.array(one, { maxLength: 2 }))

const gate = fc.record({
  status: usually("approved", "pending", "rejected", "withdrawn"),
  kind: usually("question", "delivery", "approval"),
  created: old,
  answered: maybe,
  acted: maybe,
})
const delivery = fc.record({
  status: usually("delivered", "pending", "held", "sending"),
  mode: fc.constantFrom("tool", "message", "none"),
  created: old,
  delivered: maybe,
})
const command = fc.record({ status: usually("done", "pending", "refused"), created: old, done: maybe })

const pass = fc.record({
  directory: usually(HERE, "/elsewhere"),
  created: old,
  ended: fc.oneof({ weight: 8, arbitrary: old }, { weight: 1, arbitrary: fc.constant(null) }),
  status: usually("processed", "returned", "cancelled", "timed_out", "waiting_for_return", "initial"),
  returned: maybe,
  parent: fc.option(fc.nat(), { nil: null, freq: 2 }),
  continues: fc.option(fc.nat(), { nil: null, freq: 4 }),
  delivery: fc.option(delivery, { nil: null, freq: 4 }),
  slot: fc.option(usually("ended", "running", "queued"), { nil: null }),
  gates: few(gate),
  commands: few(command),
  starts: few(fc.record({ state: usually("started", "claimed"), created: old })),
  changes: few(
    fc.record({
      created: old,
      files: fc.nat({ max: 2 }),
      verdicts: few(old),
      applies: few(
        fc.record({ status: usually("done", "pending", "undone", "not_applied"), created: old, done: maybe }),
      ),
    }),
  ),
  worktree: usually(false, true),
  cached: fc.option(old, { nil: null, freq: 5 }),
  run: fc.option(fc.nat({ max: 1 }), { nil: null, freq: 3 }),
  lines: usually(0, 1),
  artifacts: fc.nat({ max: 3 }),
  contents: fc.nat({ max: 3 }),
  attempts: fc.nat({ max: 2 }),
  events: fc.nat({ max: 2 }),
  context: fc.boolean(),
  output: fc.boolean(),
  live: fc.boolean(),
  /** Somebody died while its rest was cleared away. */
  half: usually(false, false, false, true),
})

const run = fc.record({
  directory: usually(HERE, "/elsewhere"),
  status: usually("completed", "stopped", "cancelled", "running", "paused"),
  created: old,
  ended: fc.oneof({ weight: 8, arbitrary: old }, { weight: 1, arbitrary: fc.constant(null) }),
  entries: fc.nat({ max: 3 }),
  commands: few(command),
  deliveries: few(delivery),
  gates: few(gate),
})

type Value<T> = T extends fc.Arbitrary<infer V> ? V : never
type Pass = Value<typeof pass>
type Run = Value<typeof run>
type World = { passes: Pass[]; runs: Run[] }

const world: fc.Arbitrary<World> = fc.record({
  passes: fc.array(pass, { minLength: 1, maxLength: 7 }),
  runs: fc.array(run, { maxLength: 2 }),
})

const { client } = database
const tables = client
  .query<{ name: string }, []>("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
  .all()
  .map(({ name }) => name)
const columns = new Map(
  tables.map((table) => [
    table,
    client.query<{ name: string; type: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${table})`).all(),
  ]),
)

/** A row with what is said of it; what has to be there and is not said is there. */
function put(table: string, row: Row) {
  const known = columns.get(table)!
  expect(Object.keys(row).filter((name) => !known.some((column) => column.name === name))).toEqual([])
  const given = known.flatMap(({ name, type, notnull, pk }): [string, Row[string]][] => {
    if (name in row) return [[name, row[name]!]]
    // A number that is a key is given by the database.
    if (notnull === 0 || (pk > 0 && type === "INTEGER")) return []
    return [[name, type === "text" ? "x" : 0]]
  })
  const names = given.map(([name]) => name).join(", ")
  client
    .query(`insert into ${table} (${names}) values (${given.map(() => "?").join(", ")})`)
    .run(...given.map(([, value]) => value))
}

const dump = (table: string) =>
  client
    .query<Row, []>(`select * from ${table}`)
    .all()
    .toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
const everything = () => Object.fromEntries(tables.map((table) => [table, dump(table)]))

const idOf = (index: number) => `pass_${index}`
const runOf = (index: number) => `run_${index}`

/** Who it hangs on: an earlier one, where there is one. */
const earlier = (index: number, wanted: number | null) => (wanted === null || index === 0 ? null : wanted % index)

const parents = ({ passes }: World) => passes.map((one, index) => earlier(index, one.parent))
function trees(of: World): number[] {
  const roots: number[] = []
  for (const [index, parent] of parents(of).entries()) roots.push(parent === null ? index : roots[parent]!)
  return roots
}
const flowOf = ({ runs }: World, one: Pass) => (one.half || one.run === null || !runs[one.run] ? null : one.run)

function fillPass(of: World, index: number) {
  const one = of.passes[index]!
  const pass_over_id = idOf(index)
  const [parent, continues] = [parents(of)[index] ?? null, earlier(index, one.continues)]
  const flow = flowOf(of, one)
  put("pass_over_requests", {
    id: pass_over_id,
    session_id: "ses",
    call_id: flow === null ? `call_${index}` : `flow:${runOf(flow)}:a#${index}`,
    directory: one.directory,
    originating_agent_id: "alice",
    subagent_id: "audit",
    parent_pass_id: parent === null ? null : idOf(parent),
    continues_pass_id: continues === null ? null : idOf(continues),
    trace_id: idOf(trees(of)[index]!),
    time_created: one.created,
    time_ended: one.ended,
  })
  for (let position = 0; position < one.artifacts; position += 1) {
    put("work_artifacts", { artifact_id: `art_${index}_${position}`, pass_over_id, position })
  }
  for (let count = 0; count < one.contents; count += 1) put("pass_over_contents", { pass_over_id, hash: `${count}` })
  for (let count = 0; count < one.events; count += 1)
    put("pass_over_events", { pass_over_id, directory: one.directory })
  for (let seq = 0; seq < one.lines; seq += 1) {
    put("pass_over_audit", { session_id: `ses_${index}`, seq: seq + 1, pass_over_id, actor: "ada" })
  }
  if (one.context) put("work_contexts", { pass_over_id })
  for (const [at, change] of one.changes.entries()) fillChange(one, pass_over_id, `chg_${index}_${at}`, change)
  if (!one.half) fillHead(one, pass_over_id)
}

function fillChange(one: Pass, pass_over_id: string, change_id: string, change: Pass["changes"][number]) {
  put("pass_over_changes", { change_id, pass_over_id, directory: one.directory, time_created: change.created })
  for (let position = 0; position < change.files; position += 1) {
    put("pass_over_change_files", { change_id, position, path: `f${position}` })
  }
  if (one.half) return
  for (const time_created of change.verdicts) put("pass_over_verdicts", { change_id, time_created })
  for (const [at, { status, created, done }] of change.applies.entries()) {
    const apply_id = `apl_${change_id}_${at}`
    // One that is under way is alone in its tree.
    put("pass_over_applies", {
      apply_id,
      change_id,
      pass_over_id,
      directory: apply_id,
      status,
      time_created: created,
      time_done: done,
    })
  }
}

let serial = 0
const putGate = (of: Row, { status, kind, created, answered, acted }: Value<typeof gate>) =>
  put("pass_over_gates", {
    gate_id: `gat_${(serial += 1)}`,
    key: `key_${serial}`,
    ...of,
    status,
    kind,
    time_created: created,
    time_answered: answered,
    time_acted: acted,
  })

function fillHead(one: Pass, pass_over_id: string) {
  put("return_contexts", {
    return_id: `ret_${pass_over_id}`,
    pass_over_id,
    chain_depth: 1,
    max_chain_depth: 9,
    status: one.status,
    returned_at: one.returned,
  })
  if (one.output) put("work_outputs", { work_id: pass_over_id })
  if (one.live) put("pass_over_live", { pass_over_id })
  for (let attempt = 0; attempt < one.attempts; attempt += 1) put("pass_over_attempts", { pass_over_id, attempt })
  if (one.delivery) {
    const { status, mode, created, delivered } = one.delivery
    put("pass_over_deliveries", { pass_over_id, status, mode, time_created: created, time_delivered: delivered })
  }
  if (one.slot) put("pass_over_slots", { pass_over_id, trace_id: "x", state: one.slot })
  for (const each of one.gates) putGate({ pass_over_id }, each)
  for (const { status, created, done } of one.commands) {
    put("pass_over_commands", {
      command_id: `cmd_${(serial += 1)}`,
      pass_over_id,
      status,
      time_created: created,
      time_done: done,
    })
  }
  for (const { state, created } of one.starts) {
    put("pass_over_starts", { start_id: `sta_${(serial += 1)}`, pass_over_id, state, time_created: created })
  }
  if (one.worktree) put("pass_over_worktrees", { directory: `/tree/${pass_over_id}`, pass_over_id, kind: "git" })
  if (one.cached !== null) put("pass_over_result_cache", { key: pass_over_id, pass_over_id, at: one.cached })
}

function fillRun({ directory, status, created, ended, ...one }: Run, run_id: string) {
  put("pass_over_flow_runs", { run_id, directory, session_id: "ses", status, time_created: created, time_ended: ended })
  for (let seq = 0; seq < one.entries; seq += 1) put("pass_over_flow_journal", { run_id, seq })
  for (const [seq, each] of one.deliveries.entries()) {
    put("pass_over_flow_deliveries", {
      run_id,
      seq,
      status: each.status,
      mode: each.mode,
      time_created: each.created,
      time_delivered: each.delivered,
    })
  }
  for (const each of one.commands) {
    put("pass_over_flow_commands", {
      command_id: `cmd_${(serial += 1)}`,
      run_id,
      status: each.status,
      time_created: each.created,
      time_done: each.done,
    })
  }
  for (const each of one.gates) putGate({ run_id }, each)
}

function fill(of: World) {
  client.run("PRAGMA foreign_keys = OFF")
  for (const table of tables) if (!table.includes("migration")) client.run(`delete from ${table}`)
  client.run("PRAGMA foreign_keys = ON")
  client.transaction(() => {
    for (const [index, one] of of.runs.entries()) fillRun(one, runOf(index))
    for (const index of of.passes.keys()) fillPass(of, index)
    // What belongs to nobody's pass, and stays whatever is pruned.
    put("pass_over_blobs", { hash: "h" })
    put("pass_over_events", { pass_over_id: "nobody", directory: HERE })
    put("pass_over_worktrees", { directory: "/tree/idle", kind: "git" })
    putGate({}, { status: "approved", kind: "question", created: 10, answered: 10, acted: null })
  })()
}

const young = (...times: (number | null)[]) => times.some((at) => at !== null && at >= BEFORE)

const runStays = ({ status, created, ended, commands, deliveries, gates }: Run) =>
  status === "running" ||
  status === "paused" ||
  ended === null ||
  young(created, ended) ||
  commands.some((one) => one.status === "pending" || young(one.created, one.done)) ||
  deliveries.some((one) => (one.status !== "delivered" && one.mode !== "none") || young(one.created, one.delivered)) ||
  gates.some((one) => one.status === "pending" || young(one.created, one.answered, one.acted))

/** Whether a pass by itself has to stay. */
function stays(of: World, one: Pass): boolean {
  if (one.ended === null || young(one.created, one.ended)) return true
  if (one.changes.some(({ created }) => young(created))) return true
  if (one.half) return false
  const flow = flowOf(of, one)
  return (
    one.status === "initial" ||
    one.status === "waiting_for_return" ||
    young(one.returned) ||
    (one.delivery !== null &&
      ((one.delivery.status !== "delivered" && one.delivery.mode !== "none") ||
        young(one.delivery.created, one.delivery.delivered))) ||
    (one.slot !== null && one.slot !== "ended") ||
    one.gates.some(
      ({ status, kind, created, answered, acted }) =>
        status === "pending" ||
        (kind === "delivery" && status !== "withdrawn" && acted === null) ||
        young(created, answered, acted),
    ) ||
    one.commands.some(({ status, created, done }) => status === "pending" || young(created, done)) ||
    one.starts.some(({ state, created }) => state === "claimed" || young(created)) ||
    one.changes.some(
      ({ verdicts, applies }) =>
        young(...verdicts) || applies.some(({ status, created, done }) => status === "pending" || young(created, done)),
    ) ||
    one.worktree ||
    young(one.cached) ||
    (flow !== null && runStays(of.runs[flow]!))
  )
}

/** The passes that go: those by whom nobody is held up, and on which nothing rests that stays. */
function going(of: World): Set<number> {
  const { passes } = of
  const [above, tree] = [parents(of), trees(of)]
  const cleared = new Set(
    passes.flatMap((one, index) => (one.half && one.directory === HERE && !young(one.created) ? [index] : [])),
  )
  const alone = (index: number) =>
    passes.every((other, at) => at === index || tree[at] !== tree[index] || cleared.has(at) || !stays(of, other))
  const gone = new Set([
    ...cleared,
    ...passes.flatMap((one, index) =>
      !one.half && one.directory === HERE && one.lines === 0 && !stays(of, one) && alone(index) ? [index] : [],
    ),
  ])
  for (;;) {
    const held = [...gone].find(
      (index) =>
        !cleared.has(index) &&
        passes.some((other, at) => !gone.has(at) && (above[at] === index || earlier(at, other.continues) === index)),
    )
    if (held === undefined) return gone
    gone.delete(held)
  }
}

const clock = { after: (_ms: number, run: () => void) => (queueMicrotask(run), () => {}) }

test("what has to stay stays byte for byte, and what goes leaves nothing behind", async () => {
  const seen = { gone: 0, kept: 0, runs: 0 }
  await fc.assert(
    fc.asyncProperty(world, async (of) => {
      fill(of)
      const before = everything()
      const gone = going(of)
      const runs = new Set(
        of.runs.flatMap((one, index) =>
          one.directory === HERE &&
          !runStays(one) &&
          of.passes.every((each, at) => flowOf(of, each) !== index || gone.has(at))
            ? [index]
            : [],
        ),
      )
      const [ids, names] = [new Set([...gone].map(idOf)), new Set([...runs].map(runOf))]
      const halves = [...gone].filter((index) => of.passes[index]!.half).length

      const given = { store: database.store, clock: clock as never }
      const told = await forgetPasses(given, { directory: HERE, before: BEFORE })
      expect(told).toEqual({ passes: gone.size - halves, runs: runs.size })

      const changes = new Set(
        before.pass_over_changes!.flatMap((row) => (ids.has(String(row.pass_over_id)) ? [row.change_id] : [])),
      )
      const hangs = (table: string, row: Row) =>
        ids.has(String(table === "pass_over_requests" ? row.id : (row.pass_over_id ?? row.work_id))) ||
        names.has(String(row.run_id)) ||
        (row.change_id !== undefined && changes.has(row.change_id))
      const left = Object.entries(before).map(([table, rows]) => [
        table,
        table === "pass_over_audit" ? rows : rows.filter((row) => !hangs(table, row)),
      ])
      const after = everything()
      expect(after).toEqual(Object.fromEntries(left))
      expect(client.query("PRAGMA foreign_key_check").all()).toEqual([])

      expect(await forgetPasses(given, { directory: HERE, before: BEFORE })).toEqual({ passes: 0, runs: 0 })
      expect(everything()).toEqual(after)
      seen.gone += gone.size
      seen.kept += of.passes.length - gone.size
      seen.runs += runs.size
    }),
    { seed: 41, numRuns: 400 },
  )
  // A property that never meets the case says nothing.
  expect(seen.gone).toBeGreaterThan(150)
  expect(seen.kept).toBeGreaterThan(150)
  expect(seen.runs).toBeGreaterThan(30)
})

test("every table that names a pass or a run is among those that are tried", () => {
  const naming = tables.filter((table) =>
    columns.get(table)!.some(({ name }) => ["pass_over_id", "work_id", "change_id", "run_id"].includes(name)),
  )
  expect(naming.length).toBeGreaterThan(15)
  const many = fc.sample(world, { seed: 7, numRuns: 60 })
  const met = new Set<string>()
  for (const of of many) {
    fill(of)
    for (const table of naming) if (dump(table).length > 0) met.add(table)
  }
  expect(naming.filter((table) => !met.has(table))).toEqual([])
})
