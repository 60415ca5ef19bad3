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

type Told = { operations: number; acted: number; [key: string]: unknown }

type Life = { owner: number; moment?: number; how?: string }

async function live(database: string, { owner, moment = 0, how = "approve" }: Life): Promise<Told | undefined> {
  const child = Bun.spawn([process.execPath, FIXTURE, database, String(owner), String(moment), how], {
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

const bare = ({ operations: _count, acted: _then, ...told }: Told) => told

type Killing = { how: string; moments: readonly number[] }

/** Kills the flow at moments of its life and has it brought to its end; what became of it otherwise than of a whole one. */
async function killed(whole: Told, { how, moments }: Killing) {
  const wrong: unknown[] = []
  let deaths = 0
  const one = async (moment: number, index: number) => {
    const database = join(root, `${how}-${index}.db`)
    const first = await live(database, { owner: 1, moment, how })
    if (first === undefined) deaths += 1
    // Every other time the process that comes to help is killed too.
    if (first === undefined && index % 2 === 1) await live(database, { owner: 2, moment: 3 + (index % 40), how })
    const told = first ?? (await live(database, { owner: 3, how }))
    if (told === undefined || !Bun.deepEquals(bare(told), bare(whole))) wrong.push({ moment, told: told && bare(told) })
    rmSync(database, { force: true })
  }
  for (let index = 0; index < moments.length; index += 2)
    await Promise.all(moments.slice(index, index + 2).map((moment, at) => one(moment, index + at)))
  return { wrong, deaths }
}

test(`the flow feature, killed at ${MOMENTS} moments, ends the same every time, with no step done and no gate asked twice`, async () => {
  const whole = await live(join(root, "whole.db"), { owner: 1 })
  if (!whole) throw new Error("nobody was to kill it")
  expect(whole).toMatchObject({
    status: "completed",
    asked: ["accept?1 approved"],
    done: ["research#1", "validate#1", "write#1", "write#2", "write#3", "write#4"],
    open: 0,
    pending: [],
  })
  // From the first operation to the last, evenly; a run that got past its moment proves nothing.
  const moments = Array.from({ length: MOMENTS }, (_, at) => 1 + Math.floor((at * (whole.operations - 1)) / MOMENTS))
  const { wrong, deaths } = await killed(whole, { how: "approve", moments })
  expect(wrong).toEqual([])
  expect(deaths).toBeGreaterThan(MOMENTS * 0.9)
}, 1_800_000)

const GONE_ON = {
  skip: { status: "completed", asked: ["accept?1 withdrawn"], open: 0, pending: [] },
  cancel: { status: "cancelled", asked: ["accept?1 withdrawn"], open: 0, pending: [] },
  decline: { status: "cancelled", asked: [], done: [], open: 0, pending: [] },
} as const

for (const [how, expected] of Object.entries(GONE_ON))
  test(`the flow feature, whose person says ${how} when they are asked, leaves no question and no pass behind, whenever it is killed`, async () => {
    const whole = await live(join(root, `${how}.db`), { owner: 1, how })
    if (!whole) throw new Error("nobody was to kill it")
    expect(whole).toMatchObject(expected)
    // From where the person acts; what comes before is proved above.
    const behind = Array.from({ length: whole.operations - whole.acted }, (_, at) => whole.acted + at)
    const moments = long ? behind : [3, 6, 12, 24].map((at) => whole.acted + at)
    const { wrong, deaths } = await killed(whole, { how, moments })
    expect(wrong).toEqual([])
    expect(deaths).toBeGreaterThan(moments.length * 0.7)
  }, 1_800_000)
