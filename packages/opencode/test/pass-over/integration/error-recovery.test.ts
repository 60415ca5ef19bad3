import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { call, fault, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import { createWorld, endWorld, type World } from "../support/opencode"
import { answerOf, back } from "../support/script"

setDefaultTimeout(60_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", ...more })

test("a child that answers in text is asked for its return in the same session", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [handover("Answer in text"), answerOf], audit: [say("It is right."), back] } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toContain("audit: approved")
  const [, second] = model.requests({ agent: "audit" })
  expect(second?.tools.map((tool) => tool.name)).toEqual(["pass_over_return"])
  expect(second?.session).toBe(model.requests({ agent: "audit" })[0]!.session)
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect((await store.attempts(pass!.id)).map((attempt) => attempt.kind)).toEqual(["first", "finalise"])
})

test("a child that will not return leaves a partial outcome, never an empty success", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      alice: [handover("Never return"), answerOf],
      audit: [say("The sign is wrong."), say("Still no return.")],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toMatch(/^UNVERIFIED · audit: partial/)
  expect(openEnvelope(answer.text)?.body).toMatchObject({ status: "partial", messages: ["Still no return."] })
})

test("a child that says nothing at all has failed", async () => {
  const { model, server } = held.world
  model.play({ agents: { alice: [handover("Say nothing"), answerOf], audit: [say(""), say("")] } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toMatch(/^BLOCKED · audit: failed/)
})

test("a malformed return comes back to the child with what is wrong, and the repaired one counts", async () => {
  const { model, server } = held.world
  const told: string[] = []
  model.play({
    agents: {
      alice: [handover("Return badly"), answerOf],
      audit: [
        call("pass_over_return", { status: "done", findings: [{ text: "?" }] }),
        (request: ModelRequest) => (told.push(request.result("pass_over_return") ?? ""), back),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(told[0]).toStartWith("Not done. E021 INVALID_WORK_OUTPUT: The return is not valid")
  expect(answer.text).toContain("audit: approved")
})

test("a provider that refuses for good ends the pass with a typed failure", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [handover("Meet a 400"), answerOf], audit: fault.status(400) } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toMatch(/^BLOCKED · audit: failed/)
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect((await store.outcome(pass!.id))?.error_code).toBe("E011")
})

test("a provider that asks for patience is waited for, for longer than a child may be silent", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: {
      alice: [handover("Be patient", { override: { idle_timeout_ms: 1_000 } }), answerOf],
      audit: [fault.rateLimit(3), back],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toContain("audit: approved")
  expect(model.requests({ agent: "audit" })).toHaveLength(2)
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect((await store.attempts(pass!.id)).map((attempt) => attempt.kind)).toEqual(["first"])
  expect((await store.outcome(pass!.id))?.output.metadata.wall_time_ms).toBeGreaterThan(2_900)
})

test("a provider that asks for more patience than there is time left ends the pass at once, and says so", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: {
      alice: [handover("Be very patient", { timeout_ms: 30_000 }), answerOf],
      audit: [call("read", { filePath: join(held.world.box.project, "src/total.ts") }), fault.rateLimit(300)],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [pass] = await store.list({ session_id: answer.sessionID })
  const outcome = await store.outcome(pass!.id)
  expect(outcome).toMatchObject({ error_code: "E010", output: { status: "partial" } })
  expect(outcome?.output.completion_reason).toMatch(
    /its provider asks for patience for 5 min 00 s, and only \d+ s of its time were left: \S+/,
  )
  expect(outcome?.output.metadata.wall_time_ms).toBeLessThan(15_000)
  expect(model.requests({ agent: "audit" })).toHaveLength(2)
})

test("a stream that breaks is taken up again by opencode or by us, with one outcome", async () => {
  const { model, server, box, store } = held.world
  model.play({
    agents: {
      alice: [handover("Break once"), answerOf],
      audit: [call("read", { filePath: join(box.project, "src/total.ts") }), reply(fault.reset()), back],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toContain("audit: approved")
  expect(await store.list({ session_id: answer.sessionID })).toHaveLength(1)
})

test("an agent that nobody knows, and arguments that are wrong, are sentences that a model can act on", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      alice: [
        handover("To nobody", { subagent: "nobody" }),
        call("pass_over", { subagent: "audit", objective: 5, colour: "red" }),
        answerOf,
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [, second, third] = model.requests({ agent: "alice" })
  expect(second?.result("pass_over")).toMatch(
    /^Not done\. E001 INVALID_SUBAGENT: There is no agent "nobody"\. → Choose one of: .*audit.*inspector.*scout/,
  )
  const wrong = third?.result("pass_over") ?? ""
  expect(wrong).toStartWith("Not done. E030 CONFIG_INVALID: The arguments of pass_over are not right:\n")
  for (const name of ["objective", "reason", "colour"]) expect(wrong).toContain(name)
  expect(wrong).toEndWith(" → Correct them and call pass_over again.")
  expect(answer.text).toContain("Not done")
})
