import { afterAll, expect, spyOn, test } from "bun:test"
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { apply } from "../../../src/pass-over/service/change/apply"
import { undo } from "../../../src/pass-over/service/change/undo"
import { finish } from "../../../src/pass-over/service/change/write"
import type { Application } from "../../../src/pass-over/service/port-change"
import type { Tree } from "../../../src/pass-over/service/port-tree"
import { openTree } from "../../../src/pass-over/store/tree/tree"
import { createChangeWorld, state, type ChangeWorld } from "../support/change"
import { createFolder } from "../support/folder"

const strace = Bun.which("strace")
const root = realpathSync(mkdtempSync(join(tmpdir(), "pass-over-disk-")))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const FIXTURE = join(import.meta.dir, "fixture/write.ts")
const CALLS = "kill,pwrite64,write,fsync,syncfs,rename,link,unlink,rmdir,mkdir"

/** A call as it was made, with the lines at which it began and had ended well. */
type Call = { name: string; path: string; begun: number; ended: number }

function callsOf(log: string): Call[] {
  const open = new Map<string, Call>()
  const calls: Call[] = []
  for (const [at, line] of readFileSync(log, "utf8").split("\n").entries()) {
    const [, thread = "", name = "", path = ""] = /^(\d+) +(\w+)\((?:\d+<([^>]*)>)?/.exec(line) ?? []
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>/.exec(line)?.[1]
    const call = resumed === undefined ? { name, path, begun: at, ended: Infinity } : open.get(resumed)
    if (!call || (name === "" && resumed === undefined)) continue
    if (line.includes("<unfinished ...>")) open.set(thread, call)
    if (resumed === undefined) calls.push(call)
    if (/= \d+$/.test(line.trim())) call.ended = at
  }
  return calls.slice(calls.findIndex(({ name }) => name === "kill") + 1)
}

/** Runs an act of the fixture to its end, and gives what it did to the disk, in order. */
async function watched(act: "apply" | "undo", how: readonly string[], env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(root, "scene-"))
  const [database, project, log] = [join(folder, "db/a.db"), join(folder, "project"), join(folder, "log")]
  mkdirSync(project)
  const command = (name: string, owner: number) => [
    process.execPath,
    FIXTURE,
    name,
    database,
    project,
    `${owner}`,
    ...how,
  ]
  const run = async (all: string[], more = {}) =>
    expect(await Bun.spawn(all, { stdout: "ignore", env: { ...process.env, ...more } }).exited).toBe(0)
  await run(command(act === "apply" ? "prepare" : "prepare-undo", 1))
  const watch = [strace ?? "strace", "-f", "--seccomp-bpf", "-y", "-o", log, "-e", `trace=${CALLS}`]
  await run([...watch, ...command(act, 2)], env)
  return { calls: callsOf(log), project }
}

const CHANGES = new Set(["rename", "link", "unlink", "rmdir"])

/** What would be lost, or half there, if the power went at the wrong moment; nothing where the order is right. */
function wrong({ calls, project }: Awaited<ReturnType<typeof watched>>): string[] {
  const inTree = (call: Call) => call.path.startsWith(`${project}/`) || call.path === project
  const log = (call: Call) => call.path.endsWith("-wal")
  const placing = calls.find(({ name }) => name === "rename" || name === "link")?.begun ?? 0
  const changed = calls.filter(({ name }) => CHANGES.has(name))
  const last = changed.at(-1)?.begun ?? Infinity
  const drafts = calls.filter((call) => call.name === "write" && inTree(call))
  const intent = calls.find((call) => call.name === "fsync" && log(call))?.ended ?? Infinity
  const done = calls.findLast((call) => call.name === "pwrite64" && log(call))?.begun ?? 0
  const synced = (path: string, from: number, to: number) =>
    calls.some(({ name, path: at, begun, ended }) => {
      if (name !== "syncfs" && !(name === "fsync" && at === path)) return false
      return begun > from && ended < to
    })
  const folders = new Set(drafts.map(({ path }) => dirname(path)))
  return [
    ...(drafts.length === 0 ? ["nothing was written"] : []),
    ...drafts.flatMap(({ begun }) => (intent < begun ? [] : ["a draft came before the intent"])),
    ...drafts.flatMap(({ path, begun }) => (synced(path, begun, placing) ? [] : ["a draft was placed too early"])),
    ...[...folders].flatMap((path) =>
      // A folder that is gone by then has nothing to lose.
      synced(path, last, done) || synced(path, placing, done) ? [] : [`${path} was not brought to the disk`],
    ),
    ...(synced(project, last, done) || changed.length === 0 ? [] : ["the last change was not brought to the disk"]),
    ...(done > last ? [] : ["it was called done too early"]),
  ]
}

