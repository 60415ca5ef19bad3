import type { ToolContext } from "@opencode-ai/plugin"
import { expect, test } from "bun:test"
import { omit } from "remeda"
import type { Rule } from "../../../src/pass-over/domain/right"
import { answered } from "../../../src/pass-over/service/deliver"
import { resume } from "../../../src/pass-over/service/recover"
import { MOST_AT_ONCE } from "../../../src/pass-over/service/send-many"
import { passOverTool } from "../../../src/tool/pass-over"
import { started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

type Answer = { title: string; output: string; metadata: { passes: Record<string, unknown>[] } }

const STOPPED = new AbortController()

/** Calls the tool as the host does, and lets time pass until it has answered. */
function called(world: EngineWorld, args: Record<string, unknown>, more: Partial<ToolContext> = {}) {
  const context = {
    sessionID: "ses_root",
    messageID: "msg_1",
    callID: "call_1",
    agent: "alice",
    directory: "/project",
    worktree: "/project",
    abort: STOPPED.signal,
    metadata: () => {},
    ask: async () => {},
    ...more,
  }
  const found = {} as { answer?: Answer }
  const tool = passOverTool(world.engine, world.project)
  void tool.execute(args, context as unknown as ToolContext).then((answer) => (found.answer = answer as Answer))
  return found
}

async function answer(world: EngineWorld, args: Record<string, unknown>, more: Partial<ToolContext> = {}) {
  const found = called(world, args, more)
  await world.clock.until(() => found.answer !== undefined)
  return found.answer!
}

const THREE = {
  subagent: "audit",
  objective: "Review the slow part",
  reason: "code_review",
  more: [{ subagent: "nobody", objective: "Review nothing" }, { objective: "Review the fast part" }],
}

function reviewing(world: EngineWorld) {
  world.host.script("audit", async (child) => {
    const slow = child.prompt.text.includes("slow part")
    await child.wait(slow ? 8_000 : 3_000)
    await child.return({ ...VERDICT, decision_reason: slow ? "the slow one holds" : "the fast one holds" })
    child.step({ cost: 0.01 })
  })
}

const pending = (world: EngineWorld) => world.engine.store.deliveries("ses_root")

test("one call hands over several passes, and its answer has their results in the order of the asks", async () => {
  using world = createEngineWorld()
  reviewing(world)
  const { output, title, metadata } = await answer(world, THREE)
  expect(output).toStartWith("3 passes, in the order in which you asked for them.")
  const parts = output.split(/^\d\. /m).slice(1)
  expect(parts[0]).toContain("the slow one holds")
  expect(parts[1]).toContain("nobody\nNot done. E001")
  expect(parts[2]).toContain("the fast one holds")
  expect(title).toContain("1 not done")
  expect(metadata.passes).toMatchObject([
    { pass_over: { subagent: "audit" }, pass_over_return: { work_output: { status: "completed" } } },
    { refused: "E001" },
    { pass_over: { subagent: "audit", reason: "code_review" } },
  ])
  const passes = await world.engine.store.ofCall("ses_root", "call_1")
  expect(passes.map(({ call_id, objective }) => [call_id, objective])).toEqual([
    ["call_1", "Review the slow part"],
    ["call_1#3", "Review the fast part"],
  ])
  expect(await world.engine.store.byCall("ses_root", "call_1#3")).toMatchObject({ objective: "Review the fast part" })
})

test("what the call shows while it runs is about all of them", async () => {
  using world = createEngineWorld()
  reviewing(world)
  await answer(world, THREE)
  const views = world.host.shown.map(({ progress }) => progress)
  expect(views[0]).toMatchObject({ lines: { back: 1, passes: 3, pass_1: expect.stringContaining("audit") } })
  const between = views.find(({ lines }) => lines.back === 2)
  expect(between).toMatchObject({ lines: { passes: 3, cost: 0.01 } })
  expect(between?.lines.pass_1).toContain("audit working")
  expect(between?.lines.pass_2).toContain("E001")
  expect(between?.lines.pass_3).toContain("audit: approved")
  expect(between?.title).toStartWith("2 of 3 back · audit")
})

test("the stored answer delivers every result of its call, and what comes as a message is left to its message", async () => {
  using world = createEngineWorld()
  reviewing(world)
  await answer(world, { ...THREE, more: [{ objective: "Review the fast part" }, { objective: "Later", wait: false }] })
  const before = await pending(world)
  expect(before.map(({ mode, status }) => `${mode} ${status}`)).toEqual(["tool pending", "tool pending"])
  await answered(world.engine, world.project, { session_id: "ses_root", call_id: "call_1", message_id: "msg_1" })
  await settle(40)
  expect(await pending(world)).toEqual([])
  expect(world.host.delivered.map(({ text }) => text.includes("A pass that alice made earlier"))).toEqual([true])
  const states = (await world.engine.store.list({})).map(({ status }) => status)
  expect(states).toEqual(["processed", "processed", "processed"])
})

test("after a crash each result that the call did not get comes as a message of its own, once", async () => {
  using world = createEngineWorld()
  reviewing(world)
  await answer(world, THREE)
  using later = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  await resume(later.engine, later.project, () => "dead")
  await resume(later.engine, later.project, () => "dead")
  expect(later.host.delivered.map(({ start, text }) => [start, /the \w+ one/.exec(text)?.[0]])).toEqual([
    [false, "the fast one"],
    [false, "the slow one"],
  ])
})

test("after a crash behind the stored answer nothing is said a second time", async () => {
  using world = createEngineWorld()
  reviewing(world)
  await answer(world, THREE)
  using later = createEngineWorld({ owner: "2", seed: 1_000, store: world.engine.store })
  const part = { id: "prt_1", type: "tool" as const, tool_name: "pass_over", call_id: "call_1" }
  later.host.messages = async () => [
    {
      id: "msg_1",
      role: "assistant",
      agent_name: "alice",
      timestamp: 1,
      parts: [{ ...part, tool_status: "completed" }],
    },
  ]
  await resume(later.engine, later.project, () => "dead")
  expect(later.host.delivered).toEqual([])
  expect(await pending(later)).toEqual([])
})

test("a user who stops the call stops all of its passes", async () => {
  using world = createEngineWorld()
  const stop = new AbortController()
  world.host.script("audit", async (child) => child.told)
  const found = called(world, THREE, { abort: stop.signal })
  await world.clock.advance(1_000)
  stop.abort()
  await world.clock.until(() => found.answer !== undefined)
  expect((await world.engine.store.list({})).map(({ status }) => status)).toEqual(["cancelled", "cancelled"])
})

/** A call of which the fast pass has come back when its user stops it. */
async function stoppedLate(world: EngineWorld, stop: () => void, signal: AbortSignal) {
  world.host.script("audit", async (child) => {
    if (child.prompt.text.includes("slow part")) return child.told
    await child.return({ ...VERDICT, decision_reason: "the fast one holds" })
    child.step()
  })
  const found = called(world, THREE, { abort: signal })
  await world.clock.advance(20_000)
  expect(await pending(world)).toMatchObject([{ mode: "tool", status: "pending" }])
  stop()
  await world.clock.until(() => found.answer !== undefined)
}

const ANSWERED = { session_id: "ses_root", call_id: "call_1", message_id: "msg_1" }

test("what had come before a user stopped the call comes as a message, once, and starts nobody", async () => {
  using world = createEngineWorld()
  const stop = new AbortController()
  await stoppedLate(world, () => stop.abort(), stop.signal)
  await world.clock.advance(2_000)
  expect(world.host.delivered).toMatchObject([{ session_id: "ses_root", start: false }])
  expect(world.host.delivered[0]?.text).toContain("the fast one holds")
  expect(await pending(world)).toEqual([])
})

test("what the host has still taken of a stopped call is not told twice", async () => {
  using world = createEngineWorld()
  const stop = new AbortController()
  await stoppedLate(world, () => stop.abort(), stop.signal)
  await answered(world.engine, world.project, ANSWERED)
  await world.clock.advance(2_000)
  expect(world.host.delivered).toEqual([])
  expect(await pending(world)).toEqual([])
})

test("where the project was closed with the call, whoever opens it next brings what had come", async () => {
  using world = createEngineWorld()
  const [stop, closing] = [new AbortController(), new AbortController()]
  world.project.closing = closing.signal
  await stoppedLate(
    world,
    () => {
      closing.abort()
      stop.abort()
    },
    stop.signal,
  )
  // At once: the process may end with its last project.
  await settle(20)
  expect((await pending(world)).map(({ mode }) => mode)).toEqual(["message", "message"])
  await world.clock.advance(2_000)
  expect(world.host.delivered).toEqual([])
  const { closing: _gone, ...project } = world.project
  await resume(world.engine, project, () => "alive")
  expect(world.host.delivered.filter(({ text }) => text.includes("the fast one holds"))).toHaveLength(1)
})

test("what was only being read when the call was stopped comes as a message too", async () => {
  using world = createEngineWorld()
  const stop = new AbortController()
  reviewing(world)
  const { messages } = world.host
  world.host.messages = async (session_id) => {
    if (session_id !== "ses_root") await new Promise<void>((resolve) => void world.clock.after(2_000, resolve))
    return messages(session_id)
  }
  const found = called(world, omit(THREE, ["more"]), { abort: stop.signal })
  await world.clock.until(() => world.engine.completing.size > 0)
  stop.abort()
  await world.clock.until(() => found.answer !== undefined)
  await world.clock.advance(2_000)
  expect(world.host.delivered.map(({ text }) => text.includes("the slow one holds"))).toEqual([true])
})

test("a person's no to one agent is heard for that agent alone", async () => {
  using world = createEngineWorld()
  reviewing(world)
  world.host.script("scout", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const asked: string[] = []
  const ask = async ({ patterns }: { patterns: string[] }) => {
    asked.push(...patterns)
    if (patterns.includes("alice->scout")) throw new Error("rejected")
  }
  const more = [{ subagent: "scout", objective: "Look" }, { objective: "Review the fast part" }]
  const { output } = await answer(world, { ...THREE, more }, { ask: ask as unknown as ToolContext["ask"] })
  expect(asked).toEqual(["alice->audit", "alice->scout"])
  const parts = output.split(/^\d\. /m).slice(1)
  expect(parts[1]).toContain("said no to alice->scout")
  expect(parts[2]).toContain("the fast one holds")
})

test("the host is asked about a pass unless its own rules, those of the agent and then those of the session, allow it", async () => {
  const rule = (action: "allow" | "ask" | "deny", pattern = "*") => ({ permission: "pass_over", pattern, action })
  const heard = async (own: ReturnType<typeof rule>[] | undefined, session: ReturnType<typeof rule>[]) => {
    using world = createEngineWorld()
    reviewing(world)
    const { agents } = world.host
    world.host.agents = async () => (await agents()).map((agent) => (own ? { ...agent, rules: own } : agent))
    world.host.sessionRules = async () => session
    const asked: string[] = []
    const ask = async ({ patterns }: { patterns: string[] }) => void asked.push(...patterns)
    await answer(world, omit(THREE, ["more"]), { ask: ask as unknown as ToolContext["ask"] })
    return asked.length
  }
  expect(await heard(undefined, [])).toBe(1)
  expect(await heard([rule("allow")], [])).toBe(0)
  expect(await heard([rule("ask")], [])).toBe(1)
  expect(await heard([rule("allow"), rule("ask", "alice->audit")], [])).toBe(1)
  expect(await heard([rule("allow")], [rule("deny")])).toBe(1)
  expect(await heard([rule("ask")], [rule("allow", "alice->*")])).toBe(0)
})

test("a child is asked about a pass as the rules of its own agent want it, and not by the fences around it", async () => {
  const rule = (permission: string, action: Rule["action"]): Rule => ({ permission, pattern: "*", action })
  const heard = async (own: Rule[]) => {
    using world = createEngineWorld()
    reviewing(world)
    world.host.script("scout", async (child) => child.told)
    const { agents } = world.host
    const rules = { scout: own, alice: [rule("*", "allow"), rule("edit", "ask")] } as Record<string, Rule[]>
    world.host.agents = async () =>
      (await agents()).map((agent) => ({ ...agent, rules: rules[agent.name] ?? [rule("*", "allow")] }))
    world.host.sessionRules = async (session_id) => (session_id === "ses_root" ? [] : [rule("*", "ask")])
    await started(world, { subagent: "scout" })
    await settle(20)
    const asked: string[] = []
    const ask = async ({ patterns }: { patterns: string[] }) => void asked.push(...patterns)
    const { output } = await answer(world, omit(THREE, ["more"]), {
      agent: "scout",
      sessionID: world.host.children[0]!.session_id,
      ask: ask as unknown as ToolContext["ask"],
    })
    expect(output).toContain("the slow one holds")
    const told = await world.engine.store.audit({ action: "answered" })
    return { asked, told: told.map(({ summary }) => summary) }
  }
  expect(await heard([rule("*", "allow")])).toEqual({ asked: [], told: [] })
  expect(await heard([rule("*", "allow"), rule("pass_over", "ask")])).toEqual({
    asked: ["scout->audit"],
    told: ["permission: approve in opencode, now or for always"],
  })
})

test("who asks for no result is promised to read it only where no person would see it first", async () => {
  const told = async (args: object, preferences: object = {}) => {
    using world = createEngineWorld()
    reviewing(world)
    world.preferences.push({ origin: "project", path: "p", preferences })
    const { output } = await answer(world, { ...omit(THREE, ["more"]), ...args })
    return output.slice(output.indexOf("pass_over_read"))
  }
  const held = { pairs: { "alice->audit": { auto_return: false } } }
  expect(await told({ return_required: false })).toBe("pass_over_read tells its state and its result.")
  expect(await told({ return_required: false }, held)).toBe("pass_over_read tells its state.")
  expect(await told({ wait: false }, held)).toBe("pass_over_read tells its state meanwhile.")
})

test("the answer of many stays within what the host passes on", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    const finding = { severity: "error", category: "bug", message: "é".repeat(1_000), path: "src/a.ts", line: 1 }
    await child.return({
      ...VERDICT,
      decision: "needs_modification",
      findings: Array.from({ length: 40 }, () => finding),
    })
    child.step()
  })
  const more = Array.from({ length: 9 }, (_, index) => ({ objective: `Review part ${index}` }))
  const { output } = await answer(world, { ...THREE, more })
  expect(output.split(/^\d+\. audit$/m)).toHaveLength(11)
  expect(Buffer.byteLength(output)).toBeLessThan(50 * 1024)
  expect(output.split("\n").length).toBeLessThan(2_000)
})

