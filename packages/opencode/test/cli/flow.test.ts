import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { catalogOf } from "../../src/flow/catalog"
import { createFlows, type Flows } from "../../src/pass-over/service/flow"
import { createEngineWorld } from "../pass-over/support/engine"
import { connect } from "../pass-over/support/database"
import { AGENTS, leaves, memoryFiles } from "../pass-over/support/flow"
import { createHome, type Home } from "./support"

const LINE = `name: line
description: Two steps
inputs: { goal: {} }
steps:
  - { id: find, agent: scout, objective: "Find {{ inputs.goal }}" }
  - { id: make, agent: general, objective: Make it }
`

function write(home: Home, name: string, text: string) {
  mkdirSync(join(home.project, ".opencode/flows"), { recursive: true })
  writeFileSync(join(home.project, ".opencode/flows", name), text)
}

/** Starts a run where no opencode is found to start: whoever opens the project takes it. */
async function begun(home: Home, ...words: string[]) {
  const env = { PATH: "", PASS_OVER_OPENCODE: "" }
  const ran = await home.on({ width: 100, env }, "flow", "run", "line", ...words, "--json")
  expect(ran.code).toBe(EXIT.unconfirmed)
  return ran.json() as { run_id: string; carried: boolean; reason: string }
}

/** An opencode that is open in the home's project and carries its flows. */
function opencode(home: Home) {
  const world = createEngineWorld({ path: home.database, seed: 70_000 })
  world.project.directory = home.project
  world.host.agents = async () => AGENTS.map((name) => ({ name, mode: name === "alice" ? "primary" : "subagent" }))
  const flows = createFlows(world.engine, world.project, {
    files: memoryFiles(),
    catalog: async () => catalogOf(home.project),
    session: async () => "ses_made",
  })
  for (const agent of ["scout", "general"]) world.host.script(agent, async (child) => void (await leaves(child)))
  return Object.assign(world, { flows })
}

test("flows of ours and of the project are listed, drawn and checked", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  const listed = await home.run("flow", "list")
  for (const name of ["review", "feature", "bugfix", "council", "line"]) expect(listed.out).toContain(`${name} `)
  const shown = await home.run("flow", "show", "line")
  expect(shown.out).toContain("· find (scout)")
  expect((await home.run("flow", "show", "line", "--mermaid")).out).toStartWith("flowchart TD")
  expect(await home.run("flow", "validate")).toMatchObject({ code: EXIT.ok, out: "5 flows are in order.\n" })
  expect((await home.run("flow", "list", "--json")).json()).toMatchObject({ faults: [], runs: [] })
})

test("runs of this project are listed and found, however many others have had since", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  const { run_id } = await begun(home, "goal=the bug")
  using held = connect(home.database)
  const columns = held.client
    .query<{ name: string }, []>("select name from pragma_table_info('pass_over_flow_runs')")
    .all()
  const copied = columns.map(({ name }) =>
    name === "run_id" ? "run_id || ?1" : name === "directory" ? "'/elsewhere'" : name,
  )
  for (let number = 100; number < 350; number += 1) {
    held.client.run(
      `insert into pass_over_flow_runs select ${copied.join(", ")} from pass_over_flow_runs where run_id = ?2`,
      [String(number), run_id],
    )
  }
  expect((await home.run("flow", "list", "--json")).json()).toMatchObject({ runs: [{ run_id }] })
  expect((await home.run("flow", "show", "--json")).json()).toMatchObject({ run: { run_id } })
})

test("an agent that no file tells of is pointed at with its place", async () => {
  using home = createHome()
  write(home, "line.yaml", `originator: gost\n${LINE.replace("agent: general", "agent: genaral")}`)
  mkdirSync(join(home.project, ".opencode/agent"), { recursive: true })
  writeFileSync(join(home.project, ".opencode/agent/ghost.md"), "---\nmode: primary\n---\nHaunts.")
  const { code, out } = await home.run("flow", "validate")
  expect(code).toBe(EXIT.ok)
  expect(out).toContain('line.yaml:1:13 originator: there is no agent "gost" here. Did you mean "ghost"?')
  expect(out).toContain('line.yaml:7:24 steps.1.agent: there is no agent "genaral" here. Did you mean "general"?')
})

test("a broken flow is named with file, line and column, and what was meant", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE.replace("objective: Make it", "objektive: Make it"))
  const checked = await home.run("flow", "validate")
  expect(checked.code).toBe(EXIT.config)
  expect(checked.out).toContain(
    'line.yaml:6:33 steps.1.objektive: "objektive" is not known here. Did you mean "objective"?',
  )
  const alone = await home.run("flow", "validate", join(home.project, ".opencode/flows/line.yaml"))
  expect(alone.code).toBe(EXIT.config)
  expect((await home.run("flow", "run", "line", "goal=x")).code).not.toBe(EXIT.ok)
})

