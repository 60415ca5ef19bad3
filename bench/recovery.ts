/**
 * What it costs to come back to many interrupted passes: how long until each has its outcome row, how long opencode's
 * event loop waits at most meanwhile, and how long the start of the real opencode takes with and without them.
 *
 *   bun bench/recovery.ts [passes] [starts]
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createModel, createSandbox, type Sandbox } from "@pass-over/rehearsal"
import { build } from "../packages/opencode/script/build"
import { recover } from "../packages/opencode/src/pass-over/service/recover"
import { openStore } from "../packages/opencode/test/pass-over/support/database"
import { createEngineWorld } from "../packages/opencode/test/pass-over/support/engine"
import { interrupted } from "../packages/opencode/test/pass-over/proof/interrupted"
import { unended } from "../packages/opencode/test/pass-over/proof/laws"
import { quantile } from "./statistics"

const [passes = 1_000, starts = 10] = process.argv.slice(2).map(Number)

/** Recovery alone, on a file with every commit on the disk. */
async function alone() {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
  try {
    using database = openStore(join(folder, "pass-over.db"))
    await interrupted(database.store, passes)
    using world = createEngineWorld({ store: database.store, owner: "2", seed: 1_000 })
    const waits: number[] = []
    const beat = { last: performance.now(), over: false }
    const tick = () => {
      waits.push(performance.now() - beat.last)
      beat.last = performance.now()
      if (!beat.over) setImmediate(tick)
    }
    setImmediate(tick)
    const began = performance.now()
    const count = await recover(world.engine, () => "dead")
    const took = performance.now() - began
    beat.over = true
    return { count, took, longest: Math.max(...waits), left: unended(database.client).length }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From the start of opencode to its first answer, and to the last outcome row. */
async function start(box: Sandbox, count: number) {
  const path = join(box.data, "opencode/pass-over.db")
  rmSync(dirname(path), { recursive: true, force: true })
  mkdirSync(dirname(path), { recursive: true })
  {
    using database = openStore(path)
    await interrupted(database.store, count, box.project)
    database.client.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }
  const began = performance.now()
  await using server = await box.serve()
  await server.client.app.agents()
  const ready = performance.now() - began
  using database = openStore(path)
  while (unended(database.client).length > 0) await Bun.sleep(10)
  return { ready, recovered: performance.now() - began - ready }
}

/** The start of the real opencode, with and without them, in turns. */
async function real() {
  const plugin = (await build()).find(({ path }) => path.endsWith("server.js"))?.path ?? ""
  await using model = await createModel()
  await using box = await createSandbox({ model, plugins: [plugin], files: { "a.txt": "a\n" } })
  const [none, many]: [number[], number[]] = [[], []]
  const rows: number[] = []
  await start(box, 0)
  for (let round = 0; round < starts; round += 1) {
    none.push((await start(box, 0)).ready)
    const with_them = await start(box, passes)
    many.push(with_them.ready)
    rows.push(with_them.recovered)
  }
  const ms = (values: number[], q: number) => `${quantile(values, q).toFixed(0)} ms`
  console.log(`start of opencode without any: ${ms(none, 0.5)} p50, ${ms(none, 0.95)} p95`)
  console.log(`start of opencode with ${passes}: ${ms(many, 0.5)} p50, ${ms(many, 0.95)} p95`)
  console.log(`from there to the last outcome row: ${ms(rows, 0.5)} p50, ${ms(rows, 0.95)} p95`)
}

const { count, took, longest, left } = await alone()
console.log(`${count} interrupted passes have their outcome after ${took.toFixed(0)} ms (${left} left)`)
console.log(`opencode's event loop waits ${longest.toFixed(1)} ms at most meanwhile`)

if (starts > 0) await real()
