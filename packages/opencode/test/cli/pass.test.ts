import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { attend } from "../../src/pass-over/service/command"
import { outcomeOf, started } from "../pass-over/support/drive"
import { createEngineWorld, type EngineWorld } from "../pass-over/support/engine"
import { settle } from "../pass-over/support/fake-clock"
import { createHome, type Home } from "./support"

const REPORT = {
  decision: "needs_modification",
  decision_reason: "The totals are wrong.",
  findings: [
    {
      severity: "error",
      category: "logic",
      message: "sums the \u001b[31mwrong\u001b[0m column",
      path: "src/total.ts",
      line: 3,
    },
  ],
}

/** opencode at work on the database of a home. */
function engineIn(home: Home, preferences = {}): EngineWorld {
  const world = createEngineWorld({ path: home.database })
  world.project.directory = home.project
  world.preferences.push({ origin: "project", path: "pass-over.json", preferences })
  world.host.script("audit", async (child) => {
    await child.return(REPORT)
    child.step({ input: 1_000, cost: 0.02 })
    await child.told
  })
  return world
}

test("a pass is shown with what its child was told, said and did, and none of it moves the cursor", async () => {
  using home = createHome()
  using world = engineIn(home)
  world.host.script("audit", async (child) => {
    child.think("The sum comes first.")
    child.say(`I read\u001b[2J it.\nThen I run it. ${"word ".repeat(2_000)}`)
    child.tool("bash", { command: "node --test\u001b[31m" }, "1 failed")
    await child.return(REPORT)
    child.step()
    await child.told
  })
  const runner = await started(world, { objective: "Check the totals" })
  await outcomeOf(world, runner)
  await world.clock.advance(1_000)
  const { id } = runner.pass
  expect((await home.run("show", id)).out).not.toContain("I read")
  const { out, code } = await home.run("show", id, "--transcript")
  expect(code).toBe(0)
  const order = [
    /\n\d\d:\d\d:\d\d {2}was told\n {10}alice passes a piece of work over to you/,
    /  thought\n {10}The sum comes first\.\n/,
    /  said\n {10}I read it\.\n {10}Then I run it\. word /,
    /\n {10}… 2,0\d\d more characters\n/,
    /  called bash\n {10}\{"command":"node --test.*"\}\n {10}→ 1 failed\n/,
    /audit: needs_modification/,
  ].map((line) => out.search(line))
  expect(order).not.toContain(-1)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(out).not.toContain("\u001b[2J")
  const json = (await home.run("show", id, "--transcript", "--json")).json() as { transcript: { kind: string }[] }
  expect(json.transcript.map(({ kind }) => kind)).toEqual(["told", "thought", "said", "tool"])
})

test("without a database there is nothing to list, and none is made", async () => {
  using home = createHome()
  expect((await home.run("list")).out).toStartWith(`No passes yet in ${home.project}.`)
  expect((await home.run("inbox")).out).toStartWith("Nothing waits for you here.")
  expect(await Bun.file(home.database).exists()).toBe(false)
})

