import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { proposedBy } from "../../../src/pass-over/service/flow-proposal"
import { tellRun } from "../../../src/pass-over/service/flow-tell"
import { changeOf, createFlowTrees, paths, type Play } from "../support/flow-tree"
import { FILES, LINES, prefer, put, read } from "../support/nested"

const looks = "policy: { can_modify_files: false }"

const TWO = `
name: two
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: check, agent: inspector, objective: Look at it, ${looks} }
`

const LOOP = `
name: loop
steps:
  - id: write
    agent: general
    objective: Build it
    critic: { agent: audit, objective: Review it, rounds: 3, ${looks} }
`

const GATE = `
name: gate
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: accept, gate: accept it, on_reject: write, items: [Is it good?] }
`

const SIDES = `
name: sides
steps:
  - { id: first, agent: general, objective: Begin it }
  - id: sides
    rule: all
    parallel:
      - { id: left, agent: general, objective: The left }
      - { id: right, agent: inspector, objective: The right }
  - { id: last, agent: general, objective: End it }
`

const THREE = `
name: three
steps:
  - { id: first, agent: general, objective: Begin it }
  - { id: second, agent: general, objective: Go on with it }
  - { id: last, agent: general, objective: End it }
`

const again = {
  note: { routing: { recommendation: "LOOP", can_further_iteration_help: true, reason: "fixable" } },
  more: {
    decision: "needs_modification",
    findings: [{ severity: "error", category: "bug", message: "it loses cents", path: "src/total.ts", line: 1 }],
  },
}

const line = (number: number, text: string, from = LINES) => from.replace(`line ${number}\n`, `${text}\n`)

/** Applies the whole of what a work proposes, as a person would. */
const apply = (world: ReturnType<typeof createFlowTrees>, key: string) => world.apply(world.made.get(key)!, "ada")

test("a step sees the files that the step before it wrote, and the run tells that they wait to be applied", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "check#1"({ tree, prompt }) {
      seen.push(read(tree, "made.txt"))
      // Its name goes along; what it is now is in the tree.
      expect(prompt.text).toContain("made.txt")
      expect(prompt.text).not.toContain("content of made.txt")
      // What its tests leave behind is discarded, and nothing else is.
      put(tree, "coverage.txt", "100\n")
      return { note: { artifacts: [{ path: "made.txt", description: "what was made" }] } }
    },
  })
  const run = await world.start("two")
  const { state } = await world.rested(run)
  expect(state.status).toBe("completed")
  expect(seen).toEqual(["made\n"])
  // What it names is there, though not in the project: nothing goes back to it.
  expect([...world.made.keys()]).toEqual(["write#1", "check#1"])
  expect(read(world.directory, "made.txt")).toBeUndefined()
  expect(await paths(world, "write#1")).toEqual(["made.txt"])
  expect((await changeOf(world, "check#1"))?.files).toEqual([])
  expect((await changeOf(world, "check#1"))?.notes).toEqual(["it may not change files; discarded: coverage.txt"])
  const { id } = world.made.get("write#1")!
  const told = await tellRun(world.engine, run, state)
  expect(told).toContain(
    `1 file of general waits to be applied; the project is unchanged until then: pass-over apply ${id}`,
  )
  expect(told.slice(told.indexOf("as data"))).toContain("made.txt")
  expect(await apply(world, "write#1")).toMatchObject({ ok: true })
  expect(read(world.directory, "made.txt")).toBe("made\n")
  expect(await proposedBy(world.engine.store, run)).toMatchObject([{ files: ["made.txt"], applied: true }])
  expect(await tellRun(world.engine, run, state)).not.toContain("applied;")
})

