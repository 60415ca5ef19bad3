import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { recoverApplies } from "../../../src/pass-over/service/change/recover"
import { PATIENCE_MS, report, scale } from "../proof/scale"
import { createChangeWorld } from "../support/change"
import { openStore } from "../support/database"
import { killedAt, momentsOf, named, type Moment } from "./moments"

setDefaultTimeout(PATIENCE_MS)

const strace = Bun.which("strace")
const root = realpathSync(mkdtempSync(join(tmpdir(), "pass-over-kill-")))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const FIXTURE = join(import.meta.dir, "fixture/write.ts")
const bundled = { made: undefined as Promise<string> | undefined }

/** The fixture as one file: it is started some thousand times. */
async function bundle(): Promise<string> {
  const built = await Bun.build({ entrypoints: [FIXTURE], target: "bun", outdir: join(root, "bundle") })
  const [file] = built.outputs
  if (!built.success || !file) throw new Error(built.logs.map(({ message }) => message).join("\n"))
  return file.path
}

type Act = "apply" | "undo"

/** A scene always lies at the same place, so that its database need not be told of another one. */
type Scene = { act: Act; how: readonly string[]; folder: string; live: string; kept: string }

const database = ({ live }: Scene) => join(live, "db/pass-over.db")
const project = ({ live }: Scene) => join(live, "project")

const command = async (scene: Scene, act: string, owner: number) => [
  process.execPath,
  await (bundled.made ??= bundle()),
  act,
  database(scene),
  project(scene),
  String(owner),
  ...scene.how,
]

async function run(scene: Scene, act: string, owner = 2) {
  const child = Bun.spawn(await command(scene, act, owner), { env: process.env, stdout: "pipe", stderr: "pipe" })
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect(error).toBe("")
  return out.trim()
}

function reset({ live, kept }: Scene) {
  rmSync(live, { recursive: true, force: true })
  cpSync(kept, live, { recursive: true })
}

async function sceneOf(name: string, act: Act, how: readonly string[] = []): Promise<Scene> {
  const folder = join(root, name)
  const scene = { act, how, folder, live: join(folder, "live"), kept: join(folder, "kept") }
  mkdirSync(scene.live, { recursive: true })
  const plain = { ...scene, how: [] }
  await run(plain, act === "apply" ? "prepare" : "prepare-undo", 1)
  cpSync(scene.live, scene.kept, { recursive: true })
  return scene
}

const BEFORE = { "a.txt": "a\n 644", "b.txt": "b\n 755", "gone.txt": "gone\n 644" }
const AFTER = { "a.txt": "A\n 644", "b.txt": "B\n 755", "sub/new.txt": "new\n 644" }
const LAST = { apply: "gone.txt", undo: "sub/new.txt" }

const tree = (scene: Scene): Record<string, string> =>
  Object.fromEntries(
    readdirSync(project(scene), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [
          path.slice(project(scene).length + 1),
          `${readFileSync(path, "utf8")} ${(statSync(path).mode & 0o777).toString(8)}`,
        ]
      })
      .toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  )

function states(scene: Scene): string[] {
  using opened = openStore(database(scene))
  return opened.client
    .query<{ kind: string; status: string }, []>("select kind, status from pass_over_applies order by apply_id")
    .all()
    .map(({ kind, status }) => `${kind} ${status}`)
}

/** What another process does that finds the intent of one that is gone. */
async function recover(scene: Scene, owner: number) {
  using world = await createChangeWorld({ database: database(scene), project: project(scene), owner })
  return await recoverApplies(world.deps, () => true)
}

const tally = { kills: 0, whole: 0, not_at_all: 0, during_recovery: 0, missed: [] as string[] }

/** All of it or nothing, whatever somebody else has written of their own, and the books say which. */
async function judge(scene: Scene, moment: string) {
  const { act, how } = scene
  await recover(scene, 4)
  const [start, end]: [Record<string, string>, Record<string, string>] =
    act === "apply" ? [BEFORE, AFTER] : [AFTER, BEFORE]
  const found = tree(scene)
  const last = states(scene).findLast((state) => state.startsWith(act))
  const done = last === `${act} done`
  const foreign = how.includes("meddled") && found[LAST[act]]?.startsWith("somebody else")
  const theirs = foreign ? { [LAST[act]]: found[LAST[act]] ?? "" } : {}
  expect({ act, how, moment, last, found }).toEqual({
    act,
    how,
    moment,
    last,
    found: done ? end : { ...start, ...theirs },
  })
  expect(done && foreign).toBeFalsy()
  expect(last === undefined || done || last === `${act} not_applied`).toBe(true)
  // Recovery that comes once more finds nothing to do.
  expect(await recover(scene, 5)).toBe(0)
  expect(tree(scene)).toEqual(found)
  tally[done ? "whole" : "not_at_all"] += 1
}

