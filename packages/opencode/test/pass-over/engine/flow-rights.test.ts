import type { ToolContext } from "@opencode-ai/plugin"
import { describe, expect, test } from "bun:test"
import type { AgentInfo } from "../../../src/pass-over/domain/agent"
import type { Rule } from "../../../src/pass-over/domain/right"
import { createFlows } from "../../../src/pass-over/service/flow"
import { answerGate } from "../../../src/pass-over/service/gate"
import { rightsOf, rightTo } from "../../../src/pass-over/service/right"
import { flowTool } from "../../../src/tool/flow"
import { started } from "../support/drive"
import { settle } from "../support/fake-clock"
import { AGENTS, createFlowScene, leaves, type FlowScene } from "../support/flow"

const NAMED = `
name: named
originator: alice
steps:
  - id: find
    agent: scout
    objective: Find it
    critic: { agent: audit, objective: Review it, rounds: 1 }
  - id: both
    parallel:
      - { id: one, agent: general, objective: Judge it }
`

const rule = (permission: string, action: Rule["action"], pattern = "*"): Rule => ({ permission, pattern, action })

/** alice may do everything, and bob, who starts flows, no commands. */
function scene(rules: Rule[] = [rule("*", "allow"), rule("bash", "deny")], text = NAMED): FlowScene {
  const made = createFlowScene([text])
  made.host.agents = async () => [
    ...AGENTS.map((name): AgentInfo => ({ name, mode: "subagent", rules: [rule("*", "allow")] })),
    { name: "bob", mode: "primary", rules },
  ]
  made.host.script("scout", async (child) => {
    await child.wait(2_000)
    await leaves(child)
  })
  return made
}

const wanted = { name: "named", inputs: {}, session_id: "ses_root", model: null }
const bobs = { ...wanted, originator: "bob", by: "model" as const }

async function firstPass(world: FlowScene) {
  await world.clock.until(() => world.host.prompts.length > 0)
  const [summary] = await world.engine.store.list({})
  const pass = summary && (await world.engine.store.find(summary.id))
  if (!pass) throw new Error("no pass was made")
  return pass
}

const bash = async (world: FlowScene, pass: Awaited<ReturnType<typeof firstPass>>) =>
  rightTo(await rightsOf(world.engine, world.project, pass), "bash", ["ls"])

describe("whoever starts a flow", () => {
  test("binds every pass of it, besides the originator that the flow names", async () => {
    using world = scene()
    const begun = await world.flows.start(bobs)
    expect(begun).toMatchObject({ ok: true, run: { originator: "alice", starter: "bob" } })
    const pass = await firstPass(world)
    expect(pass.originating_agent_id).toBe("alice")
    expect(await bash(world, pass)).toMatchObject({ action: "deny", who: "bob" })
    // Whoever takes the run over knows it too.
    using after = createFlowScene([NAMED], { store: world.engine.store, owner: "2", seed: 20_000 })
    after.host.agents = world.host.agents
    expect(await bash(after, pass)).toMatchObject({ action: "deny", who: "bob" })
    const again = { ...pass, call_id: "rework:cmd_1", continues_pass_id: pass.id, parent_pass_id: null }
    expect(await bash(world, again)).toMatchObject({ action: "deny", who: "bob" })
  })

  test("is nobody's agent where a person does", async () => {
    using world = scene()
    const begun = await world.flows.start({ ...wanted, originator: "alice", by: "person" })
    expect(begun).toMatchObject({ ok: true, run: { starter: null } })
    expect(await bash(world, await firstPass(world))).toEqual({ action: "allow" })
  })

  test("in a child is bound by all above, and so is the originator that the flow names", async () => {
    using world = scene([rule("*", "allow")])
    const agents = await world.host.agents()
    world.host.agents = async () =>
      agents.map((agent) => (agent.name === "alice" ? { ...agent, rules: [rule("bash", "deny")] } : agent))
    world.host.script("inspector", async (child) => {
      await world.flows.start({ ...bobs, originator: "inspector", session_id: child.session_id })
      await child.wait(5_000)
    })
    await started(world, { subagent: "inspector" }, { agent: "bob" })
    await world.clock.until(() => world.host.prompts.length > 1)
    const nested = (await world.engine.store.list({})).find(({ subagent_id }) => subagent_id === "scout")
    const pass = nested && (await world.engine.store.find(nested.id))
    if (!pass) throw new Error("no nested pass")
    expect(await bash(world, pass)).toMatchObject({ action: "deny", who: "alice" })
  })
})

