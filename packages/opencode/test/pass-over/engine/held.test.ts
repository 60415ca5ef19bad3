import { describe, expect, test } from "bun:test"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import type { GateAnswer } from "../../../src/pass-over/domain/gate"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { attendGates, tendGates } from "../../../src/pass-over/service/act"
import { answered, missed } from "../../../src/pass-over/service/deliver"
import type { Engine, Project } from "../../../src/pass-over/service/engine"
import { answerGate } from "../../../src/pass-over/service/gate"
import { askHeld } from "../../../src/pass-over/service/held"
import { recover, resume } from "../../../src/pass-over/service/recover"
import type { Tool } from "../../../src/tool/answer"
import { passOverTool } from "../../../src/tool/pass-over"
import { passOverReadTool } from "../../../src/tool/pass-over-read"
import { passOverReviewTool } from "../../../src/tool/pass-over-review"
import { sha } from "../support/change"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"
import { settle } from "../support/fake-clock"
import type { Script } from "../support/scripted-host"

const SECRET = "The sign is wrong."
const REJECTED = { decision: "rejected", decision_reason: SECRET, findings: [SECRET] }
const HELD = { pairs: { "alice->audit": { auto_return: false } } } satisfies PassOverPreferences

const yes: GateAnswer = { verdict: "approve", note: null, by: "ada", surface: "the terminal" }
const no: GateAnswer = { verdict: "reject", note: "not for the model", by: "ada", surface: "the terminal" }

const returns =
  (report: object = REJECTED): Script =>
  async (child) => {
    child.tool("read", { filePath: "a.ts" }, SECRET)
    await child.return(report)
    child.step()
    await child.told
  }

function world(preferences: PassOverPreferences = HELD, options: EngineWorldOptions = {}): EngineWorld {
  const made = createEngineWorld(options)
  made.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  made.engine.projects.set(made.project.directory, made.project)
  made.engine.files = {
    openTree: async () => Promise.reject(new Error("nothing is applied here")),
    sha,
    hasher: () => new Bun.CryptoHasher("sha256") as never,
    run: async () => ({ exit_code: 0, output: "" }) as never,
    under_way: new Set(),
  }
  made.host.script("audit", returns())
  return made
}

async function ended(made: EngineWorld, ...ask: Parameters<EngineWorld["ask"]>): Promise<Pass> {
  const runner = await started(made, ...ask)
  await outcomeOf(made, runner)
  await settle(20)
  return runner.pass
}

const questions = (made: EngineWorld, pass: Pass) =>
  made.engine.store.gates({ pass_over_id: pass.id, kind: "delivery" })

async function answer(made: EngineWorld, pass: Pass, given: GateAnswer) {
  const [gate] = await questions(made, pass)
  if (!gate) throw new Error("nobody was asked")
  await answerGate(made.engine, gate.gate_id, given)
  await attendGates(made.engine)
  await settle(20)
}

async function call(
  made: EngineWorld,
  make: (engine: Engine, project: Project) => Tool,
  args: object,
  in_session: string,
) {
  const context = {
    sessionID: in_session,
    messageID: "msg_root",
    callID: "call_tool",
    agent: "alice",
    abort: new AbortController().signal,
    directory: "/project",
    worktree: "/project",
    ask: async () => {},
    metadata: () => {},
  }
  const result = await make(made.engine, made.project).execute(args, context)
  return typeof result === "string" ? result : JSON.stringify(result)
}

/** All that an agent's tools tell of a pass. */
const doors = (made: EngineWorld, { id }: Pass, session_id = "ses_root") =>
  Promise.all([
    call(made, passOverReadTool, { id }, session_id),
    call(made, passOverReadTool, { id, offset: 10 }, session_id),
    call(made, passOverReadTool, { id, summary: "narrative", focus: "all" }, session_id),
    call(made, passOverReviewTool, { id }, session_id),
    call(made, passOverReviewTool, { id, action: "apply" }, session_id),
    call(made, passOverTool, { subagent: "audit", objective: "Tell me", reason: "why", continue: id }, session_id),
  ])