test("a critic reviews the round's change, the next round goes on from it, and one proposal holds it all", async () => {
  const seen: Record<string, (string | undefined)[]> = {}
  const look: Play[string] = ({ tree, key }) => void (seen[key] = [read(tree, "made.txt"), read(tree, "a.txt")])
  using world = createFlowTrees([LOOP], FILES, {
    "write#1"({ tree }) {
      put(tree, "made.txt", "round 1\n")
      put(tree, "a.txt", line(3, "three"))
    },
    async "write#2"(child) {
      await look(child)
      return again
    },
    async "write#3"(child) {
      await look(child)
      put(child.tree, "made.txt", "round 1\nround 2\n")
    },
    "write#4": look,
  })
  const run = await world.start("loop")
  expect((await world.rested(run)).state).toMatchObject({ status: "completed", results: { write: { rounds: 2 } } })
  expect(seen).toEqual({
    "write#2": ["round 1\n", line(3, "three")],
    "write#3": ["round 1\n", line(3, "three")],
    "write#4": ["round 1\nround 2\n", line(3, "three")],
  })
  expect(await changeOf(world, "write#2")).toBeUndefined()
  expect(await paths(world, "write#3")).toEqual(["a.txt", "made.txt"])
  // What it did itself is told as its own; what it proposes is the whole.
  const outcome = await world.engine.store.outcome(world.made.get("write#3")!.id)
  const own = outcome?.output.artifacts.flatMap((one) => (one.type === "file_modification" ? [one.path] : []))
  expect(own).toEqual(["made.txt"])
  expect(await apply(world, "write#3")).toMatchObject({ ok: true })
  expect([read(world.directory, "made.txt"), read(world.directory, "a.txt")]).toEqual([
    "round 1\nround 2\n",
    line(3, "three"),
  ])
})

test("what a person sends back at a gate is what it is done again on, and the question says what waits", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([GATE], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "first\n"),
    "write#2"({ tree }) {
      seen.push(read(tree, "made.txt"))
      put(tree, "more.txt", "second\n")
    },
  })
  const run = await world.start("gate")
  const first = await world.question(run)
  expect(first.question).toContain(`1 file of general waits to be applied`)
  expect(first.question).toContain(`pass-over apply ${world.made.get("write#1")!.id}`)
  expect(first.detail).toMatchObject({ proposed: [{ files: ["made.txt"], applied: false }] })
  await world.answer(run, "reject", "more of it")
  const second = await world.question(run)
  expect(seen).toEqual(["first\n"])
  expect(second.question).toContain("2 files of general wait to be applied")
  await world.answer(run, "approve")
  const { state } = await world.rested(run)
  expect(state.status).toBe("completed")
  expect(await tellRun(world.engine, run, state)).toContain(
    `2 files of general wait to be applied; the project is unchanged until then: pass-over apply ${world.made.get("write#2")!.id}`,
  )
})

