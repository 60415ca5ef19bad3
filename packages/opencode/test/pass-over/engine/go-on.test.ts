import { describe, expect, test } from "bun:test"
import { evaluate, type Rule } from "../../../src/pass-over/domain/right"
import { createRunning, type Entry } from "../../../src/pass-over/service/engine"
import { recover, resume } from "../../../src/pass-over/service/recover"
import type { Standing, Workspaces } from "../../../src/pass-over/service/port-workspace"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import type { Child } from "../support/scripted-host"

type Turn = (child: Child) => Promise<unknown>

const returns =
  (report: unknown = VERDICT): Turn =>
  async (child) => {
    await child.return(report)
    child.step()
    await child.told
  }

/** What an agent does, prompt by prompt. */
function plays(world: EngineWorld, agent: string, ...turns: Turn[]) {
  const left = [...turns]
  world.host.script(agent, async (child) => {
    const turn = left.shift()
    if (!turn) throw new Error(`${agent} was prompted once more`)
    await turn(child)
  })
}

const refusalOf = async (world: EngineWorld, ...ask: Parameters<EngineWorld["ask"]>) => {
  const sent = await world.ask(...ask)
  return sent.ok ? "started" : `${sent.refusal.code} ${sent.refusal.message}`
}

/** A pass that has ended, and what it is continued with. */
async function ended(world: EngineWorld, turn: Turn = returns()) {
  plays(world, "audit", turn)
  const runner = await started(world)
  await outcomeOf(world, runner)
  return runner.pass
}