test("two files of a flow are refused together, also where one of them is looked at alone", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  write(home, "line.json", JSON.stringify({ name: "line", steps: [{ id: "a", agent: "scout", objective: "Look" }] }))
  const json = join(home.project, ".opencode/flows/line.json")
  const alone = await home.run("flow", "validate", json)
  expect(alone.code).toBe(EXIT.config)
  expect(alone.out).toContain("line.yaml stands for the flow")
  expect(alone.out).not.toContain("line.yaml:1:1")
  const { out } = await home.run("flow", "validate")
  expect(out).toContain('line.json:1:1 line.yaml stands for the flow "line" as well; keep one of them')
  expect(out).toContain('line.yaml:1:1 line.json stands for the flow "line" as well; keep one of them')
  expect((await home.run("flow", "run", "line", "goal=x")).code).toBe(EXIT.config)
})

test("a run that is started here is carried by the opencode that is open in the project", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  using world = opencode(home)
  const { run_id, ...told } = await begun(home, "goal=totals")
  expect(told).toEqual({ carried: false, reason: "No opencode has this project open, and none is found to start." })
  expect((await home.run("flow", "show", run_id.slice(-12))).out).toContain("line: running")
  expect(await world.flows.recover(() => "alive")).toBe(1)
  await world.clock.until(() => world.flows.carried(run_id) === undefined)
  const shown = await home.run("flow", "show", run_id)
  expect(shown.out).toContain("line: completed")
  expect(shown.out).toContain("✓ find (scout)")
  expect(world.host.prompts.map(({ agent }) => agent)).toEqual(["scout", "general"])
  expect((await home.run("flow", "list")).out).toContain("completed")
  expect((await world.engine.store.run(run_id))?.session_id).toBe("ses_made")
})

test("what agents and files say of a flow cannot act on the terminal", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  write(home, "odd.yaml", `name: odd\nsteps:\n  - { id: a, gate: "ok\\e[2J\\nforged", items: ["Is it?"] }\n`)
  write(home, "bad\u001b[2J.yaml", "name: bad\n")
  using world = opencode(home)
  const reason = `Look\u001b]0;title\u0007\u001b[31m at it.\n  ✓ make (general)\n${"x".repeat(9_000)}`
  world.host.script("scout", async (child) => {
    const context_summary = "Looked at src/total.ts:\u001b]0;title\u0007 \u202eit\u001b[2J adds.\n\u001b[31mAll of it."
    await leaves(child, { context_summary, routing: { recommendation: "ESCALATE", reason } })
  })
  const { run_id } = await begun(home, "goal=totals")
  await world.flows.recover(() => "alive")
  await world.clock.until(() => world.flows.carried(run_id)?.state.status === "waiting")
  const shown = await home.run("flow", "show", run_id)
  expect(shown.out).toContain(
    "? find (scout) — waits for a person (escalate): Look ]0;title [31m at it. ✓ make (general) xxx",
  )
  expect(shown.out.split("\n").every((line) => line.length < 300)).toBe(true)
  const [gate] = await world.engine.store.gates({ run_id, status: ["pending"] })
  const texts = [
    shown,
    await home.run("flow", "show", run_id, "--mermaid"),
    await home.run("flow", "show", "odd"),
    await home.run("flow", "show", "odd", "--mermaid"),
    await home.run("flow", "list"),
    await home.run("flow", "validate"),
    await home.run("flow", "show", "bad\u001b[2J"),
    await home.run("inbox"),
    await home.run("inbox", gate?.gate_id ?? ""),
  ].map(({ out, err }) => out + err)
  for (const text of texts) {
    expect(text).not.toBe("")
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  }
  expect(texts[2]).toContain("· a (a person: ok [2J forged)")
  for (const text of texts.slice(-2)) expect(text).toContain("What there is: Looked at src/total.ts: it adds.\n")
})

test("without an id the newest run of the project is meant, and where none has run that is said", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  using world = opencode(home)
  const started = async (flows: Flows) => {
    const wanted = { name: "line", inputs: { goal: "totals" }, session_id: "ses_1", originator: "alice", model: null }
    const begun = await flows.start({ ...wanted, by: "person" })
    return begun.ok ? begun.run.run_id : begun.refusal.message
  }
  const other = { ...world.project, directory: home.folder.at("elsewhere") }
  const elsewhere = createFlows(world.engine, other, {
    files: memoryFiles(),
    catalog: async () => catalogOf(home.project),
  })
  await started(elsewhere)
  const none = await home.run("flow", "show")
  expect([none.code, none.err]).toEqual([EXIT.not_found, expect.stringContaining("No flow has run in this project.")])
  await started(world.flows)
  const run_id = await started(world.flows)
  await started(elsewhere)
  expect((await home.run("flow", "show", "--json")).json()).toMatchObject({ run: { run_id } })
})