test("branches begin on the same, and what each made is in the next step; what does not fit together is told", async () => {
  const seen: Record<string, (string | undefined)[]> = {}
  const told: string[] = []
  using world = createFlowTrees(
    [SIDES],
    { ...FILES, "both.txt": "one\n" },
    {
      "first#1"({ tree }) {
        put(tree, "made.txt", LINES)
        put(tree, "untouched.txt", "first\n")
        put(tree, "picture.bin", "\0first")
      },
      "sides.left#1"({ tree }) {
        seen.left = [read(tree, "made.txt")]
        put(tree, "made.txt", line(2, "left"))
        put(tree, "left.txt", "left\n")
        put(tree, "picture.bin", "\0left")
        put(tree, "both.txt", "left\n")
      },
      "sides.right#1"({ tree }) {
        seen.right = [read(tree, "made.txt")]
        put(tree, "made.txt", line(29, "right"))
        put(tree, "right.txt", "right\n")
        put(tree, "both.txt", "right\n")
        return { note: { artifacts: [{ path: "nowhere.txt", description: "not there" }] } }
      },
      // What is wrong with its handoff goes back to it, and it finds its own work and nobody else's.
      "sides.right#2"({ tree }) {
        seen.again = ["right.txt", "left.txt", "made.txt"].map((path) => read(tree, path))
        put(tree, "right.txt", "right again\n")
      },
      "last#1"({ tree, prompt }) {
        told.push(prompt.text)
        const all = ["made.txt", "left.txt", "right.txt", "both.txt", "untouched.txt", "picture.bin"]
        seen.last = all.map((path) => read(tree, path))
        put(tree, "last.txt", "last\n")
      },
    },
  )
  const run = await world.start("sides")
  expect((await world.rested(run)).state.status).toBe("completed")
  expect(seen).toEqual({
    left: [LINES],
    right: [LINES],
    again: ["right\n", undefined, line(29, "right")],
    last: [line(29, "right", line(2, "left")), "left\n", "right again\n", "left\n", "first\n", "\0left"],
  })
  const right = world.made.get("sides.right#2")!.id
  expect(told[0]).toContain("with what earlier steps have made on top")
  expect(told[0]).toContain(`both.txt as it was proposed before is not in the tree: both sides changed the same lines`)
  expect((await changeOf(world, "last#1"))?.notes).toEqual([expect.stringContaining(`(pass ${right})`)])
  expect(await paths(world, "last#1")).toEqual([
    "both.txt",
    "last.txt",
    "left.txt",
    "made.txt",
    "picture.bin",
    "right.txt",
    "untouched.txt",
  ])
  expect(await proposedBy(world.engine.store, run)).toMatchObject([{ pass_over_id: world.made.get("last#1")!.id }])
  expect(await apply(world, "last#1")).toMatchObject({ ok: true })
  expect(read(world.directory, "made.txt")).toBe(line(29, "right", line(2, "left")))
})

test("a flow that ends with branches tells one proposal for each that changed files, which holds what came before", async () => {
  using world = createFlowTrees([SIDES.replace(/ {2}- \{ id: last.*\n/, "")], FILES, {
    "first#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "sides.left#1": ({ tree }) => put(tree, "left.txt", "left\n"),
    "sides.right#1": ({ tree }) => put(tree, "right.txt", "right\n"),
  })
  const run = await world.start("sides")
  const { state } = await world.rested(run)
  expect((await proposedBy(world.engine.store, run)).map(({ files }) => files)).toEqual([
    ["left.txt", "made.txt"],
    ["made.txt", "right.txt"],
  ])
  expect(await tellRun(world.engine, run, state)).toContain("One after another")
})

test("however many branches propose files, a question says first what it asks, and both say where the rest is told", async () => {
  const ids = Array.from({ length: 24 }, (_each, index) => `b${index}`)
  const branches = ids.map((id) => `      - { id: ${id}, agent: general, objective: Build ${id} }`).join("\n")
  const play = Object.fromEntries(
    ids.map((id): [string, Play[string]] => [`many.${id}#1`, ({ tree }) => put(tree, `${id}.txt`, `${id}\n`)]),
  )
  const text = `name: many\nsteps:\n  - id: many\n    parallel:\n${branches}\n  - { id: accept, gate: accept it, items: [Is it good?] }\n`
  using world = createFlowTrees([text], FILES, play)
  const run = await world.start("many")
  const { question } = await world.question(run)
  expect(question).toStartWith("many, accept: accept it — 1 file of general waits to be applied")
  expect(question).toContain(`19 more wait like them: pass-over flow show ${run.run_id} names them all.`)
  expect(question.length).toBeLessThan(4_000)
  const told = await tellRun(world.engine, run, (await world.rested(run)).state)
  expect(told).toContain(`12 more wait like them: pass-over flow show ${run.run_id} names them all.`)
}, 60_000)

test("a proposal that was applied meanwhile is left as it is, also where a later one builds upon it", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([LOOP], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "round 1\n"),
    async "write#2"() {
      await apply(world, "write#1")
      return again
    },
    async "write#3"({ tree }) {
      seen.push(read(tree, "made.txt"))
      put(tree, "made.txt", "round 1\nround 2\n")
      put(tree, "more.txt", "more\n")
    },
    async "write#4"({ tree }) {
      seen.push(read(tree, "made.txt"))
    },
  })
  const run = await world.start("loop")
  expect((await world.rested(run)).state.status).toBe("completed")
  expect(seen).toEqual(["round 1\n", "round 1\nround 2\n"])
  expect((await changeOf(world, "write#3"))?.notes).toEqual([])
  expect(await apply(world, "write#3")).toMatchObject({ ok: true })
  expect(read(world.directory, "made.txt")).toBe("round 1\nround 2\n")
})

