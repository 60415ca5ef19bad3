/**
 * Applying and undoing a change: over many files, and over one large file, next to `git apply`, which asks nobody,
 * writes nothing down and syncs nothing.
 *
 *   bun bench/change.ts [files] [megabytes] [rounds]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { diff } from "../packages/opencode/src/pass-over/domain/change/hunk"
import { unified } from "../packages/opencode/src/pass-over/domain/change/unified"
import { apply } from "../packages/opencode/src/pass-over/service/change/apply"
import { undo } from "../packages/opencode/src/pass-over/service/change/undo"
import { createChangeWorld } from "../packages/opencode/test/pass-over/support/change"
import { quantile } from "./statistics"

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

/** The largest that this process has been while something ran, above what it was before. */
async function watched<T>(work: () => Promise<T>): Promise<{ value: T; grown: number }> {
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20)
  const value = await work()
  clearInterval(timer)
  return { value, grown: Math.max(most, process.memoryUsage.rss()) - before }
}

async function ours({ before, after }: Case) {
  const home = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
  using world = await createChangeWorld({ database: join(home, "db/pass-over.db") })
  put(world.project, before)
  const change = await world.change([...before].map(([path, old]) => ({ path, old, new: after.get(path) ?? "" })))
  await world.accept(change)
  const { value, grown } = await watched(async () => {
    const applied = await timed(() => apply(world.deps, { pass: world.pass, change, actor: "bench" }))
    const { value: result } = applied
    if (!result.ok) throw new Error(result.refusal.message)
    const undone = await timed(() =>
      undo(world.deps, { pass: world.pass, application: result.application, actor: "bench" }),
    )
    if (!undone.value.ok) throw new Error(undone.value.refusal.message)
    return { apply: applied.ms, undo: undone.ms }
  })
  rmSync(home, { recursive: true, force: true })
  return { ...value, grown }
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

for (const one of [many(), large()]) {
  const [mine, git] = [[], []] as [Awaited<ReturnType<typeof ours>>[], Awaited<ReturnType<typeof theirs>>[]]
  for (let turn = 0; turn < rounds; turn += 1) {
    git.push(await theirs(one))
    mine.push(await ours(one))
  }
  for (const act of ["apply", "undo"] as const) {
    const [a, b] = [mine, git].map((all) =>
      quantile(
        all.map((each) => each[act]),
        0.5,
      ),
    )
    console.log(
      `${one.name}, ${act}: ours ${round(a ?? 0)} ms, git apply ${round(b ?? 0)} ms, ${((a ?? 0) / (b ?? 1)).toFixed(1)} times`,
    )
  }
  console.log(
    `${one.name}: memory grew by at most ${round(
      quantile(
        mine.map((each) => each.grown),
        1,
      ) / 1e6,
    )} MB`,
  )
}