test("what is asked of a run is carried out there, and an ended run is done again from a step", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  using world = opencode(home)
  const { run_id } = await begun(home, "goal=totals")
  await world.flows.recover(() => "alive")
  await world.clock.until(() => world.flows.carried(run_id) === undefined)
  const asking = home.on({ width: 100, env: { PATH: "", PASS_OVER_OPENCODE: "" } }, "flow", "retry", run_id, "make")
  await Bun.sleep(300)
  await world.flows.attend(() => "alive")
  expect(await asking).toMatchObject({ code: EXIT.ok })
  await world.clock.until(() => world.flows.carried(run_id) === undefined)
  expect(world.host.prompts.map(({ agent }) => agent)).toEqual(["scout", "general", "general"])
  expect((await home.run("flow", "pause", run_id)).code).toBe(EXIT.late)
  expect((await home.run("flow", "skip", run_id, "nowhere", "because")).err).toContain('There is no step "nowhere"')
  expect((await home.run("flow", "skip", run_id, "make", "--note", " ")).code).not.toBe(EXIT.ok)
  expect((await home.run("flow", "cancel", "nothing")).code).toBe(EXIT.not_found)
})

test("a file on its own is checked with the flows around it, and what calls one that there is not is no longer in order", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  const file = join(home.project, ".opencode/flows/outer.yaml")
  const check = async (step: string) => {
    write(home, "outer.yaml", `name: outer\nsteps:\n  - ${step}\n`)
    return home.run("flow", "validate", file)
  }
  expect(await check("{ id: a, flow: line, with: { goal: x } }")).toMatchObject({
    code: EXIT.ok,
    out: `${file} is in order.\n`,
  })
  const wrong = await check("{ id: a, flow: lime, with: { goal: x } }")
  expect(wrong.code).toBe(EXIT.config)
  expect(wrong.out).toBe(`${file}:3:20 steps.0.flow: there is no flow "lime". Did you mean "line"?\n`)
  // What is wrong elsewhere is not this file's.
  write(home, "broken.yaml", "name: broken\n")
  expect(await check("{ id: a, flow: line, with: { goal: x } }")).toMatchObject({ code: EXIT.ok })
})

test("a flow of the project that is not in order is refused by its name, also where we have one of that name", async () => {
  using home = createHome()
  write(home, "feature.yaml", LINE.replace("name: line", "name: feature").replace("objective: Make", "objektive: Make"))
  const ran = await home.run("flow", "run", "feature", "goal=x")
  expect(ran.code).not.toBe(EXIT.ok)
  expect(ran.err).toContain('feature.yaml:6:33 steps.1.objektive: "objektive" is not known here.')
  expect((await home.run("flow", "list", "--json")).json()).toMatchObject({ runs: [] })
})

test("a flow that is not in order is shown with its faults, and a name that is near one is told", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  write(home, "broken.yaml", LINE.replace("name: line", "name: broken").replace("objective: Make", "objektive: Make"))
  const shown = await home.run("flow", "show", "broken")
  expect(shown.code).toBe(EXIT.config)
  expect(shown.err).toContain('broken.yaml:6:33 steps.1.objektive: "objektive" is not known here.')
  const near = await home.run("flow", "show", "lime")
  expect(near.code).toBe(EXIT.not_found)
  expect(near.err).toContain('No run is known as lime. There is no flow "lime". Did you mean "line"?')
})

test("a question of a flow is shown with what was left, what to look at and what each answer does", async () => {
  using home = createHome()
  write(
    home,
    "line.yaml",
    `${LINE}  - { id: ok, gate: release, items: ["Is the total right?"], options: { approve: "Ship it" } }\n`,
  )
  using world = opencode(home)
  const { run_id } = await begun(home, "goal=totals")
  await world.flows.recover(() => "alive")
  await world.clock.until(() => world.flows.carried(run_id)?.state.status === "waiting")
  const [gate] = await world.engine.store.gates({ run_id, status: ["pending"] })
  for (const words of [[], [gate?.gate_id ?? ""]]) {
    const { out } = await home.run("inbox", ...words)
    expect(out).toContain("What there is: Looked at src/total.ts")
    expect(out).toContain("To look at: Is the total right?")
    expect(out).toContain("approve: Ship it")
    expect(out).toContain("reject: Adjustments required: make is done again with what you write")
  }
})

test("an empty id names the newest run for looking at it, and none for whatever changes it", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  const { run_id } = await begun(home, "goal=totals")
  expect((await home.run("flow", "show", "", "--json")).json()).toMatchObject({ run: { run_id } })
  for (const argv of [
    ["pause", ""],
    ["resume", " "],
    ["cancel", ""],
    ["retry", "", "find"],
    ["skip", "", "find", "no"],
  ]) {
    const ran = await home.run("flow", ...argv)
    expect([argv, ran.code, ran.err]).toEqual([argv, EXIT.usage, expect.stringContaining("The id of a run is empty.")])
  }
  expect((await home.run("flow", "show", run_id, "--json")).json()).toMatchObject({ run: { status: "running" } })
})

test("a step that there is not is not found, and what a file leaves out is said in words", async () => {
  using home = createHome()
  write(home, "line.yaml", LINE)
  const { run_id } = await begun(home, "goal=totals")
  const ran = await home.run("flow", "retry", run_id, "fnd")
  expect(ran).toMatchObject({ code: EXIT.not_found, err: expect.stringContaining('There is no step "fnd".') })
  write(home, "short.yaml", "name: short\nsteps:\n  - { id: a, agent: scout }\n")
  const checked = await home.run("flow", "validate")
  expect(checked.code).toBe(EXIT.config)
  expect(checked.out).toContain("objective: is missing; text is wanted")
})