const named = (calls: readonly Call[], name: string) => calls.filter((call) => call.name === name)

test.skipIf(!strace).each([
  ["apply", []],
  ["undo", []],
  ["apply", ["together"]],
  ["undo", ["together"]],
] as const)("%s %p: intent, drafts, places and folders reach the disk in this order", async (act, how) => {
  const found = await watched(act, how)
  expect(wrong(found)).toEqual([])
  expect(named(found.calls, "syncfs").length > 0).toBe(how.length > 0)
})

test.skipIf(!strace)("where nothing can bring all to the disk at once, each goes by itself", async () => {
  const found = await watched("apply", ["together"], { PATH: "/nowhere" })
  expect(wrong(found)).toEqual([])
  expect(named(found.calls, "syncfs")).toEqual([])
})

/** A change of so many files, each in a folder of its own where that is wanted. */
async function many(world: ChangeWorld, count: number, path: (index: number) => string) {
  const files = Array.from({ length: count }, (_, index) => ({
    path: path(index),
    old: `before ${index}\n`,
    new: `after ${index}\n`,
  }))
  for (const file of files) world.put(file.path, file.old)
  const change = await world.change(files)
  await world.accept(change)
  return { change, files }
}

const openFiles = () => readdirSync("/proc/self/fd").length

test.skipIf(process.platform !== "linux")("however many folders there are, few are open at once", async () => {
  using world = await createChangeWorld({ many: 8 })
  const { change, files } = await many(world, 700, (index) => `d${index}/f.txt`)
  const before = openFiles()
  let most = 0
  const { openTree: open } = world.deps
  world.deps.openTree = async (directory) => {
    const tree = await open(directory)
    const flush = async () => {
      most = Math.max(most, openFiles())
      await tree.flush()
    }
    return { ...tree, flush }
  }
  const applied = await apply(world.deps, { ...world, change, actor: "ada" })
  if (!applied.ok) throw new Error(applied.refusal.message)
  expect(files.every((file) => world.get(file.path) === file.new)).toBe(true)
  const undone = await undo(world.deps, { ...world, application: applied.application, actor: "ada" })
  expect(undone.ok).toBe(true)
  expect(files.every((file) => world.get(file.path) === file.old)).toBe(true)
  expect(most).toBeGreaterThan(before)
  expect(most - before).toBeLessThan(260)
  expect(openFiles()).toBeLessThanOrEqual(before + 2)
})

test("many that have to be taken back are, and no draft stays", async () => {
  using world = await createChangeWorld()
  const { change, files } = await many(world, 150, (index) => `d${index % 7}/f${index}.txt`)
  const { openTree: open } = world.deps
  const [spoilt, foreign] = [files.at(-1)!, files[40]!]
  world.deps.openTree = async (directory) => {
    const tree = await open(directory)
    return {
      ...tree,
      place(token, staged) {
        if (staged.path === spoilt.path && staged.after.hash === state(spoilt.new).hash) {
          world.put(spoilt.path, "somebody else\n")
          world.put(foreign.path, "somebody else, too\n")
        }
        return tree.place(token, staged)
      },
    }
  }
  const result = await apply(world.deps, { ...world, change, actor: "ada" })
  expect(result.ok ? "" : result.refusal.message).toContain("it has changed since")
  const others = new Map([
    [spoilt.path, "somebody else\n"],
    [foreign.path, "somebody else, too\n"],
  ])
  for (const file of files) expect(world.get(file.path)).toBe(others.get(file.path) ?? file.old)
  expect(world.paths().filter((path) => path.includes(".pass-over"))).toEqual([])
  expect((await world.store.applications({ pass_over_id: world.pass.id })).map(({ status }) => status)).toEqual([
    "not_applied",
  ])
})

/** Work at another time than the present one: a file is old when nothing happened to it for a while. */
async function at<T>(now: number, work: () => Promise<T>): Promise<T> {
  const clock = spyOn(Date, "now").mockReturnValue(now)
  try {
    return await work()
  } finally {
    clock.mockRestore()
  }
}

const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1])