test("what is applied while a later step works is what the work of that step is put on", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([THREE], FILES, {
    "first#1"({ tree }) {
      put(tree, "made.txt", "one\n")
      put(tree, "kept.txt", "kept\n")
      put(tree, "edited.txt", LINES)
    },
    async "second#1"({ tree }) {
      expect(await apply(world, "first#1")).toMatchObject({ ok: true })
      // And goes on with it by hand.
      put(world.directory, "edited.txt", line(2, "by hand"))
      put(tree, "made.txt", "two\n")
      put(tree, "edited.txt", line(29, "second"))
    },
    "last#1"({ tree }) {
      seen.push(read(tree, "made.txt"), read(tree, "kept.txt"), read(tree, "edited.txt"))
      put(tree, "last.txt", "last\n")
    },
  })
  expect((await world.rested(await world.start("three"))).state.status).toBe("completed")
  expect(seen).toEqual(["two\n", "kept\n", line(29, "second", line(2, "by hand"))])
  expect((await changeOf(world, "last#1"))?.notes).toEqual([])
  expect(await paths(world, "last#1")).toEqual(["edited.txt", "last.txt", "made.txt"])
  expect(await apply(world, "last#1")).toMatchObject({ ok: true })
  expect(read(world.directory, "made.txt")).toBe("two\n")
})

test("a step that works in the project itself sees no proposal, and none of both is written twice", async () => {
  const seen: Record<string, (string | undefined)[]> = {}
  const look = (tree: string) => [read(tree, "made.txt"), read(tree, "a.txt")]
  using world = createFlowTrees([THREE.replace("id: second, agent: general", "id: second, agent: scout")], FILES, {
    "first#1": ({ tree }) => put(tree, "made.txt", "one\n"),
    "second#1"({ tree }) {
      seen.second = [tree, ...look(tree)]
      put(tree, "a.txt", line(3, "direct"))
    },
    "last#1"({ tree }) {
      seen.last = look(tree)
      put(tree, "last.txt", "last\n")
    },
  })
  prefer(world, { subagents: { scout: { isolation: "none" } } })
  expect((await world.rested(await world.start("three"))).state.status).toBe("completed")
  expect(seen).toEqual({ second: [world.directory, undefined, LINES], last: ["one\n", line(3, "direct")] })
  expect(await paths(world, "last#1")).toEqual(["last.txt", "made.txt"])
})

test("a step that works in the project itself is given its files as they are there, whatever was proposed", async () => {
  const given: Record<string, boolean> = {}
  for (const isolation of ["none", "worktree"]) {
    using world = createFlowTrees([TWO.replace("Look at it", "Look at a.txt")], FILES, {
      "write#1": ({ tree }) => put(tree, "a.txt", "proposed\n"),
      "check#1": ({ prompt }) => void (given[isolation] = prompt.text.includes("content of a.txt")),
    })
    prefer(world, { subagents: { inspector: { isolation } } })
    expect((await world.rested(await world.start("two"))).state.status).toBe("completed")
  }
  expect(given).toEqual({ none: true, worktree: false })
})

