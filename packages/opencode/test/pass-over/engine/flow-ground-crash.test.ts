import { expect, test } from "bun:test"
import { adopt } from "../../../src/pass-over/service/adopt"
import { groundOfPass } from "../../../src/pass-over/service/flow-ground"
import { proposedBy } from "../../../src/pass-over/service/flow-proposal"
import { answerGate } from "../../../src/pass-over/service/gate"
import { recover, resume, type Alive } from "../../../src/pass-over/service/recover"
import { createFlowTrees, paths, type Play } from "../support/flow-tree"
import { FILES, prefer, put, read } from "../support/nested"

// What a run has made is found again by whoever goes on with it.

const looks = "policy: { can_modify_files: false }"

const TWO = `
name: two
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: check, agent: inspector, objective: Look at it, ${looks} }
`

const THREE = `
name: three
steps:
  - { id: first, agent: general, objective: Begin it }
  - { id: second, agent: general, objective: Go on with it }
  - { id: last, agent: general, objective: End it }
`

const GATE = `
name: gate
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: accept, gate: accept it, on_reject: write, items: [Is it good?] }
`

test("whoever takes a run over finds the same work", async () => {
  const seen: (string | undefined)[] = []
  const play: Play = {
    "write#1": ({ tree }) => put(tree, "made.txt", "first\n"),
    "write#2"({ tree }) {
      seen.push(read(tree, "made.txt"))
      put(tree, "more.txt", "second\n")
    },
  }
  using world = createFlowTrees([GATE], FILES, play)
  const run = await world.start("gate")
  await world.question(run)
  using other = createFlowTrees([GATE], {}, play, world)
  expect(await other.flows.recover(() => "dead")).toBe(1)
  await other.answer(run, "reject", "more of it")
  await other.question(run)
  expect(seen).toEqual(["first\n"])
  expect(await paths(other, "write#2")).toEqual(["made.txt", "more.txt"])
})

test("a step whose opencode was killed is done again on the same work, without what it had begun", async () => {
  const seen: (string | undefined)[] = []
  const killed = { yet: false }
  const play: Play = {
    "first#1": ({ tree }) => put(tree, "made.txt", "one\n"),
    async "second#1"({ tree }) {
      seen.push(read(tree, "made.txt"), read(tree, "begun.txt"))
      put(tree, "begun.txt", "half\n")
      if (!killed.yet) await new Promise(() => void (killed.yet = true))
    },
    "last#1": ({ tree }) => void seen.push(read(tree, "made.txt"), read(tree, "begun.txt")),
  }
  using world = createFlowTrees([THREE], FILES, play)
  const { store, owner_id } = world.engine
  await store.enter({ owner_id, pid: 1, process_start: "x", host: "x", place: "x" }, 0)
  const run = await world.start("three")
  while (!killed.yet) await Bun.sleep(5)
  using other = createFlowTrees([THREE], {}, play, world)
  const found = { over: false }
  const dead: Alive = ({ owner_id: of }) => (of === owner_id ? "dead" : "alive")
  void recover(other.engine, dead).then(() => (found.over = true))
  await other.clock.until(() => found.over)
  expect(await other.flows.recover(dead)).toBe(1)
  expect((await other.rested(run)).state.status).toBe("completed")
  expect(seen).toEqual(["one\n", undefined, "one\n", undefined, "one\n", "half\n"])
  expect(await proposedBy(store, run)).toMatchObject([
    { pass_over_id: other.made.get("second#1")!.id, files: ["begun.txt", "made.txt"] },
  ])
  // What it had begun is kept as its own proposal, with what it stood on.
  await resume(other.engine, other.project, dead)
  expect(await paths(world, "second#1")).toEqual(["begun.txt", "made.txt"])
})

test("a pass that waited for a person when its opencode ended finds the work that it stands on", async () => {
  const seen: (string | undefined)[] = []
  const play: Play = {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "check#1": ({ tree }) => void seen.push(read(tree, "made.txt")),
  }
  using world = createFlowTrees([TWO], FILES, play)
  prefer(world, { subagents: { inspector: { require_confirmation: true } } })
  const { store, owner_id } = world.engine
  await store.enter({ owner_id, pid: 1, process_start: "x", host: "x", place: "x" }, 0)
  await world.start("two")
  const waits = async () => (await store.gates({ kind: "confirmation", status: ["pending"] }))[0]
  while (!(await waits())) await Bun.sleep(5)
  using other = createFlowTrees([TWO], {}, play, world)
  const found = { over: false }
  void recover(other.engine, ({ owner_id: of }) => (of === owner_id ? "dead" : "alive")).then(() => (found.over = true))
  await other.clock.until(() => found.over)
  expect(await adopt(other.engine, other.project)).toBe(1)
  const gate = await waits()
  await answerGate(other.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  while (seen.length === 0) await Bun.sleep(5)
  expect(seen).toEqual(["made\n"])
  const [pass] = (await store.list({})).filter(({ call_id }) => call_id?.includes("check"))
  expect(await groundOfPass(store, { ...pass!, session_id: "ses_another" })).toEqual([])
})
