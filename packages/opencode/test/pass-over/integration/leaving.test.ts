import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { gate, hold, reply, say, type Gate } from "@pass-over/rehearsal"
import { mkdirSync } from "node:fs"
import { order } from "../../../src/pass-over/service/command"
import { answerGate } from "../../../src/pass-over/service/gate"
import { createEngineWorld } from "../support/engine"
import { createWorld, endWorld, type World } from "../support/opencode"
import { until } from "../support/until"
import { answerOf, back, to } from "../support/script"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({ preferences: {} })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const session = async () => (await held.world.server.client.session.create()).data!.id

const newest = async (root_session_id: string) => {
  const [pass] = await held.world.store.list({ root_session_id })
  return pass!
}

/** A session in which an agent has passed work to another, whose child waits at a gate. */
async function working(agent: string, door: Gate) {
  const { server } = held.world
  const id = await session()
  const turn = server.prompt({ agent, text: "Go.", sessionID: id })
  await door.reached
  return { id, turn, pass: await newest(id) }
}

test("after an instance was disposed of, this one's or another project's, passes are still heard and nobody takes them", async () => {
  const { model, server, store, box } = held.world
  const second = `${box.root}/second`
  mkdirSync(second)
  expect(Bun.spawnSync(["git", "init", "-q", second]).exitCode).toBe(0)
  // Without it opencode would install its plugin package first.
  box.seed(`${second}/.opencode`)
  await server.clientFor(second).app.agents()
  await until("the second project", async () => ((await store.owners()).length > 0 ? true : undefined))
  await server.clientFor(second).instance.dispose()
  expect(await store.owners()).toHaveLength(1)
  await server.client.instance.dispose()
  await server.client.app.agents()
  await until("its place", async () => ((await store.owners()).length > 0 ? true : undefined))

  const door = gate()
  model.play({ agents: { alice: [to("scout", "Stay"), answerOf], scout: [reply(hold(door), back)] } })
  const { turn, pass } = await working("alice", door)
  const other = await box.serve()
  await other.client.app.agents()
  await until("the other", async () => ((await store.owners()).length === 2 ? true : undefined))
  await Bun.sleep(1_000)
  expect(await store.find(pass.id)).toMatchObject({ status: "waiting_for_return", owner_id: pass.owner_id })
  using outside = createEngineWorld({ store, owner: "99", seed: 9_000 })
  const asked = { pass_over_id: pass.id, kind: "cancel", text: "enough", actor: "ada" } as const
  expect(await order(outside.engine, asked)).toMatchObject({ ok: true })
  expect((await turn).text).toContain("E016: enough")
  door.open()
  await other.stop()
})

test("what waits for a person in a project that its opencode has closed is taken by another that has it open", async () => {
  const { model, server, store, box } = held.world
  const CONFIRMED = { pairs: { "alice->audit": { require_confirmation: true } } }
  box.write(".opencode/pass-over.json", JSON.stringify(CONFIRMED))
  const second = `${box.root}/second`
  await server.clientFor(second).app.agents()
  model.play({ agents: { alice: [to("audit", "Confirmed later"), say("I have it.")], audit: [back] } })
  const id = await session()
  // Nobody waits for its answer here: who asked the first opencode for it again would open the project there.
  await server.client.session.promptAsync({ sessionID: id, agent: "alice", parts: [{ type: "text", text: "Go." }] })
  const asked = await until("the question", async () => (await store.gates({ status: ["pending"] }))[0])
  const { owner_id } = await newest(id)
  await server.client.instance.dispose()
  const other = await box.serve()
  await other.client.app.agents()
  const { id: pass_over_id } = await until("the other", async () => {
    const pass = await newest(id)
    return pass.owner_id === owner_id ? undefined : pass
  })
  // The first goes on with its other project, and is there.
  expect((await store.owner(owner_id))?.owner_id).toBe(owner_id)
  using outside = createEngineWorld({ store, owner: "97", seed: 29_000 })
  const yes = { verdict: "approve", note: null, by: "ada", surface: "test" } as const
  expect((await answerGate(outside.engine, asked.gate_id, yes)).ok).toBe(true)
  await until("its end", async () => ((await store.find(pass_over_id))?.time_ended ? true : undefined))
  expect((await store.outcome(pass_over_id))?.output.status).toBe("completed")
  await until("its message", async () => (model.requests({ agent: "alice" }).length === 2 ? true : undefined))
  await model.idle()
  await server.clientFor(second).instance.dispose()
  await other.stop()
  box.write(".opencode/pass-over.json", "{}")
  await server.client.app.agents()
})

test("what runs when the instance goes has ended with its opencode, and comes as a message that starts nobody", async () => {
  const { model, server, store } = held.world
  const [waited, aside] = [gate(), gate()]
  model.play({
    agents: {
      alice: [to("inspector", "Waited for")],
      build: [to("scout", "Aside", { wait: false }), say("I go on.")],
      inspector: [reply(hold(waited), back)],
      scout: [reply(hold(aside), back)],
    },
  })
  const first = await working("alice", waited)
  const second = await working("build", aside)
  await second.turn
  await server.client.instance.dispose()
  await first.turn.catch(() => {})
  for (const { pass } of [first, second]) {
    const outcome = await until("its outcome", () => store.outcome(pass.id))
    expect(outcome.error_code).toBe("E011")
    expect((await store.attempts(pass.id)).at(-1)?.kind).toBe("recovered")
  }
  await server.client.app.agents()
  for (const { id } of [first, second]) {
    await until("its message", async () => {
      const { data = [] } = await server.client.session.messages({ sessionID: id })
      return data.at(-1)?.info.role === "user" && data.length > 1 ? true : undefined
    })
  }
  waited.open()
  aside.open()
})

test("opencode run waits for what it passes on, and leaves alone what waits for a person", async () => {
  const { model, server, store, box } = held.world
  box.write(".opencode/pass-over.json", JSON.stringify({ pairs: { "alice->audit": { require_confirmation: true } } }))
  const killed = await box.serve()
  model.play({
    agents: {
      alice: [to("audit", "Confirmed")],
      audit: [back],
      build: [to("scout", "Not waited for", { wait: false }), answerOf],
      scout: [back],
    },
  })
  await server.stop()
  const { data } = await killed.client.session.create()
  void killed.prompt({ agent: "alice", text: "Go.", sessionID: data!.id }).catch(() => {})
  const asked = await until("the question", async () => (await store.gates({ status: ["pending"] }))[0])
  await killed.kill()
  using outside = createEngineWorld({ store, owner: "98", seed: 19_000 })
  const yes = { verdict: "approve", note: null, by: "ada", surface: "test" } as const
  expect((await answerGate(outside.engine, asked.gate_id, yes)).ok).toBe(true)
  const before = await newest(data!.id)

  const ran = await box.run({ prompt: "Go", agent: "build" })
  expect(ran.stdout).toContain("opencode run ends with its prompt, so this was waited for.")
  expect(ran.stdout).toContain("scout: approved")
  expect(await store.find(before.id)).toMatchObject({ status: "initial", owner_id: before.owner_id })

  const later = await box.serve()
  await later.client.app.agents()
  await until("its end", async () => ((await store.find(before.id))?.time_ended ? true : undefined))
  expect((await store.outcome(before.id))?.output.status).toBe("completed")
})