describe("a pass that continues another", () => {
  test("prompts the same child, and is a pass of its own", async () => {
    using world = createEngineWorld()
    const first = await ended(world, async (child) => {
      child.tool("read", { filePath: "old.ts" }, "1: old")
      child.say("Only of the first.")
      await returns()(child)
    })
    const [child] = world.host.children
    plays(world, "audit", async (same) => {
      same.tool("read", { filePath: "new.ts" }, "1: new")
      await returns({
        status: "completed",
        decision: "needs_modification",
        findings: [],
        evidence: [
          { type: "file", path: "old.ts", line: 1 },
          { type: "file", path: "new.ts", line: 1 },
        ],
      })(same)
    })
    const runner = await started(world, { continue: first.id, objective: "Now the other file", timeout_ms: 90_000 })
    const { output } = await outcomeOf(world, runner)
    expect(world.host.children).toHaveLength(1)
    expect(runner.pass).toMatchObject({
      continues_pass_id: first.id,
      child_session_id: child!.session_id,
      timeout_ms: 90_000,
    })
    expect(runner.pass.id).not.toBe(first.id)
    expect(world.host.prompts.map(({ session_id }) => session_id)).toEqual([child!.session_id, child!.session_id])
    expect(world.host.prompts[1]?.text).toContain(`it is about what you did in pass ${first.id}`)
    expect(world.host.prompts[0]?.text).not.toContain("You go on in this session")
    expect(child!.resumed[0]).toMatchObject({
      title: "Now the other file (@audit subagent)",
      pass: { id: runner.pass.id },
    })
    // What it did before bears witness, and is no part of this outcome.
    expect(output.summary).toMatchObject({ verdict: { status: "VERIFIED", checked: 2 }, files_reviewed: 1 })
    expect(output.artifacts.filter(({ type }) => type === "tool_result")).toHaveLength(1)
    expect(JSON.stringify(output.artifacts)).not.toContain("Only of the first.")
    expect(await world.engine.store.byChild(child!.session_id)).toMatchObject({ id: runner.pass.id })
    expect(await world.engine.store.outcome(first.id)).toMatchObject({ output: { summary: { decision: "approved" } } })
  })

  test("is not verified by what was done before alone", async () => {
    using world = createEngineWorld()
    const first = await ended(world, async (child) => {
      child.tool("read", { filePath: "old.ts" }, "1: old")
      await returns()(child)
    })
    plays(world, "audit", returns({ ...VERDICT, evidence: [{ type: "file", path: "old.ts", line: 1 }] }))
    const { output } = await outcomeOf(world, await started(world, { continue: first.id }))
    expect(output.summary.verdict).toMatchObject({
      status: "UNVERIFIED",
      unresolved: [{ claim: "the work itself", why: "not a single tool call was made" }],
    })
  })

  test("has last words and salvage of its own", async () => {
    using world = createEngineWorld()
    const first = await ended(world, async (child) => {
      child.say("Words of the first.")
      await returns()(child)
    })
    plays(world, "audit", async (child) => {
      child.tool("bash", { command: "make" }, "done")
      child.say("Words of the second.")
      await child.told
    })
    const runner = await started(world, { continue: first.id, timeout_ms: 1_000 })
    const { output, error_code } = await outcomeOf(world, runner)
    expect(error_code).toBe("E010")
    expect(output.artifacts.map(({ type }) => type)).toEqual(["message", "tool_result"])
    expect(JSON.stringify(output)).toContain("Words of the second.")
    expect(JSON.stringify(output)).not.toContain("Words of the first.")
  })

  test.each([[[]], [["read_only"]], [["no_network"]]])(
    "with constraints %j may do what a new child may, whatever the pass before had closed",
    async (constraints) => {
      using world = createEngineWorld()
      const own: Rule[] = [
        { permission: "*", pattern: "*", action: "allow" },
        { permission: "bash", pattern: "rm *", action: "ask" },
        { permission: "webfetch", pattern: "*", action: "deny" },
      ]
      const made: Rule[][] = []
      const { child: make } = world.host
      world.host.child = async (spec) => {
        made.push([...spec.rules])
        return make(spec)
      }
      world.host.agents = async () => [
        { name: "alice", mode: "primary" },
        { name: "audit", mode: "subagent", rules: own },
      ]
      // It stops without a return, and is left with nothing but that.
      plays(world, "audit", async () => {}, returns(), returns(), returns())
      const runner = await started(world, { constraints: ["read_only", "no_network"] })
      await outcomeOf(world, runner)
      const [child] = world.host.children
      expect(child?.narrowed).toBe(true)
      await outcomeOf(world, await started(world, { continue: runner.pass.id, constraints }))
      await outcomeOf(world, await started(world, { constraints }))
      const [first = [], fresh = []] = made
      const closed: Rule[] = [
        { permission: "*", pattern: "*", action: "deny" },
        { permission: "pass_over_return", pattern: "*", action: "allow" },
      ]
      const again = [...own, ...first, ...closed, ...(child?.resumed[0]?.rules ?? [])]
      const names = ["edit", "bash", "read", "webfetch", "task", "pass_over", "pass_over_return", "mcp_tool", "flow"]
      const may = (rules: readonly Rule[]) =>
        names.flatMap((name) =>
          ["*", "rm a", "src/a.ts"].map((at) => `${name} ${at}: ${evaluate(rules, name, at).action}`),
        )
      expect(may(again)).toEqual(may([...own, ...fresh]))
      expect(may(again)).toContain("pass_over_return *: allow")
      expect(may(again)).toContain("webfetch *: deny")
    },
  )

  test("has its predecessor put away first, however soon it comes", async () => {
    using world = createEngineWorld()
    const told: string[] = []
    const close = world.host.close
    const again = world.host.resume
    world.host.close = async (session_id, text, metadata) => {
      told.push(text)
      await close(session_id, text, metadata)
    }
    world.host.resume = async (spec) => {
      told.push("resumed")
      await again(spec)
    }
    plays(world, "audit", returns(), returns())
    const runner = await started(world)
    void runner.outcome.then(async () => {
      await settle(1)
      await started(world, { continue: runner.pass.id })
    })
    await world.clock.until(() => world.host.prompts.length === 2)
    expect(told).toEqual(["returned to alice: approved", "resumed"])
    await world.clock.advance(10_000)
    expect(told).toEqual(["returned to alice: approved", "resumed", "returned to alice: approved"])
  })

  test("is the pass that its child's nested passes hang on, and that its return belongs to", async () => {
    using world = createEngineWorld()
    const nested: (string | null)[] = []
    const first = await ended(world)
    plays(world, "audit", async (child) => {
      plays(world, "scout", returns())
      const below = await started(world, { subagent: "scout" }, { agent: "audit", session_id: child.session_id })
      nested.push(below.pass.parent_pass_id)
      await below.outcome
      await settle(4)
      await returns()(child)
    })
    const runner = await started(world, { continue: first.id })
    const { output } = await outcomeOf(world, runner)
    expect(nested).toEqual([runner.pass.id])
    expect(output).toMatchObject({ work_id: runner.pass.id, status: "completed" })
  })

  test("asked for twice by the same call is one pass", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    plays(world, "audit", (child) => child.told)
    const runner = await started(world, { continue: first.id }, { call_id: "call_same" })
    await settle(20)
    const sent = await world.ask({ continue: first.id }, { call_id: "call_same" })
    expect(sent).toMatchObject({ ok: true, created: false })
    expect(sent.ok && sent.runner.pass.id).toBe(runner.pass.id)
    runner.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
    await outcomeOf(world, runner)
    expect(await refusalOf(world, { continue: first.id }, { call_id: "call_same" })).toContain("was made before")
  })

  test("ends, and begins nothing from scratch, when its session is gone in the middle", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    world.host.script("audit", async () => ({
      session_gone: true,
      failure: { code: "E011", message: "its session was deleted" },
    }))
    const { output, error_code } = await outcomeOf(world, await started(world, { continue: first.id }))
    expect(error_code).toBe("E011")
    expect(output.completion_reason).toContain("the session in which it went on is gone")
    expect(world.host.children).toHaveLength(1)
    // After the one pause in which it might have come back.
    expect(world.clock.mono()).toBeLessThan(2_000)
  })

  test("tries again in the same session when that could not be made ready", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    const again = world.host.resume
    const state = { tries: 0 }
    world.host.resume = async (spec) => {
      state.tries += 1
      if (state.tries === 1) throw new Error("busy")
      await again(spec)
    }
    plays(world, "audit", returns())
    const { output } = await outcomeOf(world, await started(world, { continue: first.id }))
    expect(output.status).toBe("completed")
    expect([state.tries, world.host.children.length]).toEqual([2, 1])
  })

  test("is recovered like any other, with what its child did since it began", async () => {
    using first = createEngineWorld()
    const before = await ended(first, async (child) => {
      child.say("Words of the first.")
      await returns()(child)
    })
    plays(first, "audit", async (child) => {
      child.say("Words of the second.")
      await child.told
    })
    const runner = await started(first, { continue: before.id })
    await settle(20)
    using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
    second.host.messages = first.host.messages
    expect(await recover(second.engine, () => "dead")).toBe(1)
    await resume(second.engine, second.project, () => "dead")
    const outcome = await second.engine.store.outcome(runner.pass.id)
    expect(outcome).toMatchObject({ error_code: "E011", transcript: "read" })
    expect(JSON.stringify(outcome?.output)).toContain("Words of the second.")
    expect(JSON.stringify(outcome?.output)).not.toContain("Words of the first.")
    // And it can be gone on with itself.
    second.host.children.push(...first.host.children)
    plays(second, "audit", returns())
    const third = await started(second, { continue: runner.pass.id })
    expect((await outcomeOf(second, third)).output.status).toBe("completed")
    expect(third.pass.child_session_id).toBe(runner.pass.child_session_id)
  })
})