test("a pass is listed, and shown with what came of it, by a part of its id", async () => {
  using home = createHome()
  using world = engineIn(home)
  const runner = await started(world, { objective: "Check the totals\u001b[2J of June" })
  await outcomeOf(world, runner)
  const { id } = runner.pass
  const now = world.clock.now() + 90_000

  const list = await home.on({ width: 0, now }, "list")
  expect(list.out.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^ID +WHEN +WHO +STATE +DECISION +VERDICT +FINDINGS +COST +OBJECTIVE$/),
    expect.stringMatching(
      new RegExp(
        `^${id.slice(-8)} +1 min 30 s ago +alice → audit +returned +needs_modification +UNVERIFIED +1 +\\$0\\.02 +Check the totals of June$`,
      ),
    ),
  ])
  expect((await home.run("list", "--json")).json()).toMatchObject({
    passes: [{ id, result: { decision: "needs_modification", verdict: "UNVERIFIED" } }],
  })
  const none = "No passes like this"
  expect((await home.run("list", "--verdict", "unverified", "--decision", "needs_modification")).out).toContain("alice")
  expect((await home.run("list", "--verdict", "VERIFIED,BLOCKED")).out).toContain(none)
  expect((await home.run("list", "--decision", "approved")).out).toContain(none)
  const wrong = await home.run("list", "--verdict", "approved")
  expect([wrong.code, wrong.err]).toEqual([
    EXIT.usage,
    expect.stringContaining('--verdict knows VERIFIED, UNVERIFIED, BLOCKED, not "approved"'),
  ])

  for (const part of [id, id.slice(-8), id.slice(-5).toUpperCase(), id.slice(0, 30)]) {
    const show = await home.run("show", part)
    expect(show.code).toBe(0)
    expect(show.out).toContain("audit: needs_modification · 1 finding")
    expect(show.out).toContain("  error   src/total.ts:3: sums the wrong column (logic)")
    expect(show.out).toContain("asked    Check the totals of June")
    expect(show.out).toContain("not verified: ")
    // eslint-disable-next-line no-control-regex
    expect(show.out).not.toMatch(/\u001b/)
  }
  expect((await home.run("show", id, "--json")).json()).toMatchObject({
    pass: { id, status: "returned" },
    outcome: { output: { summary: { decision: "needs_modification" } } },
    attempts: [{ attempt: 1 }],
  })
})

test("a list is narrowed, and shows this project's passes alone unless all are asked for", async () => {
  using home = createHome()
  using world = engineIn(home)
  await outcomeOf(world, await started(world, { objective: "one" }))
  world.host.script("inspector", async (child) => child.told)
  await started(world, { subagent: "inspector", objective: "two" })
  world.project.directory = join(home.project, "packages", "app")
  await outcomeOf(world, await started(world, { objective: "three" }))
  world.project.directory = `${home.project}-too`
  await outcomeOf(world, await started(world, { objective: "four" }))

  const objectives = async (...argv: string[]) => {
    const { passes } = (await home.run("list", "--json", ...argv)).json() as { passes: { objective: string }[] }
    return passes.map((pass) => pass.objective).join(" ")
  }
  expect(await objectives()).toBe("three two one")
  expect(await objectives("--all")).toBe("four three two one")
  expect(await objectives("--limit", "2")).toBe("three two")
  expect(await objectives("--agent", "inspector")).toBe("two")
  expect(await objectives("--status", "running")).toBe("two")
  expect(await objectives("--status", "running,returned")).toContain("two")
  expect((await objectives("--status", "running,returned")).length).toBeGreaterThan(3)
  expect(await objectives("--status", "returned,processed")).toBe("three one")
  mkdirSync(join(home.project, "packages", "app"), { recursive: true })
  expect(await objectives("--directory", join(home.project, "packages", "app"))).toBe("three two one")
})

test("an id that is none, or of several, is said to be so", async () => {
  using home = createHome()
  using world = engineIn(home)
  const [one, other] = [await started(world), await started(world)]
  await Promise.all([outcomeOf(world, one), outcomeOf(world, other)])
  expect(await home.run("show", "ffffffff")).toMatchObject({
    code: EXIT.not_found,
    err: expect.stringContaining("No pass is known as ffffffff."),
  })
  expect(await home.run("show", "%")).toMatchObject({ code: EXIT.not_found })
  const several = await home.run("show", one.pass.id.slice(0, 8))
  expect(several.code).toBe(EXIT.usage)
  expect(several.err).toContain(one.pass.id)
  expect(several.err).toContain(other.pass.id)
})

