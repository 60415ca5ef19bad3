import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { calls, repeat, say } from "@pass-over/rehearsal"
import type { Gate } from "../../../src/pass-over/domain/gate"
import { GATE_PERMISSION } from "../../../src/tool/dialog"
import { createWorld, endWorld, type World } from "../support/opencode"
import { back } from "../support/script"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const held = {} as { world: World }

// Two passes that are not waited for: their call has its answer long before anybody is asked about the second.
const two = calls(
  ...(["scout", "audit"] as const).map((subagent): [string, Record<string, unknown>] => [
    "pass_over",
    { subagent, objective: `Let ${subagent} look`, reason: "test", wait: false },
  ]),
)

beforeAll(async () => {
  held.world = await createWorld({ preferences: { defaults: { require_confirmation: true, isolation: "none" } } })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const open = async () =>
  ((await held.world.server.client.permission.list()).data ?? []).filter(
    ({ permission }) => permission === GATE_PERMISSION,
  )

/** The one question that is on the screen, once it is another than this. */
const asked = (before?: string) =>
  until("a question", async () => {
    const [question] = await open()
    return question && question.id !== before ? question : undefined
  })

const OVER: readonly string[] = ["returned", "processed", "cancelled"]

const gates = (status: Gate["status"]) => held.world.store.gates({ status: [status] })

test("passes that are not waited for are asked about one after the other; a yes and a no reach each its own", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [two, repeat(say("I go on."))], "*": back } })
  const { sessionID } = await server.prompt({ agent: "alice", text: "Go." })
  const first = await asked()
  expect(await open()).toHaveLength(1)
  await server.client.permission.reply({ requestID: first.id, reply: "once" })
  const second = await asked(first.id)
  expect(second.patterns).not.toEqual(first.patterns)
  await server.client.permission.reply({ requestID: second.id, reply: "reject" })

  const passes = await until("both ends", async () => {
    const all = await store.list({ root_session_id: sessionID })
    return all.every(({ status }) => OVER.includes(status)) ? all : undefined
  })
  const declined = passes.find(({ objective }) => second.patterns[0]?.includes(objective))
  expect((await store.outcome(declined!.id))?.error_code).toBe("E017")
  const ran = passes.find(({ id }) => id !== declined?.id)
  expect((await store.outcome(ran!.id))?.output.status).toBe("completed")
})

test("a question that opencode takes along when it lets go of the project is nobody's no: it stands in the inbox", async () => {
  const { model, server } = held.world
  model.play({ agents: { alice: [two, repeat(say("I go on."))] } })
  await server.prompt({ agent: "alice", text: "Go." })
  await asked()
  expect(await gates("pending")).toHaveLength(2)
  const before = (await gates("rejected")).length
  await server.client.instance.dispose()
  await server.client.app.agents()
  // What is taken for a no is written at once.
  await Bun.sleep(1_000)
  expect(await gates("rejected")).toHaveLength(before)
  expect(await gates("pending")).toHaveLength(2)
})