test("of two passes in one session the newest is the one that runs there", () => {
  const running = createRunning()
  const entry = (id: string) => ({ runner: { pass: { id, child_session_id: "ses_child" } } }) as unknown as Entry
  running.add(entry("first"))
  running.add(entry("second"))
  expect(running.byChild("ses_child")?.pass.id as string).toBe("second")
})

describe("a pass is not continued", () => {
  test("of another session, for another agent, or before it has ended", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    const other = { session_id: "ses_other" }
    expect(await refusalOf(world, { continue: first.id }, other)).toBe(
      `E042 No pass ${first.id} is known in this session.`,
    )
    expect(await refusalOf(world, { continue: "nonsense" })).toContain("E042")
    expect(await refusalOf(world, { continue: first.id, subagent: "scout" })).toContain(
      `E001 Pass ${first.id} was given to audit, so scout cannot continue it.`,
    )
    plays(world, "audit", (child) => child.told)
    const running = await started(world)
    expect(await refusalOf(world, { continue: running.pass.id })).toContain("has not ended yet (waiting_for_return)")
    running.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
    await outcomeOf(world, running)
    expect(world.host.children).toHaveLength(2)
    const refused = await world.engine.store.audit({ action: "refused" })
    expect(refused.map(({ error_code }) => error_code)).toEqual(["E040", "E001", "E042", "E042"])
  })

  test("twice at once, nor again in the place of the one that continued it", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    plays(world, "audit", (child) => child.told)
    const second = await started(world, { continue: first.id })
    expect(await refusalOf(world, { continue: first.id })).toBe(
      `E040 Pass ${first.id} is being continued already, by pass ${second.pass.id}.`,
    )
    await settle(20)
    expect(await refusalOf(world, { continue: first.id })).toContain("is being continued already")
    second.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
    await outcomeOf(world, second)
    expect(await refusalOf(world, { continue: first.id })).toBe(
      `E040 Pass ${first.id} was continued already, by pass ${second.pass.id}.`,
    )
    plays(world, "audit", returns())
    expect((await outcomeOf(world, await started(world, { continue: second.pass.id }))).output.status).toBe("completed")
  })

  test("where its session is gone, or it never had one", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    world.host.gone.add(world.host.children[0]!.session_id)
    expect(await refusalOf(world, { continue: first.id })).toContain("is not there any more")
    world.host.child = async () => Promise.reject(new Error("no"))
    world.host.script("audit", returns() as never)
    const never = await started(world, { timeout_ms: 2_000 })
    await outcomeOf(world, never)
    expect(await refusalOf(world, { continue: never.pass.id })).toContain("ended before audit had begun")
  })
})