test("so does an answer of as many as there may be, whatever they say", async () => {
  const long = 'é\n"'.repeat(1_000)
  for (const report of [
    { ...VERDICT, decision_reason: "x".repeat(600) },
    { ...VERDICT, findings: Array.from({ length: 40 }, () => ({ severity: "error", category: "bug", message: long })) },
  ]) {
    using world = createEngineWorld()
    world.preferences.push({ origin: "project", path: "p", preferences: { limits: { running_per_subagent: 50 } } })
    world.host.script("audit", async (child) => {
      await child.return(report)
      child.step()
    })
    const more = Array.from({ length: MOST_AT_ONCE - 1 }, (_, index) => ({ objective: `Review part ${index}` }))
    const { output } = await answer(world, { ...THREE, more })
    expect(output.split(/^\d+\. audit$/m)).toHaveLength(MOST_AT_ONCE + 1)
    expect(output.match(/pass-over-result>>/g)).toHaveLength(MOST_AT_ONCE)
    expect(Buffer.byteLength(output)).toBeLessThan(50 * 1024)
    expect(output.split("\n").length).toBeLessThan(2_000)
  }
})

test("what is continued is continued by the one that says so, and not by the others of its batch", async () => {
  using world = createEngineWorld()
  reviewing(world)
  const { output } = await answer(world, { subagent: "audit", objective: "Review it", reason: "code_review" })
  const [first] = await world.engine.store.list({})
  expect(output).toContain("audit: approved")
  const both = { subagent: "audit", objective: "Once more", reason: "code_review", continue: first?.id }
  const again = await answer(world, { ...both, more: [{ objective: "Another" }] }, { callID: "call_2" } as object)
  expect(again.title).not.toContain("not done")
  const [, second, third] = await world.engine.store.list({})
  expect([second?.continues_pass_id, third?.continues_pass_id]).toEqual([first!.id, null])
  expect(second?.child_session_id).toBe(first?.child_session_id ?? "")
})

