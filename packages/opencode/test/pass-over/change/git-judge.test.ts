import { afterAll, expect, test } from "bun:test"
import * as fc from "fast-check"
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { operations, type FileChange, type FileState, type Op } from "../../../src/pass-over/domain/change/change"
import { applyEdits, edits } from "../../../src/pass-over/domain/change/edit"
import { merge, mergeEdits } from "../../../src/pass-over/domain/change/merge"
import { lines } from "../../../src/pass-over/domain/change/text"
import { hunksOf, select } from "../../../src/pass-over/domain/change/review"
import { unified } from "../../../src/pass-over/domain/change/unified"
import { Cases, Three, type Case, type Tree } from "./generate"
import { clear, git, gitEdits, read, scratch, write } from "./git"

// `PASS_OVER_LONG=1 bun test ./test/pass-over/change/git-judge.test.ts` runs all of it.
const long = Boolean(process.env.PASS_OVER_LONG) || process.env.PASS_OVER_PROOF === "all"
const RUNS = long ? 3_000 : 300
const SEED = 7

afterAll(clear)

const sha = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
const bytes = (text: string) => new TextEncoder().encode(text)

const state = (content: string, executable: boolean): FileState => ({
  hash: sha(bytes(content)),
  mode: executable ? "100755" : "100644",
  bytes: bytes(content).length,
})

type Built = { base: Tree; changes: { change: FileChange; before: string; after: string; fate: Case["fate"] }[] }

/** A tree and its changes. What a case asks for and cannot be (a rename of an empty file, say) becomes an edit. */
function build(cases: readonly Case[]): Built {
  const base: Tree = new Map()
  const changes = cases.map(({ base: text, fate }, index) => {
    const folder = index % 2 === 0 ? "" : "sub folder/deep/"
    const path = `${folder}file ${index}.txt`
    const kind = fate.kind === "edit" && fate.content === text ? "mode" : fate.kind
    if (kind !== "new") base.set(path, { content: text, executable: false })
    const to = kind === "rename" ? `moved/${index}.txt` : path
    const executable = kind === "mode" || kind === "new" ? fate.executable : false
    const after = kind === "mode" ? text : fate.content
    const change: FileChange = {
      path: to,
      old_path: kind === "rename" ? path : null,
      old: kind === "new" ? null : state(text, false),
      new: kind === "delete" ? null : state(after, executable),
      binary: false,
      reason: "",
      confidence: "high",
      refused: null,
    }
    return { change, before: text, after, fate }
  })
  return { base, changes }
}

/** The tree after the operations, and the patch that asks git for the same. */
function ours({ base, changes }: Built): { tree: Tree; patch: string; partial: number } {
  const contents = new Map<string, string>()
  const ops: Op[] = []
  const patches: string[] = []
  let partial = 0
  for (const { change, before, after, fate } of changes) {
    // A change that changes nothing is none, and no patch can say it.
    if (!fate.accepted || operations(change).length === 0) continue
    contents.set(sha(bytes(before)), before)
    contents.set(sha(bytes(after)), after)
    const old = change.old && { path: change.old_path ?? change.path, mode: change.old.mode }
    const next = change.new && { path: change.path, mode: change.new.mode }
    const text = hunksOf(change, { old: bytes(before), new: bytes(after) })
    const hunks = text?.diff.hunks ?? []
    const chosen = new Set(hunks.map(({ hunk }) => hunk).filter((hunk) => (fate.hunks >> (hunk - 1)) & 1))
    if (!text || hunks.length === 0) {
      ops.push(...operations(change))
      const whole = hunksOf(
        { ...change, old: change.old ?? state("", false), new: change.new ?? state("", false) },
        {
          old: bytes(change.old ? before : ""),
          new: bytes(change.new ? after : ""),
        },
      )
      patches.push(unified(old, next, whole?.diff.hunks ?? []))
      continue
    }
    if (chosen.size === 0 && change.old_path === null) continue
    if (chosen.size < hunks.length) partial += 1
    const selected = select(change, text, chosen, sha)
    ops.push(...selected.ops)
    if (selected.content)
      contents.set(sha(selected.content), new TextDecoder("utf-8", { ignoreBOM: true }).decode(selected.content))
    patches.push(
      unified(
        old,
        next,
        hunks.filter(({ hunk }) => chosen.has(hunk)),
      ),
    )
  }
  const tree: Tree = new Map(base)
  for (const { path, after } of ops) {
    if (after === null) tree.delete(path)
    if (after) tree.set(path, { content: contents.get(after.hash) ?? "?", executable: after.mode === "100755" })
  }
  return { tree: new Map([...tree].toSorted(([a], [b]) => (a < b ? -1 : 1))), patch: patches.join(""), partial }
}