describe("what an agent gets of a held result", () => {
  test("is the word that it is held, through every door; a person sees the whole", async () => {
    using made = world()
    const pass = await ended(made)
    for (const told of await doors(made, pass)) {
      expect(told).toContain("held for a person")
      expect(told).not.toContain(SECRET)
    }
    expect(await call(made, passOverReadTool, {}, "ses_root")).toContain("returned, held for a person")
    expect((await made.engine.store.outcome(pass.id))?.output.summary.findings).toEqual([SECRET])
    expect(made.host.children).toHaveLength(1)
  })

  test("is the word of who kept it back and why, for ever, once a person has said no", async () => {
    using made = world()
    const pass = await ended(made)
    await answer(made, pass, no)
    for (const told of await doors(made, pass)) {
      expect(told).toContain("kept back from alice: rejected by ada in the terminal: not for the model")
      expect(told).not.toContain(SECRET)
    }
    expect(await call(made, passOverReadTool, {}, "ses_root")).toContain("cancelled, kept back from its originator")
    expect(await made.engine.store.outcome(pass.id)).toMatchObject({ dropped: true })
    const lines = await made.engine.store.audit({ pass_over_id: pass.id })
    expect(lines.filter((line) => line.returned || line.returned_at !== null)).toEqual([])
  })

  test("is the same where nobody let it go in time", async () => {
    using made = world({ pairs: { "alice->audit": { auto_return: false, gate_ttl_ms: 1_000 } } })
    const pass = await ended(made)
    await made.clock.advance(2_000)
    await tendGates(made.engine)
    for (const told of await doors(made, pass)) {
      expect(told).toContain("kept back from alice: rejected by default")
      expect(told).not.toContain(SECRET)
    }
  })

  test("is all of it when a person has let it go", async () => {
    using made = world()
    const pass = await ended(made)
    await answer(made, pass, yes)
    expect(await call(made, passOverReadTool, { id: pass.id }, "ses_root")).toContain(SECRET)
    expect(await call(made, passOverReviewTool, { id: pass.id }, "ses_root")).toContain("wants no file changed")
    made.host.script("audit", returns(VERDICT))
    expect(await made.ask({ continue: pass.id })).toMatchObject({ ok: true })
    expect(await made.engine.store.outcome(pass.id)).not.toMatchObject({ held: true })
  })

  test("is nothing of the passes below it either, but for the child that made them", async () => {
    using made = world({ pairs: { "alice->scout": { auto_return: false } } })
    const below: { pass?: Pass; read?: string } = {}
    made.host.script("scout", async (child) => {
      const runner = await started(made, {}, { agent: "scout", session_id: child.session_id })
      below.pass = runner.pass
      await runner.outcome
      below.read = await call(made, passOverReadTool, { id: runner.pass.id }, child.session_id)
      await returns()(child)
    })
    await ended(made, { subagent: "scout" })
    expect(below.read).toContain(SECRET)
    for (const told of await doors(made, below.pass!)) expect(told).not.toContain(SECRET)
    expect(await call(made, passOverReadTool, { id: below.pass!.id }, "ses_root")).toContain("held for a person")
  })

  test("is nothing that keeps a child from what it has itself, when a person has it go on", async () => {
    using made = world({ pairs: { "alice->scout": { auto_return: false } } })
    const below: { pass?: Pass; read?: string } = {}
    made.host.script("scout", async (child) => {
      const caller = { agent: "scout", session_id: child.session_id }
      if (below.pass) below.read = await call(made, passOverReadTool, { id: below.pass.id }, child.session_id)
      below.pass ??= (await started(made, {}, caller)).pass
      await made.engine.running.get(below.pass.id)?.outcome
      await returns()(child)
    })
    const first = await ended(made, { subagent: "scout" })
    await ended(made, { subagent: "scout", continue: first.id }, { by: "person" })
    expect(below.read).toContain(SECRET)
  })

  test("cannot be had by asking that nothing comes back, and reading it then", async () => {
    using made = world()
    const pass = await ended(made, { return_required: false })
    for (const told of await doors(made, pass)) {
      expect(told).toMatch(/auto_return is false|No pass/)
      expect(told).not.toContain(SECRET)
    }
    made.host.script("audit", returns(VERDICT))
    const clean = await ended(made, { return_required: false })
    expect(await call(made, passOverReadTool, { id: clean.id }, "ses_root")).toContain("approved")
  })

  test("a person may have it go on, whatever is held", async () => {
    using made = world()
    const pass = await ended(made)
    made.host.script("audit", returns(VERDICT))
    expect(await made.ask({ continue: pass.id }, { by: "person" })).toMatchObject({ ok: true })
  })
})