const REFUSED = { ask: async () => Promise.reject(new Error("The user rejected permission")) } as Partial<ToolContext>

test("a no at the host's own question leaves a line in the audit for each pass that it was about", async () => {
  using world = createEngineWorld()
  const lines = () => world.engine.store.audit({ session_id: "ses_root" })
  const one = await answer(world, { subagent: "audit", objective: "Review it", reason: "code_review" }, REFUSED)
  expect(one as unknown as string).toStartWith("Not done. E017")
  expect(await lines()).toMatchObject([
    {
      action: "refused",
      actor: "alice",
      subagent: "audit",
      error_code: "E017",
      summary: expect.stringContaining("said no to alice->audit"),
    },
  ])
  await answer(world, THREE, REFUSED)
  expect(
    (await lines())
      .map((line) => [line.action, line.subagent, line.error_code])
      .toReversed()
      .slice(1),
  ).toEqual([
    ["refused", "audit", "E017"],
    ["refused", "nobody", "E017"],
    ["refused", "audit", "E017"],
  ])
  expect(world.host.children).toEqual([])
})

test("a yes at the host's own question stands in the audit, and rules that ask nobody leave no such line", async () => {
  using world = createEngineWorld()
  reviewing(world)
  await answer(world, THREE)
  const told = async () =>
    (await world.engine.store.audit({ session_id: "ses_root" }))
      .filter(({ action }) => action === "answered")
      .map(({ actor, summary, subagent }) => ({ actor, summary, subagent }))
  const yes = { actor: "tester", summary: "permission: approve in opencode, now or for always", subagent: "audit" }
  expect(await told()).toEqual([yes, yes])

  const agents = await world.host.agents()
  world.host.agents = async () =>
    agents.map((agent) => ({ ...agent, rules: [{ permission: "*", pattern: "*", action: "allow" as const }] }))
  await answer(world, { subagent: "audit", objective: "Review", reason: "x" }, { callID: "call_2" } as object)
  expect(await told()).toEqual([yes, yes])
})