test.skipIf(process.platform !== "linux")("a file is read once, unless it was written just before", async () => {
  using folder = createFolder()
  const tree = await openTree()(folder.path)
  writeFileSync(folder.at("a.txt"), "x".repeat(5_000_000))
  const written = Math.floor(statSync(folder.at("a.txt")).ctimeMs)
  const readBy = async () => {
    const before = bytesRead()
    await tree.look("a.txt")
    return bytesRead() - before
  }
  // Within one tick of the clock it may be written again and show the same times.
  await at(written, async () => {
    expect(await readBy()).toBeGreaterThan(5_000_000)
    expect(await readBy()).toBeGreaterThan(5_000_000)
  })
  await at(written + 1_000, async () => {
    expect(await readBy()).toBeGreaterThan(5_000_000)
    expect(await readBy()).toBeLessThan(1_000_000)
  })
  tree.close()
})

test.each([
  ["was written", (path: string) => writeFileSync(path, "new\n"), { kind: "file", state: state("new\n") }],
  ["may be run", (path: string) => chmodSync(path, 0o755), { kind: "file", state: state("old\n", "100755") }],
  ["got a second name", (path: string) => linkSync(path, `${path}.twin`), { kind: "refused" }],
  ["became a link", (path: string) => (rmSync(path), symlinkSync("/etc/hosts", path)), { kind: "refused" }],
  ["became a folder", (path: string) => (rmSync(path), mkdirSync(path)), { kind: "refused" }],
  ["is gone", (path: string) => rmSync(path), { kind: "none" }],
])("a file that %s since it was read is not taken for what it was", async (_what, happen, seen) => {
  using folder = createFolder()
  const tree = await openTree()(folder.path)
  writeFileSync(folder.at("a.txt"), "old\n")
  await at(Date.now() + 1_000, async () => {
    expect(await tree.look("a.txt")).toMatchObject({ kind: "file", state: state("old\n") })
    happen(folder.at("a.txt"))
    expect(await tree.look("a.txt")).toMatchObject(seen)
  })
  tree.close()
})

test.each([true, false])("a folder that is carried out of the tree takes nothing with it (%p)", async (strong) => {
  using folder = createFolder()
  mkdirSync(folder.at("project/dir"), { recursive: true })
  writeFileSync(folder.at("project/dir/a.txt"), "old\n")
  const tree = await openTree({ strong })(folder.at("project"))
  const staged = { path: "dir/a.txt", before: state("old\n"), after: state("new\n") }
  const content = async function* () {
    yield new TextEncoder().encode("new\n")
  }
  expect(await tree.draft("t", staged, content())).toBe("drafted")
  renameSync(folder.at("project/dir"), folder.at("elsewhere"))
  expect(await tree.place("t", staged)).toMatchObject({ kind: "refused" })
  expect(await tree.draft("u", staged, content())).toMatchObject({ kind: "refused" })
  expect(await tree.remove(staged.path, staged.before)).toMatchObject({ kind: "refused" })
  expect(readFileSync(folder.at("elsewhere/a.txt"), "utf8")).toBe("old\n")
  tree.close()
  symlinkSync(folder.at("elsewhere"), folder.at("project/dir"))
  const again = await openTree({ strong })(folder.at("project"))
  expect(await again.look("dir/a.txt")).toEqual({ kind: "refused", why: "it leads through a symbolic link" })
  again.close()
})

test("whoever takes back what another has left leaves no draft behind", async () => {
  using world = await createChangeWorld()
  const { change, files } = await many(world, 3, (index) => `f${index}.txt`)
  const ops = change.files.map(({ path, old, new: after }) => ({ path, before: old, after }))
  // Two were written, the third was not, and somebody else has changed it.
  for (const file of files.slice(0, 2)) world.put(file.path, file.new)
  world.put("f2.txt", "somebody else\n")
  const tree = await world.deps.openTree(world.project)
  const meddled: Tree = {
    ...tree,
    place(token, staged) {
      if (staged.path === "f0.txt") world.put("f0.txt", "somebody else\n")
      return tree.place(token, staged)
    },
  }
  const left = { apply_id: world.ids.make("apl"), directory: world.project, ops } as Application
  expect(await finish(world.deps, meddled, left)).toMatchObject({ done: false })
  tree.close()
  expect(world.paths()).toEqual(["f0.txt", "f1.txt", "f2.txt"])
  expect(["f0.txt", "f1.txt"].map((path) => world.get(path))).toEqual(["somebody else\n", "before 1\n"])
})
