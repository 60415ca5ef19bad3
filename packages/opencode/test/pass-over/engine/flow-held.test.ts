import { expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { allowChange } from "../../../src/pass-over/service/change/approve"
import { answerGate } from "../../../src/pass-over/service/gate"
import { createFlowTrees, paths } from "../support/flow-tree"
import { changed, FILES, prefer, put, read } from "../support/nested"

const TWO = `
name: two
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: more, agent: inspector, objective: Go on with it }
`

const yes = { verdict: "approve", note: null, by: "ada", surface: "the terminal" } as const
const WILLING = { auto_apply: true, require_user_approval: false }

/** Two steps after each other, the first of which is not sure of its work, while the second lets the whole of it go. */
async function scene(settings: { write: object; more: object }) {
  const world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "more#1"({ tree }) {
      put(tree, "more.txt", "more\n")
      return { more: { auto_apply_allowed: true } }
    },
  })
  prefer(world, { subagents: { general: settings.write, inspector: settings.more } })
  expect((await world.rested(await world.start("two"))).state.status).toBe("completed")
  expect(await paths(world, "more#1")).toEqual(["made.txt", "more.txt"])
  const { directory, engine } = world
  return {
    world,
    pass: world.made.get("more#1") as Pass,
    written: () => ["made.txt", "more.txt"].map((path) => read(directory, path)),
    questions: () => engine.store.gates({ kind: "approval" }),
    [Symbol.dispose]: () => world[Symbol.dispose](),
  }
}

const NOTHING = [undefined, undefined]
const ALL = ["made\n", "more\n"]

test("what a step stands on applies itself with it where those steps let it as well", async () => {
  using made = await scene({ write: WILLING, more: WILLING })
  expect(made.written()).toEqual(ALL)
  expect(await made.questions()).toEqual([])
})

test("a step that applies itself stays a proposal where it holds work of one that does not", async () => {
  using made = await scene({ write: { ...WILLING, auto_apply: false }, more: WILLING })
  expect(made.written()).toEqual(NOTHING)
  expect(await made.questions()).toEqual([])
})

test("what somebody has applied already keeps no later step from applying itself", async () => {
  const between = "  - { id: look, agent: scout, objective: Look at it }\n  - { id: more,"
  using world = createFlowTrees([TWO.replace("  - { id: more,", between)], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    async "look#1"() {
      expect(await world.apply(world.made.get("write#1")!, "ada")).toMatchObject({ ok: true })
    },
    "more#1"({ tree }) {
      put(tree, "made.txt", "more\n")
      return { more: { auto_apply_allowed: true } }
    },
  })
  prefer(world, { subagents: { inspector: WILLING } })
  await world.rested(await world.start("two"))
  expect(read(world.directory, "made.txt")).toBe("more\n")
})

test("what a step has taken back of an earlier one is none of its own, and the rest applies itself", async () => {
  using world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "more#1"({ tree }) {
      rmSync(join(tree, "made.txt"))
      put(tree, "more.txt", "more\n")
      return { more: { auto_apply_allowed: true } }
    },
  })
  prefer(world, { subagents: { inspector: WILLING } })
  await world.rested(await world.start("two"))
  expect(read(world.directory, "more.txt")).toBe("more\n")
})

test("a step that asks nobody is put to a person where it holds work of one that wants them asked", async () => {
  using made = await scene({ write: { ...WILLING, require_user_approval: true }, more: WILLING })
  expect(made.written()).toEqual(NOTHING)
  expect(await made.questions()).toMatchObject([
    { pass_over_id: made.pass.id, status: "pending", detail: { auto: true } },
  ])
})

test("an agent that applies a later step asks a person where the earlier one wants that, and only there", async () => {
  for (const require_user_approval of [true, false]) {
    const left = { auto_apply: false, require_user_approval: false }
    using made = await scene({ write: { ...left, require_user_approval }, more: left })
    const { world, pass } = made
    const change = (await changed(world, pass))!
    const applying = world.apply(pass, "alice", allowChange(world.engine, { pass, change, asked_by: "alice" }))
    const over = applying.then(() => "over" as const)
    const asked = async () => {
      for (;;) {
        const [gate] = await made.questions()
        if (gate || (await Promise.race([over, Bun.sleep(2)])) === "over") return gate
      }
    }
    const gate = await asked()
    expect(gate === undefined).toBe(!require_user_approval)
    if (gate) {
      expect(made.written()).toEqual(NOTHING)
      await answerGate(world.engine, gate.gate_id, yes)
    }
    expect(await applying).toMatchObject({ ok: true })
    expect(made.written()).toEqual(ALL)
  }
})