describe("that a result is held", () => {
  test("stands in the database: an answer that was made whole first says so too, and delivers nothing", async () => {
    using made = world()
    const messages = made.host.messages
    // They take longer than an outcome waits for them.
    made.host.messages = async (session_id) => {
      await new Promise<void>((resolve) => void made.clock.after(2_000, resolve))
      return messages(session_id)
    }
    const told: { answer?: string } = {}
    const args = { subagent: "audit", objective: "Review it", reason: "code_review" }
    void call(made, passOverTool, args, "ses_root").then((answer) => (told.answer = answer))
    await made.clock.until(() => told.answer !== undefined)
    expect(told.answer).toContain("held for a person")
    expect(told.answer).not.toContain(SECRET)
    const [pass] = await made.engine.store.list({})
    await settle(20)
    expect(await made.engine.store.outcome(pass!.id)).toMatchObject({ held: true, transcript: "read" })
    await answered(made.engine, made.project, { session_id: "ses_root", call_id: "call_tool", message_id: "msg_root" })
    expect(await made.engine.store.delivery(pass!.id)).toMatchObject({ status: "held" })
    await answer(made, pass!, yes)
    expect(made.host.delivered).toHaveLength(1)
  })

  test("is not told in the answer of the call that was to have it held, however fast a person was", async () => {
    using made = world()
    const messages = made.host.messages
    made.host.messages = async (session_id) => {
      await new Promise<void>((resolve) => void made.clock.after(2_000, resolve))
      return messages(session_id)
    }
    const told: { answer?: string } = {}
    const args = { subagent: "audit", objective: "Review it", reason: "code_review" }
    void call(made, passOverTool, args, "ses_root").then((answer) => (told.answer = answer))
    await made.clock.until(() => made.host.children[0]?.closed !== undefined)
    const [pass] = await made.engine.store.list({})
    expect(await made.engine.store.release(pass!.id)).toBe(true)
    expect(told.answer).toBeUndefined()
    await made.clock.until(() => told.answer !== undefined)
    expect(told.answer).toContain("held for a person")
    expect(told.answer).not.toContain(SECRET)
  })

  test("is no matter of the tool call that waited for it: when that is given up, the person is asked as before", async () => {
    using made = world({ pairs: { "alice->audit": { auto_return: false } } })
    made.host.script("audit", async () => ({ failure: { code: "E011", message: "no key", final: true } }))
    const runner = await started(made)
    const outcome = await outcomeOf(made, runner)
    await settle(20)
    // Nothing in it is worth a message by itself.
    await missed(made.engine, made.project, runner.pass, { ...outcome, transcript: "read" })
    expect(await made.engine.store.outcome(runner.pass.id)).toMatchObject({ held: true })
    expect(await questions(made, runner.pass)).toHaveLength(1)
  })
})