test("on a terminal a list fits it and is coloured; with NO_COLOR it is not", async () => {
  using home = createHome()
  using world = engineIn(home)
  await outcomeOf(world, await started(world, { objective: "o".repeat(300) }))
  for (const width of [60, 80, 120]) {
    const { out } = await home.on({ width, env: { NO_COLOR: "", TERM: "xterm" } }, "list")
    expect(out).toContain("\u001b[32m")
    for (const line of out.trimEnd().split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
  }
  expect((await home.on({ width: 80, env: { NO_COLOR: "1" } }, "list")).out).not.toContain("\u001b")
  expect((await home.run("list")).out).not.toContain("\u001b")
})

test("a running pass is cancelled and spoken to through the opencode that runs it, which answers", async () => {
  using home = createHome()
  using world = engineIn(home)
  world.host.script("inspector", async (child) => child.told)
  const runner = await started(world, { subagent: "inspector" })
  await settle(20)
  const poll = setInterval(() => void attend(world.engine), 20)
  const id = runner.pass.id.slice(-8)
  const said = await home.run("message", id, "look", "at", "b.ts")
  expect(said).toMatchObject({ code: 0, out: "Said to inspector; it reads it at its next step.\n" })
  expect(world.host.said[0]?.text).toEndWith("says: look at b.ts")
  const cancelled = await home.run("cancel", id, "not", "needed", "--json")
  clearInterval(poll)
  expect(cancelled.code).toBe(0)
  expect(cancelled.json()).toEqual({ pass_over_id: runner.pass.id, done: true, text: "Cancelled." })
  expect((await outcomeOf(world, runner)).output.completion_reason).toContain("not needed")
  const late = await home.run("cancel", id)
  expect(late.code).toBe(EXIT.late)
  expect(late.err).toContain("has ended already")
})

test("where nobody answers, the command says that it was handed over", async () => {
  using home = createHome()
  using world = engineIn(home)
  world.host.script("inspector", async (child) => child.told)
  const runner = await started(world, { subagent: "inspector" })
  await settle(20)
  const ran = await home.run("cancel", runner.pass.id)
  expect(ran.code).toBe(EXIT.unconfirmed)
  expect(ran.out).toMatch(/handed to the opencode|The opencode that ran this pass is gone/)
}, 20_000)

test("a question of the inbox is shown with what holds if nobody answers, and answered once", async () => {
  using home = createHome()
  using world = engineIn(home, { pairs: { "alice->audit": { require_confirmation: true } } })
  const runner = await started(world, { objective: "Check the totals" })
  await settle(20)
  const [gate] = await world.engine.store.gates({ status: ["pending"] })
  if (!gate) throw new Error("nobody was asked")

  const inbox = await home.on({ width: 0, now: world.clock.now() }, "inbox")
  expect(inbox.out).toContain(gate.gate_id.slice(-8))
  expect(inbox.out).toContain("confirmation")
  expect(inbox.out).toContain("reject in 1 h 00 min")
  expect((await home.run("inbox", "--json")).json()).toMatchObject({ gates: [{ gate_id: gate.gate_id }] })

  expect(await home.run("approve", "zzzz")).toMatchObject({ code: EXIT.not_found })
  expect(await home.run("question", gate.gate_id, " ")).toMatchObject({ code: EXIT.usage })
  const approved = await home.run("approve", runner.pass.id.slice(-8), "but", "quickly")
  expect(approved.code).toBe(0)
  expect(approved.out).toMatch(/approved by \S+ in the command line: but quickly/)
  const twice = await home.run("reject", gate.gate_id)
  expect(twice.code).toBe(EXIT.late)
  expect(twice.err).toContain("This was approved by")
  expect((await home.run("inbox")).out).toStartWith("Nothing waits")
})

test("a result that waits for a person is shown whole, with a word that it does, and with another when it was kept back", async () => {
  using home = createHome()
  using world = engineIn(home, { pairs: { "alice->audit": { auto_return: false } } })
  const runner = await started(world, { objective: "Check the totals" })
  await outcomeOf(world, runner)
  await settle(20)
  const { id } = runner.pass
  const held = (await home.run("show", id)).out
  expect(held).toContain("It waits for a person before it reaches its originator: pass-over inbox.")
  expect(held).toContain("The totals are wrong.")
  await world.engine.store.redirect({ pass_over_id: id, mode: "none" })
  const dropped = (await home.run("show", id)).out
  expect(dropped).toContain("It was kept back from its originator.")
  expect(dropped).not.toContain("waits for a person")
  expect(dropped).toContain("The totals are wrong.")
})
