import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { outcomeOf, started } from "../pass-over/support/drive"
import { createEngineWorld } from "../pass-over/support/engine"
import { createHome } from "./support"

const BEFORE = "export const total = (a, b) => a - b\n"
const AFTER = "export const total = (a, b) => a + b\n"

const LINES = "line\n".repeat(20)
const EDITS = [{ old_string: "a - b", new_string: "a + b" }]

/** A pass of the home's project that wants two files changed. */
async function scene(preferences: { verify_command?: string } = {}, before = BEFORE, edits = EDITS) {
  const home = createHome()
  mkdirSync(join(home.project, "src"))
  for (const name of ["a.ts", "b.ts"]) writeFileSync(join(home.project, "src", name), before)
  using world = createEngineWorld({ path: home.database, seed: 90_000 })
  world.project.directory = home.project
  world.preferences.push({ origin: "project", path: "p", preferences: { defaults: preferences } })
  world.host.script("audit", async (child) => {
    const artifacts = ["src/a.ts", "src/b.ts"].map((path) => ({ type: "file_modification", path, edits }))
    await child.return({ decision: "needs_modification", artifacts })
    child.step()
  })
  const runner = await started(world)
  await outcomeOf(world, runner)
  const read = () => ["a.ts", "b.ts"].map((name) => readFileSync(join(home.project, "src", name), "utf8"))
  return { home, id: runner.pass.id, read, [Symbol.dispose]: () => home[Symbol.dispose]() }
}

test("what a pass wants to change is shown, accepted and declined, applied and taken back", async () => {
  using made = await scene()
  const { home, id, read } = made
  const shown = await home.run("review", id, "--patch")
  expect([shown.err, shown.code]).toEqual(["", EXIT.ok])
  expect(shown.out).toContain("undecided")
  expect(shown.out).toContain("+export const total = (a, b) => a + b")

  const why = ["--reject", "src/b.ts", "--reason", "not part of this"]
  const judged = await home.run("review", id.slice(-8), "--accept", "src/a.ts", ...why)
  expect(judged.out).toContain("accepted")
  expect(judged.out).toContain("declined: not part of this")

  const applied = await home.run("apply", id, "--json")
  expect(applied.json()).toMatchObject({ pass_over_id: id, paths: ["src/a.ts"], verification: null })
  expect(read()).toEqual([AFTER, BEFORE])
  {
    // Whoever asked for it reads why, as they would of the panel.
    using world = createEngineWorld({ path: home.database, seed: 95_000 })
    const told = await world.engine.store.tells(home.project)
    expect(told).toMatchObject([{ kind: "tell", pass_over_id: id, text: expect.stringContaining("not part of this") }])
  }
  const undone = await home.run("undo")
  expect([undone.err, undone.code]).toEqual(["", EXIT.ok])
  expect(read()).toEqual([BEFORE, BEFORE])
  // An undo is an application like any other: undone, it brings the change back.
  expect(await home.run("undo", id)).toMatchObject({ code: EXIT.ok })
  expect(read()).toEqual([AFTER, BEFORE])
})

test("--all accepts and applies in one go, and a check that fails is told with its end", async () => {
  using made = await scene({ verify_command: "echo it is broken; exit 3" })
  const applied = await made.home.run("apply", made.id, "--all")
  expect(applied.code).toBe(EXIT.failed)
  expect(applied.out).toContain("ended with 3")
  expect(applied.out).toContain("it is broken")
  expect(applied.out).toContain(`pass-over undo ${made.id.slice(-8)} takes the change back`)
  expect(made.read()).toEqual([AFTER, AFTER])
})

test("--all leaves what was declined as it is: a file, or one of its hunks", async () => {
  const text = (a: string, b: string) => `${a}\n${LINES}${b}\n`
  const edits = ["one", "two"].map((word) => ({ old_string: word, new_string: `${word}!` }))
  using made = await scene({}, text("one", "two"), edits)
  const { home, id, read } = made
  expect(await home.run("review", id, "--reject", "src/a.ts#2", "src/b.ts")).toMatchObject({ code: EXIT.ok })
  expect(await home.run("apply", id, "--all")).toMatchObject({ code: EXIT.ok })
  expect(read()).toEqual([text("one!", "two"), text("one", "two")])
})

test("a stale base, a file that is not in the change, and a pass without one are refused", async () => {
  using made = await scene()
  const { home, id, read } = made
  expect(await home.run("review", id, "--accept", "src/c.ts")).not.toMatchObject({ code: EXIT.ok })
  expect(await home.run("review", id, "--reason", "because")).toMatchObject({ code: EXIT.usage })
  writeFileSync(join(home.project, "src/b.ts"), "somebody else\n")
  const stale = await home.run("apply", id, "--all", "--json")
  expect(stale.code).toBe(EXIT.late)
  expect(stale.json()).toMatchObject({ error: { code: "E041" } })
  expect(read()).toEqual([BEFORE, "somebody else\n"])
  expect((await home.run("apply", "00000000")).code).toBe(EXIT.not_found)
})

test("what is declined is sent back to be done again, and without an opencode it waits for one", async () => {
  using made = await scene()
  const { home, id } = made
  expect(await home.run("review", id, "--rework")).toMatchObject({ code: EXIT.late })
  const why = ["--reject", "src/b.ts", "--reason", "not part of this"]
  const none = { PATH: "", PASS_OVER_OPENCODE: "" }
  const sent = await home.on({ width: 0, env: none }, "review", id, ...why, "--rework", "--json")
  expect([sent.err, sent.code]).toEqual(["", EXIT.unconfirmed])
  expect(sent.json()).toMatchObject({
    pass_over_id: id,
    done: false,
    text: expect.stringContaining("goes back as soon"),
  })
  using world = createEngineWorld({ path: home.database, seed: 95_000 })
  const [command] = await world.engine.store.tells(home.project)
  expect(command).toMatchObject({ kind: "rework", pass_over_id: id, text: expect.stringContaining("not part of this") })
})

test("what is applied already is no stranger's file, and an undo of an undo brings back", async () => {
  using made = await scene()
  const { home, id } = made
  const none = await home.run("undo")
  expect(none.code).toBe(EXIT.failed)
  expect(none.err).toContain("pass-over audit query --action applied")
  expect((await home.run("audit", "query", "--action", "applied")).code).toBe(EXIT.ok)
  expect((await home.run("apply", id)).code).toBe(EXIT.failed)
  await home.run("apply", id, "--all")
  const twice = await home.run("apply", id)
  expect(twice.code).toBe(EXIT.late)
  expect(twice.err).toMatch(/^This is applied already, by .+ \(apl_\S+\)\.\n→ Undo it first/)
  expect((await home.run("undo")).out).toContain("Taken back: 2 file operations")
  expect((await home.run("undo")).out).toContain("Brought back: 2 file operations")
})

test("of a pass that proposes nothing a person is told where its words are", async () => {
  using made = await scene({}, BEFORE, [])
  const ran = await made.home.run("review", made.id)
  expect(ran.code).toBe(EXIT.failed)
  expect(ran.err).toContain(`pass-over show ${made.id.slice(-8)}`)
  expect(ran.err).not.toContain("pass_over_read")
})