describe("a timeout under auto_return false", () => {
  const hangs: Script = async (child) => child.told

  test("goes back by itself, whatever auto_review says", async () => {
    for (const auto_review of [true, false]) {
      using made = world({ pairs: { "alice->audit": { auto_return: false, auto_review } } })
      made.host.script("audit", hangs)
      const runner = await started(made, { timeout_ms: 1_000, wait: false })
      expect(await outcomeOf(made, runner)).toMatchObject({ error_code: "E010", output: { status: "aborted" } })
      await settle(20)
      expect(await questions(made, runner.pass)).toEqual([])
      expect(made.host.delivered).toMatchObject([{ session_id: "ses_root", of: runner.pass.id }])
      expect(await call(made, passOverReadTool, { id: runner.pass.id }, "ses_root")).toContain("ended with E010")
    }
  })

  test("goes back by itself where nothing was to come back, and can be read", async () => {
    using made = world()
    made.host.script("audit", hangs)
    const pass = await ended(made, { timeout_ms: 1_000, return_required: false })
    expect(await call(made, passOverReadTool, { id: pass.id }, "ses_root")).toContain("ended with E010")
  })

  test("is told at once, but what was done until then waits for a person, and the return context says so", async () => {
    using made = world()
    made.host.script("audit", async (child) => {
      child.tool("read", { filePath: "a.ts" }, SECRET)
      child.say(SECRET)
      await child.told
    })
    const told: { answer?: string } = {}
    const args = { subagent: "audit", objective: "Review it", reason: "code_review", timeout_ms: 1_000 }
    void call(made, passOverTool, args, "ses_root").then((answer) => (told.answer = answer))
    await made.clock.until(() => told.answer !== undefined)
    await settle(20)
    expect(told.answer).toContain("ran out of time; what it had done until then is held for a person")
    expect(told.answer).not.toContain(SECRET)
    const [pass] = await made.engine.store.list({})
    for (const door of await doors(made, pass!)) expect(door).not.toContain(SECRET)

    const returning = async () => (await made.engine.store.returns({ session_id: "ses_root", limit: 10 }))[0]!
    const [gate] = await questions(made, pass!)
    expect(await returning()).toMatchObject({
      status: "timed_out",
      return_deadline: gate!.time_expires,
      pending_work_output: { work_id: pass!.id, status: "partial" },
    })
    await answer(made, pass!, yes)
    expect(made.host.delivered).toMatchObject([{ session_id: "ses_root", text: expect.stringContaining(SECRET) }])
    const after = await returning()
    expect(after).not.toHaveProperty("pending_work_output")
    expect(after).not.toHaveProperty("return_deadline")
  })

  test("is kept back with all that was done until then, when a person says so", async () => {
    using made = world()
    made.host.script("audit", async (child) => {
      child.say(SECRET)
      await child.told
    })
    const pass = await ended(made, { timeout_ms: 1_000 })
    await answer(made, pass, no)
    for (const door of await doors(made, pass)) expect(door).not.toContain(SECRET)
    const [context] = await made.engine.store.returns({ session_id: "ses_root", limit: 10 })
    expect(context).not.toHaveProperty("pending_work_output")
    expect(made.host.delivered).toEqual([])
  })

  test("whose child could not be read in time is held: it may have done anything", async () => {
    using made = world()
    made.host.script("audit", hangs)
    const { messages } = made.host
    made.host.messages = async (session_id) => {
      if (session_id !== "ses_root") await new Promise<void>((resolve) => void made.clock.after(2_000, resolve))
      return messages(session_id)
    }
    const runner = await started(made, { timeout_ms: 1_000 })
    expect(await outcomeOf(made, runner)).toMatchObject({ transcript: "unread", held: true })
  })
})

test("an answer that cannot be carried out keeps no other from its turn", async () => {
  using made = world()
  for (const pass of [await ended(made), await ended(made)]) {
    const [gate] = await questions(made, pass)
    await answerGate(made.engine, gate!.gate_id, yes)
  }
  const { deliver } = made.host
  made.host.deliver = async () => {
    made.host.deliver = deliver
    throw new Error("not now")
  }
  await attendGates(made.engine)
  expect(made.host.delivered).toMatchObject([{ session_id: "ses_root", text: expect.stringContaining(SECRET) }])
  expect(made.logged).toMatchObject([{ level: "error", message: "an answer could not be carried out" }])
})

const dead = () => "dead" as const