// Each thread counts its own calls, and which of them syncs a file the second time is a matter of chance.
const TRIES = 20

/** Kills what is run from the state that is kept, at one moment. */
async function killed(scene: Scene, moment: Moment, act: string = scene.act, owner = 2) {
  const whole = await command(scene, act, owner)
  let hit = false
  for (let tries = 0; !hit && tries < TRIES; tries += 1) {
    reset(scene)
    hit = await killedAt(whole, moment)
  }
  if (!hit) tally.missed.push(`${act} ${scene.how.join(" ")} ${named(moment)}`)
  tally.kills += 1
}

/** Kills the one who recovers, too, at each of its own moments. */
async function recovering(scene: Scene, first: Moment, few: number) {
  await killed(scene, first)
  const state = { ...scene, kept: join(scene.folder, "broken") }
  rmSync(state.kept, { recursive: true, force: true })
  cpSync(scene.live, state.kept, { recursive: true })
  const moments = await momentsOf(await command(scene, "recover", 3), scene.live, join(scene.folder, "recover.log"))
  for (const moment of spread(moments, scale(few, moments.length))) {
    await killed(state, moment, "recover", 3)
    tally.during_recovery += 1
    await judge(scene, `${named(first)}, then recovery at ${named(moment)}`)
  }
}

/** Some of them, from the first to the last. */
const spread = <T>(all: readonly T[], count: number): T[] =>
  all.length <= count ? [...all] : Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]!)

const IN_TREE = new Set(["mkdir", "rename", "link", "unlink", "rmdir"])

const ACTS: readonly [string, Act, readonly string[]][] = [
  ["an apply", "apply", []],
  ["an undo", "undo", []],
  ["an apply whose drafts go to the disk together", "apply", ["together"]],
  ["an undo whose drafts go to the disk together", "undo", ["together"]],
  ["an apply that has to be taken back", "apply", ["meddled"]],
  ["an undo that has to be taken back", "undo", ["meddled"]],
]

test.skipIf(!strace).each(ACTS)(
  "killed at any call that changes the disk in %s, all of it is there or nothing",
  async (name, act, how) => {
    const scene = await sceneOf(name.replaceAll(" ", "-"), act, how)
    const moments = await momentsOf(await command(scene, act, 2), scene.live, join(scene.folder, "act.log"))
    const calls = new Set(moments.map(({ call }) => call))
    for (const call of ["pwrite64", "write", "fsync", "rename", "link", "unlink"]) expect(calls).toContain(call)
    expect(calls).toContain(act === "apply" ? "mkdir" : how.includes("meddled") ? "fchmod" : "rmdir")
    for (const moment of spread(moments, scale(12, moments.length))) {
      await killed(scene, moment)
      await judge(scene, named(moment))
    }
    const inTree = moments.filter(({ call }) => IN_TREE.has(call))
    for (const moment of spread(inTree, scale(1, inTree.length))) await recovering(scene, moment, 4)
    expect(tally.missed).toEqual([])
    report(`kill -9 in ${name}`, { moments: moments.length, in_tree: inTree.length, ...tally })
  },
)

test.skipIf(!strace)("of all that was killed, some was carried through and some was taken back", () => {
  expect(tally.whole).toBeGreaterThan(0)
  expect(tally.not_at_all).toBeGreaterThan(0)
})

test("the fixture does what it is asked, when nobody kills it", async () => {
  const scene = await sceneOf("plain", "apply")
  expect(tree(scene)).toEqual(BEFORE)
  expect(await run(scene, "apply")).toBe("done")
  expect(tree(scene)).toEqual(AFTER)
  expect(await run(scene, "undo", 3)).toBe("done")
  expect(tree(scene)).toEqual(BEFORE)
  expect(existsSync(`${database(scene)}.key`)).toBe(true)
  // What nobody wrote about is still there.
  writeFileSync(join(project(scene), "mine.txt"), "mine\n")
  expect(await run(scene, "recover", 4)).toBe("0")
  expect(states(scene)).toEqual(["apply undone", "undo done"])
  const meddled = await sceneOf("meddled", "apply", ["meddled"])
  expect(await run(meddled, "apply")).toContain("it has changed since")
  expect(tree(meddled)).toEqual({ ...BEFORE, "gone.txt": "somebody else\n 644" })
})
