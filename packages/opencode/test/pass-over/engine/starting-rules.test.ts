import { describe, expect, test } from "bun:test"
import { evaluate, uniform } from "../../../src/pass-over/domain/right"
import type { Workspaces } from "../../../src/pass-over/service/port-workspace"
import { rightsOf, rightTo, startingRules } from "../../../src/pass-over/service/right"
import type { Pass } from "../../../src/pass-over/domain/pass"
import type { InlineOverride, PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { started } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const allow = (permission: string) => ({ permission, pattern: "*", action: "allow" as const })

async function rulesWith(own: ReturnType<typeof allow>[]) {
  using world = createEngineWorld()
  const { agents } = world.host
  world.host.agents = async () => (await agents()).map((agent) => ({ ...agent, rules: own }))
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  return startingRules(await rightsOf(world.engine, world.project, pass))
}

const denied = (rules: Awaited<ReturnType<typeof rulesWith>>) =>
  rules.flatMap(({ permission, action }) => (action === "deny" ? [permission] : []))

test("a child has no list of todos in its prompt, unless its agent is made to have one", async () => {
  expect(denied(await rulesWith([allow("*")]))).toContain("todowrite")
  expect(denied(await rulesWith([allow("*"), allow("todowrite")]))).not.toContain("todowrite")
})

test("a child never has the host's own task, and always its way to return", async () => {
  const rules = await rulesWith([allow("*"), allow("task")])
  expect(denied(rules)).toContain("task")
  expect(rules.at(-1)).toEqual(allow("pass_over_return"))
})

/** Whether the child of alice -> scout -> audit may pass on, and what becomes of its passes. */
async function third(preferences: PassOverPreferences, override: InlineOverride = {}, above: InlineOverride = {}) {
  using world = createEngineWorld()
  world.preferences.push({ origin: "project", path: "p", preferences })
  for (const agent of ["scout", "audit", "inspector"]) world.host.script(agent, async (child) => child.told)
  const below = async (pass: Pass, subagent: string, more: object = {}) => {
    while (world.engine.running.byChild(world.host.children.at(-1)?.session_id ?? "")?.pass.id !== pass.id) {
      await Bun.sleep(1)
    }
    const caller = { agent: pass.subagent_id, session_id: world.host.children.at(-1)!.session_id }
    return world.ask({ subagent, ...more }, caller)
  }
  const first = await started(world, { subagent: "scout", override: above })
  const second = await below(first.pass, "audit", { override })
  if (!second.ok) throw new Error(second.refusal.message)
  const { pass } = second.runner
  const rules = startingRules(await rightsOf(world.engine, world.project, pass))
  const to = async (subagent: string) => {
    const sent = await below(pass, subagent)
    return sent.ok ? "sent" : sent.refusal.code
  }
  return { open: !denied(rules).includes("pass_over"), inspector: await to("inspector") }
}

test("a pair that may go deeper opens the way on, and the limit of the pair above stays for all others", async () => {
  const deeper = { "audit->inspector": { max_chain_depth: 4 } }
  expect(await third({})).toEqual({ open: false, inspector: "E002" })
  expect(await third({ pairs: deeper })).toEqual({ open: true, inspector: "sent" })
  expect(await third({ pairs: { "audit->*": { max_chain_depth: 4 } } })).toEqual({ open: true, inspector: "sent" })
  // Only what says something of this very step lifts the limit of the one above.
  const narrow = { defaults: { max_chain_depth: 5 }, pairs: { "scout->audit": { max_chain_depth: 3 } } }
  expect((await third(narrow)).open).toBe(false)
  expect((await third({ pairs: { "audit->scout": { max_chain_depth: 4 } } })).open).toBe(false)
  expect((await third({ pairs: { "scout->inspector": { max_chain_depth: 4 } } })).open).toBe(false)
  const off = { "audit->inspector": { max_chain_depth: 4, enabled: false } }
  expect((await third({ pairs: off })).open).toBe(false)
})

test("what a call has said of its own chain no pair lifts", async () => {
  const pairs = { "scout->audit": { max_chain_depth: 4 }, "audit->inspector": { max_chain_depth: 4 } }
  expect((await third({ pairs })).open).toBe(true)
  expect((await third({ pairs }, { max_chain_depth: 3 })).open).toBe(false)
})

test("what a child's agent may not use is not shown to it, also where everything else is asked about", async () => {
  using world = createEngineWorld()
  const { agents } = world.host
  const rule = (permission: string, action: "allow" | "ask" | "deny") => ({ permission, pattern: "*", action })
  const own = [rule("*", "allow"), rule("edit", "deny"), rule("pass_over", "deny"), rule("flow", "deny")]
  const asking = [rule("*", "ask"), rule("pass_over*", "ask")]
  world.host.agents = async () =>
    (await agents()).map((agent) => ({ ...agent, rules: agent.name === "audit" ? own : asking }))
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  const rules = [...own, ...startingRules(await rightsOf(world.engine, world.project, pass))]
  const seen = ["edit", "pass_over", "flow", "bash"].map((permission) => uniform(rules, permission))
  expect(seen).toEqual(["deny", "deny", "deny", "ask"])
})

test("it holds for the whole chain below the call, whatever the passes of it have of their own", async () => {
  const refused = { open: false, inspector: "E002" }
  const deep = { defaults: { max_chain_depth: 5 } }
  expect(await third(deep)).toEqual({ open: true, inspector: "sent" })
  expect(await third(deep, {}, { max_chain_depth: 3 })).toEqual(refused)
  // Also where it says what held anyway.
  const pairs = { "scout->audit": { max_chain_depth: 5 }, "audit->inspector": { max_chain_depth: 5 } }
  expect(await third({ pairs }, {}, { max_chain_depth: 3 })).toEqual(refused)
  expect(await third({ pairs }, { max_chain_depth: 4 }, { max_chain_depth: 3 })).toEqual(refused)
  // The shorter of the two chains holds, whoever of them has said it.
  expect(await third(deep, { max_chain_depth: 3 }, { max_chain_depth: 4 })).toEqual(refused)
})

describe("who may not modify files", () => {
  async function held(isolation: "auto" | "none" | "worktree", workspaces?: Workspaces) {
    using world = createEngineWorld()
    const subagents = { audit: { can_modify_files: false, isolation } }
    const pairs = { "alice->audit": { grant: [{ permission: "*", pattern: "*" }] } }
    world.preferences.push({ origin: "project", path: "p", preferences: { subagents, pairs } })
    world.host.script("audit", async (child) => child.told)
    const { pass } = await started(world)
    const rights = await rightsOf(world.engine, { ...world.project, workspaces }, pass)
    const may = (tool: string) => rightTo(rights, tool, ["*"]).action
    const seen = (tool: string) => evaluate([allow("*"), ...startingRules(rights)], tool, "*").action !== "deny"
    expect(["bash", "edit", "read", "grep", "mcp_write"].map(seen)).toEqual(
      ["bash", "edit", "read", "grep", "mcp_write"].map((tool) => may(tool) === "allow"),
    )
    return ["bash", "edit", "read", "grep", "webfetch", "mcp_write"].filter((tool) => may(tool) === "allow")
  }

  const trees = {} as Workspaces
  const looking = ["read", "grep", "webfetch"]

  test("has no shell on the project's own files, and no tool that nobody knows, whatever is granted", async () => {
    expect(await held("none", trees)).toEqual(looking)
    // Where there are no trees it works in the project, too.
    for (const isolation of ["auto", "worktree"] as const) expect(await held(isolation)).toEqual(looking)
  })

  test("has one in a tree of its own, of which nothing is kept", async () => {
    for (const isolation of ["auto", "worktree"] as const)
      expect(await held(isolation, trees)).toEqual(["bash", ...looking])
  })
})

test("what is granted to a pair is seen by its child, and asked about", async () => {
  using world = createEngineWorld()
  const grant = [{ permission: "edit", pattern: "docs/*" }]
  world.preferences.push({ origin: "project", path: "p", preferences: { pairs: { "alice->audit": { grant } } } })
  const { agents } = world.host
  world.host.agents = async () =>
    (await agents()).map((agent) => ({
      ...agent,
      rules: agent.name === "alice" ? [allow("*"), { ...allow("edit"), action: "deny" as const }] : [allow("*")],
    }))
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  const rights = await rightsOf(world.engine, world.project, pass)
  expect(evaluate([allow("*"), ...startingRules(rights)], "edit", "*").action).toBe("ask")
  const may = (path: string) => rightTo(rights, "edit", [path]).action
  expect([may("docs/a.md"), may("src/a.ts")]).toEqual(["allow", "deny"])
})
