/**
 * Applying and undoing a change: over many files, and over one large file, next to `git apply`, which asks nobody,
 * writes nothing down and syncs nothing; and next to the bare files: each written beside its place and renamed into it,
 * which is the least that a whole file or none costs on this disk.
 *
 *   bun bench/change.ts [files] [megabytes] [rounds]
 *
 * TMPDIR decides about the disk. An ext4 without a journal searches for a long time for a place for new files where many
 * have just been replaced; the bare files show it.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { diff } from "../packages/opencode/src/pass-over/domain/change/hunk"
import { unified } from "../packages/opencode/src/pass-over/domain/change/unified"
import { apply } from "../packages/opencode/src/pass-over/service/change/apply"
import { undo } from "../packages/opencode/src/pass-over/service/change/undo"
import { createChangeWorld } from "../packages/opencode/test/pass-over/support/change"
import { quantile } from "./statistics"

const [act = "", database = "", project = ""] = process.argv.slice(2)
const [files = 10_000, megabytes = 50, rounds = 3] = process.argv.slice(2).map(Number)

type Case = { name: string; before: Map<string, string>; after: Map<string, string> }

const text = (lines: number, mark: (line: number) => string) =>
  Array.from({ length: lines }, (_, line) => `${mark(line)}\n`).join("")

const many = (): Case => {
  const paths = Array.from({ length: files }, (_, index) => `src/${index % 100}/file-${index}.ts`)
  const make = (word: string) =>
    new Map(
      paths.map((path, index) => [
        path,
        text(40, (line) => (line === 20 ? `${word} ${index}` : `line ${line} of ${index}`)),
      ]),
    )
  return { name: `${files} files`, before: make("before"), after: make("after") }
}

const large = (): Case => {
  const lines = Math.round((megabytes * 1_000_000) / 60)
  const make = (word: string) =>
    new Map([
      ["large.txt", text(lines, (line) => (line % 50_000 === 7 ? `${word} ${line}` : `${line} ${"x".repeat(50)}`))],
    ])
  return { name: `one file of ${megabytes} MB`, before: make("before"), after: make("after") }
}

function put(root: string, tree: ReadonlyMap<string, string>) {
  for (const [path, content] of tree) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

const timed = async <T>(work: () => T | Promise<T>): Promise<{ ms: number; value: T }> => {
  const began = performance.now()
  const value = await work()
  return { ms: performance.now() - began, value }
}

function git(cwd: string, args: string[], stdin: string) {
  const child = Bun.spawnSync(["git", ...args], {
    cwd,
    stdin: Buffer.from(stdin),
    env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
  })
  if (child.exitCode !== 0) throw new Error(child.stderr.toString())
}

const memory = (name: "VmRSS" | "VmHWM") =>
  1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1])

type Measured = { apply: number; undo: number; grown: number }

/** In a process of its own, so that its memory is what the two acts take. */
async function measured(): Promise<Measured> {
  using world = await createChangeWorld({ database, project, owner: 2 })
  const [pass] = (await world.store.list({ directory: project })).filter(({ id }) => id !== world.pass.id)
  if (!pass) throw new Error("nothing was prepared")
  const [change] = await world.store.changes(pass.id)
  if (!change) throw new Error("nothing was prepared")
  const before = memory("VmRSS")
  const applied = await timed(() => apply(world.deps, { pass, change, actor: "bench" }))
  const { value: result } = applied
  if (!result.ok) throw new Error(result.refusal.message)
  const undone = await timed(() => undo(world.deps, { pass, application: result.application, actor: "bench" }))
  if (!undone.value.ok) throw new Error(undone.value.refusal.message)
  return { apply: applied.ms, undo: undone.ms, grown: memory("VmHWM") - before }
}

async function ours({ before, after }: Case): Promise<Measured> {
  const home = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
  const place = [join(home, "db/pass-over.db"), join(home, "project")] as const
  {
    using world = await createChangeWorld({ database: place[0], project: place[1] })
    put(world.project, before)
    const change = await world.change([...before].map(([path, old]) => ({ path, old, new: after.get(path) ?? "" })))
    await world.accept(change)
  }
  const child = Bun.spawn([process.execPath, import.meta.path, "measured", ...place], { stderr: "inherit" })
  const told = await child.stdout.text()
  rmSync(home, { recursive: true, force: true })
  return JSON.parse(told) as Measured
}

function bare({ before, after }: Case) {
  const root = mkdtempSync(join(tmpdir(), "pass-over-bench-bare-"))
  put(root, before)
  const write = (tree: ReadonlyMap<string, string>) => {
    for (const [path, content] of tree) writeFileSync(join(root, `${path}.tmp`), content)
    for (const path of tree.keys()) renameSync(join(root, `${path}.tmp`), join(root, path))
  }
  const began = performance.now()
  write(after)
  const middle = performance.now()
  write(before)
  const ended = performance.now()
  rmSync(root, { recursive: true, force: true })
  return { apply: middle - began, undo: ended - middle }
}

async function theirs({ before, after }: Case) {
  const root = mkdtempSync(join(tmpdir(), "pass-over-bench-git-"))
  put(root, before)
  const patch = [...before]
    .map(([path, old]) =>
      unified({ path, mode: "100644" }, { path, mode: "100644" }, diff(old, after.get(path) ?? "").hunks),
    )
    .join("")
  const applied = await timed(() => git(root, ["apply", "--whitespace=nowarn", "-"], patch))
  const undone = await timed(() => git(root, ["apply", "-R", "--whitespace=nowarn", "-"], patch))
  rmSync(root, { recursive: true, force: true })
  return { apply: applied.ms, undo: undone.ms }
}

const round = (value: number) => Math.round(value).toLocaleString("en")

async function compared(one: Case) {
  const all: { mine: Measured; git: Omit<Measured, "grown">; bare: Omit<Measured, "grown"> }[] = []
  for (let turn = 0; turn < rounds; turn += 1) {
    all.push({ git: await theirs(one), bare: bare(one), mine: await ours(one) })
  }
  for (const act of ["apply", "undo"] as const) {
    const [mine = 0, git = 1, files = 0] = (["mine", "git", "bare"] as const).map((who) =>
      quantile(
        all.map((each) => each[who][act]),
        0.5,
      ),
    )
    const times = (mine / git).toFixed(1)
    console.log(
      `${one.name}, ${act}: ours ${round(mine)} ms, git apply ${round(git)} ms, ${times} times; the bare files ${round(files)} ms`,
    )
  }
  const grown = quantile(
    all.map(({ mine }) => mine.grown),
    1,
  )
  console.log(`${one.name}: memory grew by at most ${round(grown / 1e6)} MB`)
}

if (act === "measured") {
  console.log(JSON.stringify(await measured()))
  process.exit(0)
}
for (const one of [many(), large()]) await compared(one)