test("who may neither run nor edit anything reads the work of earlier steps in a tree", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "check#1"({ tree }) {
      seen.push(read(tree, "made.txt"))
      const at = { path: "made.txt", line: 1, replaces: "made", suggested_fix: "better" }
      return { more: { findings: [{ severity: "info", category: "style", message: "a better word", ...at }] } }
    },
  })
  prefer(world, { subagents: { inspector: { can_run_tools: false, can_modify_files: false } } })
  const run = await world.start("two")
  await world.rested(run)
  expect(seen).toEqual(["made\n"])
  // What it suggests is its own proposal, and nothing that the run has made.
  expect(await paths(world, "check#1")).toEqual(["made.txt"])
  expect(await proposedBy(world.engine.store, run)).toMatchObject([{ pass_over_id: world.made.get("write#1")!.id }])
})

test("what is proposed in words is checked against the files as the step finds them", async () => {
  const seen: (string | undefined)[] = []
  const fix = { severity: "error", category: "bug", message: "a word is wrong", path: "made.txt", line: 1 }
  using world = createFlowTrees([LOOP.replace("rounds: 3", "rounds: 1"), THREE], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "wrong\n"),
    "write#2": () => ({
      more: { findings: [{ ...fix, severity: "info", replaces: "wrong", suggested_fix: "right" }] },
    }),
    "first#1": ({ tree }) => put(tree, "made.txt", "one\n"),
    "second#1": () => ({
      more: {
        artifacts: [{ type: "file_modification", path: "made.txt", old_content: "one\n", new_content: "two\n" }],
      },
    }),
    "last#1": ({ tree }) => void seen.push(read(tree, "made.txt")),
  })
  const run = await world.start("loop")
  expect((await world.rested(run)).state.status).toBe("completed")
  // What a critic suggests is for whoever reads it, and no part of what the run has made.
  expect(await proposedBy(world.engine.store, run)).toMatchObject([{ pass_over_id: world.made.get("write#1")!.id }])
  expect((await changeOf(world, "write#2"))?.files).toMatchObject([{ path: "made.txt", old: null }])
  await world.rested(await world.start("three"))
  expect(seen).toEqual(["two\n"])
})

test("a result from the cache stood on the same work", async () => {
  const cached = TWO.replace("objective: Look at it", "objective: Look at it, cache: true, takes: []")
  const content = { now: "one\n" }
  const asked: string[] = []
  using world = createFlowTrees(
    [cached],
    { ...FILES, "src/total.ts": "export const total = 1\n" },
    {
      "write#1": ({ tree }) => put(tree, "made.txt", content.now),
      "check#1"({ tool }) {
        asked.push(content.now)
        tool("read", { filePath: "made.txt" }, content.now)
      },
    },
  )
  prefer(world, { defaults: { result_cache: true } })
  for (const next of ["one\n", "two\n", "one\n"]) {
    content.now = next
    const { state } = await world.rested(await world.start("two"))
    expect(state.results["check"]?.passed).toBe(true)
  }
  expect(asked).toEqual(["one\n", "two\n"])
})

test("a step that takes everything back leaves nothing to stand on", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([THREE], FILES, {
    "first#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "second#1": ({ tree }) => rmSync(join(tree, "made.txt")),
    "last#1": ({ tree }) => void seen.push(read(tree, "made.txt")),
  })
  const run = await world.start("three")
  expect((await world.rested(run)).state.status).toBe("completed")
  expect(seen).toEqual([undefined])
  expect((await changeOf(world, "second#1"))?.notes).toEqual(["it took back what earlier steps had made: made.txt"])
  expect(await proposedBy(world.engine.store, run)).toEqual([])
})

test("without isolation a flow works in the project, and nothing is put on top of anything", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "check#1": ({ tree }) => void seen.push(tree, read(tree, "made.txt")),
  })
  prefer(world, { defaults: { isolation: "none" } })
  const run = await world.start("two")
  expect((await world.rested(run)).state.status).toBe("completed")
  expect(seen).toEqual([world.directory, "made\n"])
  expect(await proposedBy(world.engine.store, run)).toEqual([])
  expect(await world.engine.store.worktrees()).toEqual([])
})