/** Trees as a test has them stand, and what was asked of them. */
function trees(standing: Standing) {
  const asked: string[] = []
  const workspaces: Workspaces = {
    inside: () => workspaces,
    take: async () => ({ directory: "/tree", instead_of: "/project", linked: [] }),
    standing: async () => standing,
    async promise({ directory }) {
      asked.push(`promise ${directory}`)
      return standing
    },
    forgo: () => void asked.push("forgo"),
    async retake(_pass, { directory, fill }) {
      asked.push(`retake ${directory} ${JSON.stringify(await fill(directory))}`)
      return { directory, instead_of: "/project", linked: [], again: ["a.ts did not fit"] }
    },
    collect: async () => ({ files: [], notes: [] }),
    release: async () => {},
    setAside: async () => {},
    expect: () => {},
    left: async () => undefined,
    snapshot: async () => "",
    between: async () => ({ files: [], notes: [] }),
    sweep: async () => {},
    close: async () => {},
  }
  return { workspaces, asked }
}

const ISOLATED = {
  origin: "project",
  path: "p",
  preferences: { defaults: { isolation: "worktree" } },
} as const

describe("a child that worked in a tree of its own", () => {
  test("goes on in the very same, and reads what is in it", async () => {
    using world = createEngineWorld()
    const { workspaces, asked } = trees("free")
    world.project.workspaces = workspaces
    world.preferences.push(ISOLATED)
    const first = await ended(world)
    asked.length = 0
    plays(world, "audit", returns())
    const runner = await started(world, { continue: first.id })
    expect((await outcomeOf(world, runner)).output.status).toBe("completed")
    expect(asked.slice(0, 2)).toEqual(["promise /tree", "retake /tree []"])
    expect(world.host.children[0]?.resumed[0]).toMatchObject({ directory: "/tree" })
    expect(world.host.prompts[1]?.text).toContain("with what you had changed before on top")
    expect(world.host.prompts[1]?.text).toContain("- a.ts did not fit")
    expect(world.host.prompts[0]?.text).not.toContain("with what you had changed before")
  })

  test.each([
    ["taken", "E014", "is taken by another pass"],
    ["elsewhere", "E014", "belongs to another opencode"],
    ["unknown", "E014", "is that of the pass above it"],
  ] as const)("is not gone on with where that is %s", async (standing, code, words) => {
    using world = createEngineWorld()
    const { workspaces } = trees(standing)
    world.project.workspaces = workspaces
    world.preferences.push(ISOLATED)
    const first = await ended(world)
    const sent = await world.ask({ continue: first.id })
    expect(sent).toMatchObject({
      ok: false,
      refusal: { code, suggestion: expect.stringContaining("without continue") },
    })
    expect(sent.ok ? "" : sent.refusal.message).toContain(words)
  })

  test("of a pass below another one is left to that one: the tree is not its own", async () => {
    using world = createEngineWorld()
    const { workspaces, asked } = trees("free")
    world.project.workspaces = workspaces
    const first = await ended(world)
    world.host.directoryOf = async () => "/tree-of-scout"
    expect(await refusalOf(world, { continue: first.id })).toContain("is that of the pass above it")
    expect(asked).not.toContain("promise /tree-of-scout")
    // There, it is the place where both work.
    plays(world, "audit", returns())
    world.project.tree = "/tree-of-scout"
    delete world.project.workspaces
    expect((await outcomeOf(world, await started(world, { continue: first.id }))).output.status).toBe("completed")
  })

  test("is not gone on with in the project itself where it is to work apart from it now", async () => {
    using world = createEngineWorld()
    const first = await ended(world)
    world.project.workspaces = trees("free").workspaces
    world.preferences.push(ISOLATED)
    expect(await refusalOf(world, { continue: first.id })).toContain("E031")
  })

  test("gives its tree back where that is ready only when it has been cancelled, so that another can go on", async () => {
    using world = createEngineWorld()
    const { workspaces, asked } = trees("free")
    const ready = Promise.withResolvers<void>()
    const { retake } = workspaces
    workspaces.retake = async (...from) => ready.promise.then(() => retake(...from))
    workspaces.release = async ({ directory }) => void asked.push(`release ${directory}`)
    world.project.workspaces = workspaces
    world.preferences.push(ISOLATED)
    const first = await ended(world)
    const second = await started(world, { continue: first.id })
    await settle(20)
    second.input({ type: "cancel", failure: { code: "E016", message: "not now" } })
    await outcomeOf(world, second)
    asked.length = 0
    ready.resolve()
    await settle(40)
    expect(asked).toEqual(["retake /tree []", "release /tree"])
    plays(world, "audit", returns())
    expect((await outcomeOf(world, await started(world, { continue: first.id }))).output.status).toBe("completed")
  })

  test("gives its tree up again when it is not let in", async () => {
    using world = createEngineWorld()
    const { workspaces, asked } = trees("free")
    world.project.workspaces = workspaces
    world.preferences.push(ISOLATED)
    const first = await ended(world)
    asked.length = 0
    world.preferences.push({ origin: "project", path: "p", preferences: { limits: { tree: { tokens: 1 } } } })
    expect(await refusalOf(world, { continue: first.id, override: { max_tokens: 10 } })).toContain("E015")
    expect(asked).toEqual(["promise /tree", "forgo"])
  })
})
