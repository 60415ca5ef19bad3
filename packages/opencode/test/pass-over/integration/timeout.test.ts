import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { call, fault, gate, hold, reply, say } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import { createWorld, endWorld, type World } from "../support/opencode"
import { answerOf } from "../support/script"

setDefaultTimeout(60_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({ preferences: { defaults: { idle_timeout_ms: 60_000 } } })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", ...more })

test(
  "a child that hangs in mid-stream ends at its deadline, and what it had done is kept",
  async () => {
    const { model, server, box, store } = held.world
    model.play({
      agents: {
        alice: [handover("Wait for ever", { timeout_ms: 2_500 }), answerOf],
        audit: [
          call("read", { filePath: join(box.project, "src/total.ts") }),
          reply(say("I have seen that"), fault.stall()),
        ],
      },
    })
    const began = performance.now()
    const answer = await server.prompt({ agent: "alice", text: "Review." })
    const took = performance.now() - began
    const opened = openEnvelope(answer.text)
    expect(opened?.headline).toMatch(/^UNVERIFIED · audit: partial/)
    expect(opened?.body).toMatchObject({ status: "partial", tool_results: 1 })
    const [pass] = await store.list({ session_id: answer.sessionID })
    expect(pass).toMatchObject({ status: "timed_out", timeout_ms: 2_500 })
    const outcome = await store.outcome(pass!.id)
    expect(outcome?.error_code).toBe("E010")
    expect(outcome?.output.artifacts.map((artifact) => artifact.type)).toContain("tool_result")
    expect(outcome!.output.metadata.wall_time_ms).toBeLessThan(2_500 + 250)
    expect(took).toBeLessThan(15_000)
    // The child really stopped: its session is idle and its request was given up.
    const status = (await server.client.session.status()).data ?? {}
    expect(status[pass!.child_session_id!]?.type ?? "idle").toBe("idle")
    // A machine that is busy with something else is late once, and not three times.
  },
  { retry: 2 },
)

test("a command that a child started is stopped with it", async () => {
  const { model, server, box, store } = held.world
  model.play({
    agents: {
      alice: [handover("Run it", { timeout_ms: 2_000 }), answerOf],
      audit: call("bash", { command: "sleep 31.7", description: "Sleeps", timeout: 60_000 }),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Run." })
  expect(openEnvelope(answer.text)?.body).toMatchObject({ status: expect.stringMatching(/partial|aborted/) })
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass?.status).toBe("timed_out")
  const sleeping = () => box.processes().filter((process) => process.command.includes("31.7"))
  for (let left = 40; left > 0 && sleeping().length > 0; left -= 1) await Bun.sleep(50)
  expect(sleeping()).toEqual([])
})

test("a return that was made in time counts, though a command beside it runs past the deadline", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: {
      alice: [handover("Return beside a sleeper", { timeout_ms: 2_500 }), answerOf],
      audit: reply(
        call("bash", { command: "sleep 32.9", description: "Sleeps", timeout: 60_000 }),
        call("pass_over_return", { decision: "approved", decision_reason: "It is right." }),
      ),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(openEnvelope(answer.text)?.body).toMatchObject({ status: "completed", decision: "approved" })
  const [pass] = await store.list({ session_id: answer.sessionID })
  expect(pass?.status).toBe("processed")
})

test("stopping the originator ends the whole chain with one outcome", async () => {
  const { model, server, store } = held.world
  const asked = gate()
  model.play({ agents: { alice: handover("Be stopped"), audit: hold(asked) } })
  const session = (await server.client.session.create()).data!
  const turn = server.prompt({ agent: "alice", text: "Go.", sessionID: session.id })
  await asked.reached
  await server.client.session.abort({ sessionID: session.id })
  await turn.catch(() => {})
  const ended = async () => (await store.list({ session_id: session.id }))[0]
  for (let left = 40; left > 0 && (await ended())?.status === "waiting_for_return"; left -= 1) await Bun.sleep(50)
  const pass = await ended()
  expect(pass?.status).toBe("cancelled")
  expect((await store.outcome(pass!.id))?.output.status).toBe("aborted")
  asked.open()
})