test("a flow that names an agent that is not there does not start, and one that is taken over passes nothing", async () => {
  for (const [from, to] of [
    ["originator: alice", "originator: ghost"],
    ["agent: general", "agent: ghost"],
    ["agent: audit", "agent: ghost"],
  ] as const) {
    using world = scene(undefined, NAMED.replace(from, to))
    const begun = await world.flows.start(bobs)
    expect(begun).toMatchObject({ ok: false, refusal: { code: "E001" } })
    expect(begun.ok ? "" : begun.refusal.message).toContain('"ghost"')
    expect(await world.engine.store.runs({})).toEqual([])
  }
  using world = scene(undefined, NAMED.replace("originator: alice", "originator: ghost"))
  const elsewhere = createFlows(world.engine, world.project, {
    elsewhere: true,
    files: world.files,
    catalog: world.flows.catalog,
  })
  const begun = await elsewhere.start({ ...wanted, originator: "alice", by: "person" })
  if (!begun.ok) throw new Error(begun.refusal.message)
  await world.flows.recover(() => "dead")
  const found = await world.settled(begun.run)
  expect(found?.state.status).toBe("waiting")
  expect((await world.questions(begun.run))[0]?.question).toContain('There is no agent "ghost"')
  expect(await world.engine.store.list({})).toEqual([])
})

test("an agent that nobody knows has allowed nothing", async () => {
  using world = scene()
  await world.flows.start(bobs)
  const pass = await firstPass(world)
  const agents = await world.host.agents()
  world.host.agents = async () => agents.filter(({ name }) => name !== "bob")
  expect(await bash(world, pass)).toMatchObject({ action: "deny", who: "bob" })
  world.host.agents = async () => agents.filter(({ name }) => name !== "alice")
  expect(await bash(world, { ...pass, call_id: "call_1" })).toMatchObject({ action: "deny", who: "alice" })
})

describe("the user's own rules for passes", () => {
  type Asked = { permission: string; patterns: string[] }

  async function asked(world: FlowScene, answer: (of: Asked) => Promise<void>) {
    const heard: Asked[] = []
    const context = {
      sessionID: "ses_root",
      messageID: "msg_1",
      callID: "call_1",
      agent: "bob",
      abort: new AbortController().signal,
      ask: async (of: Asked) => {
        heard.push({ permission: of.permission, patterns: of.patterns })
        await answer(of)
      },
    }
    const tool = flowTool(world.engine, world.project, world.flows)
    const result = await tool.execute(
      { action: "start", name: "named", wait: false },
      context as unknown as ToolContext,
    )
    return { heard, result }
  }

  test("are asked for each agent of a flow that a model starts", async () => {
    using world = scene([rule("*", "ask")])
    const { heard, result } = await asked(world, async () => {})
    expect(heard).toEqual(
      ["scout", "audit", "general"].map((to) => ({
        permission: "pass_over",
        patterns: [`bob->${to}`, `alice->${to}`],
      })),
    )
    expect(result).toMatchObject({ title: "named: begun" })
  })

  test("hold up only the flow that they ask about: another one starts meanwhile", async () => {
    using world = scene([rule("*", "ask")])
    const word = Promise.withResolvers<void>()
    const first = asked(world, () => word.promise)
    await settle(20)
    const other = asked(world, async () => {})
    expect(await Promise.race([other, settle(200)])).toMatchObject({ result: { title: "named: begun" } })
    expect(await world.engine.store.runs({})).toHaveLength(1)
    word.resolve()
    expect(await first).toMatchObject({ result: { title: "named: begun" } })
    expect(await world.engine.store.runs({})).toHaveLength(2)
  })

  test("are kept: a no to one of its agents is a no to the flow", async () => {
    for (const pattern of ["bob->general", "alice->general"]) {
      using world = scene([rule("*", "allow"), rule("pass_over", "deny", pattern)])
      const { result } = await asked(world, async ({ patterns }) => {
        if (patterns.includes(pattern)) throw new Error("denied by a rule")
      })
      expect(result).toContain("bob->general and alice->general")
      expect(await world.engine.store.runs({})).toEqual([])
    }
    using world = scene()
    const { heard, result } = await asked(world, async () => {})
    expect(heard).toEqual([])
    expect(result).toMatchObject({ title: "named: begun" })
  })
})