/** Another process on the same database, and the first one does not go on. */
function next(first: EngineWorld): EngineWorld {
  const second = world(HELD, { owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = first.host.messages
  return second
}

describe("a process that ends", () => {
  test("between an outcome and its question leaves one question to whoever comes, and not two when it was not dead", async () => {
    using first = world()
    const ask = first.engine.store.ask
    const stopped = Promise.withResolvers<void>()
    first.engine.store.ask = async (input) => {
      await stopped.promise
      return ask(input)
    }
    const pass = await ended(first)
    expect(await questions(first, pass)).toEqual([])

    first.engine.store.ask = ask
    using second = next(first)
    expect(await recover(second.engine, dead)).toBe(0)
    await first.engine.store.enter(
      { owner_id: first.engine.owner_id, pid: 1, process_start: "1", host: "h", place: "p" },
      0,
    )
    await askHeld(second.engine, second.project, () => "alive")
    expect(await questions(second, pass)).toEqual([])
    await Promise.all([1, 2, 3].map(() => askHeld(second.engine, second.project, dead)))
    expect(await questions(second, pass)).toMatchObject([
      { status: "pending", question: expect.stringContaining("audit: rejected") },
    ])
    stopped.resolve()
    await settle(20)
    expect(await questions(second, pass)).toHaveLength(1)

    await answer(second, pass, yes)
    expect(second.host.delivered).toMatchObject([{ session_id: "ses_root" }])
    await askHeld(second.engine, second.project, dead)
    expect(second.host.delivered).toHaveLength(1)
  })

  test("while its child is at work leaves a result that is asked about, also when the old process ends late", async () => {
    using first = world()
    first.host.script("audit", async (child) => {
      await child.return(REJECTED)
      await child.told
    })
    const runner = await started(first)
    await settle(20)
    using second = next(first)
    expect(await recover(second.engine, dead)).toBe(1)
    await resume(second.engine, second.project, dead)
    await askHeld(second.engine, second.project, dead)
    const { pass } = runner
    expect(await questions(second, pass)).toMatchObject([{ status: "pending", asked_by: "audit" }])
    runner.input({ type: "cancel", failure: { code: "E016", message: "late" } })
    await settle(40)
    expect(await questions(second, pass)).toMatchObject([{ status: "pending" }])
    expect(second.host.delivered).toEqual([])
    await answer(second, pass, yes)
    expect(second.host.delivered).toHaveLength(1)
  })

  test.each([
    ["yes", yes, "processed", 1],
    ["no", no, "cancelled", 0],
  ] as const)(
    "before it has carried out a %s leaves that to whoever comes, once",
    async (_said, said, status, brought) => {
      using first = world()
      const pass = await ended(first)
      const [gate] = await questions(first, pass)
      await answerGate(first.engine, gate!.gate_id, said)
      await first.engine.store.actOn(gate!.gate_id, 1)
      using second = next(first)
      await Promise.all([1, 2].map(() => askHeld(second.engine, second.project, dead)))
      await settle(20)
      expect((await second.engine.store.find(pass.id))?.status).toBe(status)
      expect(second.host.delivered).toHaveLength(brought)
      expect(await second.engine.store.held("/project")).toEqual([])
      const lines = await second.engine.store.audit({ pass_over_id: pass.id })
      expect(lines.filter(({ action }) => action === status)).toHaveLength(1)
    },
  )

  test.each(["commit", "redirect"] as const)("within a no, before its %s, leaves the rest of it", async (step) => {
    using first = world()
    const pass = await ended(first)
    const { store } = first.engine
    const kept = { commit: store.commit, redirect: store.redirect }
    Object.assign(store, { [step]: () => new Promise(() => {}) })
    const [gate] = await questions(first, pass)
    await answerGate(first.engine, gate!.gate_id, no)
    void attendGates(first.engine)
    await settle(20)
    Object.assign(store, kept)
    using second = next(first)
    await askHeld(second.engine, second.project, dead)
    expect((await store.find(pass.id))?.status).toBe("cancelled")
    expect(await store.delivery(pass.id)).toMatchObject({ status: "held", mode: "none" })
    expect(await store.held("/project")).toEqual([])
    const lines = await store.audit({ pass_over_id: pass.id })
    expect(lines.filter(({ action }) => action === "cancelled")).toHaveLength(1)
  })
})
