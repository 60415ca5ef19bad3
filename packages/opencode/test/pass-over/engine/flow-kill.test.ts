import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

// `bun script/proof.ts flow` kills at 200 moments; else at a few of them.
const long = Boolean(process.env.PASS_OVER_LONG) || process.env.PASS_OVER_PROOF === "all"
const MOMENTS = long ? 200 : 8

const root = mkdtempSync(join(tmpdir(), "pass-over-flow-kill-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const FIXTURE = join(import.meta.dir, "fixture/flow-process.ts")

type Told = { operations: number; [key: string]: unknown }

async function live(database: string, owner: number, moment = 0): Promise<Told | undefined> {
  const child = Bun.spawn([process.execPath, FIXTURE, database, String(owner), String(moment)], {
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (child.signalCode === "SIGKILL") return undefined
  if (code !== 0) throw new Error(`moment ${moment}: ${error.slice(-2_000)}`)
  return JSON.parse(out.trim().split("\n").at(-1) ?? "{}") as Told
}

const bare = ({ operations: _count, ...told }: Told) => told

test(`the flow feature, killed at ${MOMENTS} moments, ends the same every time, with no step done and no gate asked twice`, async () => {
  const whole = await live(join(root, "whole.db"), 1)
  if (!whole) throw new Error("nobody was to kill it")
  expect(whole).toMatchObject({
    status: "completed",
    asked: ["accept?1 approved"],
    done: ["research#1", "validate#1", "write#1", "write#2", "write#3", "write#4"],
    open: 0,
  })
  const wrong: unknown[] = []
  let killed = 0
  const one = async (index: number) => {
    // Every moment from the first operation to the last, evenly; a run that got past its moment proves nothing.
    const moment = 1 + Math.floor((index * (whole.operations - 1)) / MOMENTS)
    const database = join(root, `${index}.db`)
    const first = await live(database, 1, moment)
    if (first === undefined) killed += 1
    // Every other time the process that comes to help is killed too.
    if (first === undefined && index % 2 === 1) await live(database, 2, 3 + (index % 40))
    const told = first ?? (await live(database, 3))
    if (told === undefined || !Bun.deepEquals(bare(told), bare(whole))) wrong.push({ moment, told: told && bare(told) })
    rmSync(database, { force: true })
  }
  for (let index = 0; index < MOMENTS; index += 2)
    await Promise.all([one(index), index + 1 < MOMENTS ? one(index + 1) : undefined])
  expect(wrong).toEqual([])
  expect(killed).toBeGreaterThan(MOMENTS * 0.9)
}, 1_800_000)