describe("a run that a person has paused", () => {
  type Put = { permission: string; patterns: string[] }
  type World = { world: FlowScene; put: Put[]; asked(): Promise<string | undefined> }

  /** An agent's call that goes on with it, and what a person does meanwhile. */
  async function resumed(meanwhile: (of: World & { run_id: string }) => Promise<unknown>, short = false) {
    using world = scene()
    const begun = await world.flows.start({ ...wanted, originator: "alice", by: "person" })
    if (!begun.ok) throw new Error(begun.refusal.message)
    const { run_id } = begun.run
    await world.flows.order(run_id, { type: "pause", actor: "ada" }, "ada")
    const put: Put[] = []
    const stop = new AbortController()
    const ask = (question: Put) => {
      put.push(question)
      return new Promise<void>(() => {})
    }
    const context = { sessionID: "ses_root", messageID: "msg_1", callID: "call_1", agent: "alice", ask }
    const tool = flowTool(world.engine, world.project, world.flows, short)
    const answered = tool.execute({ action: "resume", run: run_id, wait: false }, {
      ...context,
      abort: stop.signal,
    } as unknown as ToolContext)
    await settle(20)
    const asked = async () => (await world.engine.store.gates({ status: ["pending"] }))[0]?.gate_id
    const done = { over: false }
    void answered.then(() => (done.over = true))
    await meanwhile({ world, put, asked, run_id })
    await world.clock.until(() => done.over)
    const answer = await answered
    const output = typeof answer === "string" ? answer : answer.output
    return { output, put, paused: (await world.flows.state(run_id))?.state.paused, left: await asked() }
  }

  const say =
    (verdict: "approve" | "reject") =>
    async ({ world, asked }: World) =>
      answerGate(world.engine, (await asked()) ?? "", { verdict, note: null, by: "ada", surface: "panel" })

  test("goes on by an agent's call where that person lets it, wherever they say so", async () => {
    const { paused, put, left } = await resumed(say("approve"))
    expect({ paused, left }).toEqual({ paused: false, left: undefined })
    expect(put).toMatchObject([
      { permission: "pass_over_gate", patterns: ["named is paused. May alice go on with it?"] },
    ])
  })

  test("stays paused where they do not or nobody answers, and the agent is told how people go on", async () => {
    const no = await resumed(say("reject"))
    expect(no.paused).toBe(true)
    expect(no.output).toMatch(/E017.*A person has paused run run_\w+ of named, and the question was rejected by ada/)
    expect(no.output).toContain("pass-over flow resume run_")
    const nobody = await resumed(async ({ world }) => world.clock.advance(10 * 60_000))
    expect(nobody).toMatchObject({ paused: true, output: expect.stringContaining("nobody answered in time") })
    const alone = await resumed(async () => {}, true)
    expect(alone).toMatchObject({
      paused: true,
      put: [],
      output: expect.stringContaining("nobody is here to be asked"),
    })
  })

  test("is no question any more once they go on with it themselves", async () => {
    const { output, paused, left } = await resumed(({ world, run_id }) =>
      world.flows.order(run_id, { type: "resume", actor: "ada" }, "ada"),
    )
    expect({ paused, left }).toEqual({ paused: false, left: undefined })
    expect(output).toContain("The run is not paused.")
  })
})
