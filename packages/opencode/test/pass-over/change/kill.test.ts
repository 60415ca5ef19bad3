import { afterAll, expect, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStore } from "../support/database"

// `PASS_OVER_LONG=1 bun test ./test/pass-over/change/kill.test.ts` kills at every single call; else at some of them.
const long = Boolean(process.env.PASS_OVER_LONG)
const strace = Bun.which("strace")
const root = mkdtempSync(join(tmpdir(), "pass-over-kill-"))

afterAll(() => rmSync(root, { recursive: true, force: true }))

const FIXTURE = join(import.meta.dir, "fixture/write.ts")
// What the store writes goes by pwrite64, what the tree writes by write.
const CALLS = ["pwrite64", "write", "fsync", "rename", "link", "unlink"] as const

type Place = { folder: string; database: string; project: string }

const place = (name: string): Place => {
  const folder = join(root, name)
  return { folder, database: join(folder, "db/pass-over.db"), project: join(folder, "project") }
}

function run(act: string, { database, project }: Place, options: { owner?: number; inject?: string } = {}) {
  const command = [process.execPath, FIXTURE, act, database, project, String(options.owner ?? 2)]
  const traced = options.inject ? ["strace", "-f", "-o", "/dev/null", "-e", options.inject, ...command] : command
  const { stdout, stderr, exitCode } = Bun.spawnSync(traced, { env: { ...process.env, TMPDIR: root } })
  return { out: stdout.toString().trim(), error: stderr.toString(), exitCode }
}

const BEFORE = { "a.txt": "a\n 644", "b.txt": "b\n 755", "gone.txt": "gone\n 644" }
const AFTER = { "a.txt": "A\n 644", "b.txt": "B\n 755", "sub/new.txt": "new\n 644" }

const tree = ({ project }: Place) =>
  Object.fromEntries(
    (readdirSync(project, { recursive: true, withFileTypes: true }) ?? [])
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [
          path.slice(project.length + 1),
          `${readFileSync(path, "utf8")} ${(statSync(path).mode & 0o777).toString(8)}`,
        ]
      })
      .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  )

/** How often each call is made in a run that nobody kills. */
function counts(act: string, from: Place): Record<string, number> {
  const mine = place(`count-${act}`)
  cpSync(from.folder, mine.folder, { recursive: true })
  relocate(mine, from)
  const log = join(root, `${act}.log`)
  Bun.spawnSync([
    "strace",
    "-f",
    "-o",
    log,
    "-e",
    `trace=${CALLS.join(",")}`,
    process.execPath,
    FIXTURE,
    act,
    mine.database,
    mine.project,
    "2",
  ])
  const text = readFileSync(log, "utf8")
  return Object.fromEntries(
    CALLS.map((call) => [call, text.split("\n").filter((line) => new RegExp(`^\\d+ +${call}\\(`).test(line)).length]),
  )
}

/** A copy knows its project under the name of the original. */
function relocate(to: Place, from: Place) {
  using database = openStore(to.database)
  for (const table of [
    "pass_over_requests",
    "pass_over_changes",
    "pass_over_applies",
    "pass_over_audit",
    "pass_over_events",
  ]) {
    database.client.run(`update ${table} set directory = ? where directory = ?`, [to.project, from.project])
  }
}

function states({ database }: Place): string[] {
  using opened = openStore(database)
  return opened.client
    .query<{ kind: string; status: string }, []>("select kind, status from pass_over_applies order by apply_id")
    .all()
    .map(({ kind, status }) => `${kind} ${status}`)
}

const tally = { whole: 0, not_at_all: 0 }

type Killing = { act: "apply" | "undo"; from: Place; call: string; number: number; again?: string }

/** Kills an act at one call, lets another process end it, and looks: all of it or nothing, and the books say which. */
function killed({ act, from, call, number, again }: Killing) {
  const mine = place(`${act}-${call}-${number}${again ?? ""}`)
  cpSync(from.folder, mine.folder, { recursive: true })
  relocate(mine, from)
  run(act, mine, { inject: `inject=${call}:signal=SIGKILL:when=${number}` })
  if (again) run("recover", mine, { owner: 3, inject: `inject=${again}:signal=SIGKILL:when=${1 + (number % 6)}` })
  const recovered = run("recover", mine, { owner: 4 })
  expect(recovered.error).toBe("")
  const [start, end] = act === "apply" ? [BEFORE, AFTER] : [AFTER, BEFORE]
  const found = tree(mine)
  const last = states(mine).findLast((state) => state.startsWith(act))
  const done = last === `${act} done`
  expect({ call, number, again, last, found }).toEqual({ call, number, again, last, found: done ? end : start })
  expect(last === undefined || done || last === `${act} not_applied`).toBe(true)
  // Recovery that comes once more finds nothing to do.
  if (number % 5 === 0) {
    run("recover", mine, { owner: 5 })
    expect(tree(mine)).toEqual(found)
  }
  tally[done ? "whole" : "not_at_all"] += 1
  rmSync(mine.folder, { recursive: true, force: true })
}

test.skipIf(!strace)(
  "killed at any write, fsync or rename of an apply or an undo, all of it is there or nothing",
  () => {
    for (const act of ["apply", "undo"] as const) {
      const from = place(`from-${act}`)
      mkdirSync(from.folder, { recursive: true })
      const prepared = run(act === "apply" ? "prepare" : "prepare-undo", from, { owner: 1 })
      expect(prepared.error).toBe("")
      const found = counts(act, from)
      expect(found.rename).toBeGreaterThanOrEqual(2)
      expect(found.fsync).toBeGreaterThan(8)
      for (const call of CALLS) {
        const all = found[call] ?? 0
        // The first calls are those that open the database; what is of interest comes last.
        const every = long ? 1 : Math.max(1, Math.ceil(all / 2))
        for (let number = all; number > 0; number -= every) killed({ act, from, call, number })
        if (long) for (let number = all; number > 0; number -= 3) killed({ act, from, call, number, again: "rename" })
      }
    }
    expect(tally.whole).toBeGreaterThan(0)
    expect(tally.not_at_all).toBeGreaterThan(0)
    if (long) console.log(tally)
  },
  1_200_000,
)

test("the fixture does what it is asked, when nobody kills it", () => {
  const mine = place("plain")
  mkdirSync(mine.folder, { recursive: true })
  run("prepare", mine, { owner: 1 })
  expect(tree(mine)).toEqual(BEFORE)
  expect(run("apply", mine).out).toBe("done")
  expect(tree(mine)).toEqual(AFTER)
  expect(run("undo", mine, { owner: 3 }).out).toBe("done")
  expect(tree(mine)).toEqual(BEFORE)
  expect(existsSync(`${mine.database}.key`)).toBe(true)
  // What nobody wrote about is still there.
  writeFileSync(join(mine.project, "mine.txt"), "mine\n")
  expect(run("recover", mine, { owner: 4 }).out).toBe("0")
  expect(states(mine)).toEqual(["apply undone", "undo done"])
})