test(`${RUNS} generated trees, changes and selections come out as git apply has them`, () => {
  let [applied, partial] = [0, 0]
  fc.assert(
    fc.property(Cases, (cases) => {
      const built = build(cases)
      const mine = ours(built)
      if (mine.patch === "") return
      const folder = scratch()
      write(folder, built.base)
      const { code, stderr } = git(folder, ["apply", "--whitespace=nowarn", "--unidiff-zero", "-"], mine.patch)
      expect({ code, stderr, patch: mine.patch }).toEqual({ code: 0, stderr: "", patch: mine.patch })
      expect(Object.fromEntries(read(folder))).toEqual(Object.fromEntries(mine.tree))
      applied += 1
      partial += mine.partial
    }),
    { seed: SEED, numRuns: RUNS },
  )
  // A generator that makes nothing of interest must not pass.
  expect(applied).toBeGreaterThanOrEqual((RUNS * 2) / 3)
  expect(partial).toBeGreaterThan(RUNS * 0.1)
}, 600_000)

test(`${RUNS} generated three-way merges come out as git merge-file has them, for the same hunks`, () => {
  const tally = { clean: 0, conflict: 0, same_hunks: 0 }
  fc.assert(
    fc.property(Three, ({ base, ours, theirs }) => {
      const folder = scratch()
      for (const [name, text] of Object.entries({ base, ours, theirs })) writeFileSync(join(folder, name), text)
      const judge = git(folder, ["merge-file", "-p", "-q", "ours", "base", "theirs"])
      const found = { ours: gitEdits(base, ours), theirs: gitEdits(base, theirs) }
      const mine = mergeEdits(lines(base), found.ours, found.theirs)
      expect({ base, ours, theirs, clean: mine.ok }).toEqual({ base, ours, theirs, clean: judge.code === 0 })
      if (mine.ok) expect(mine.text).toBe(judge.stdout)
      tally[mine.ok ? "clean" : "conflict"] += 1
      // Where our own difference finds the same hunks as git's, the whole merge has to be the same.
      const own = { ours: edits(lines(base), lines(ours)), theirs: edits(lines(base), lines(theirs)) }
      if (!Bun.deepEquals(own, found)) return
      tally.same_hunks += 1
      const whole = merge(base, ours, theirs)
      expect(whole.ok).toBe(judge.code === 0)
      if (whole.ok) expect(whole.text).toBe(judge.stdout)
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(tally.clean).toBeGreaterThan(RUNS * 0.2)
  expect(tally.conflict).toBeGreaterThan(RUNS * 0.1)
  expect(tally.same_hunks).toBeGreaterThan(RUNS * 0.2)
  if (long) console.log(tally)
}, 600_000)

test("edits give back the text that they were taken from, whatever it is", () => {
  fc.assert(
    fc.property(Three, ({ base, ours }) => {
      expect(applyEdits(lines(base), edits(lines(base), lines(ours))).join("")).toBe(ours)
    }),
    { seed: SEED, numRuns: 2_000 },
  )
})
