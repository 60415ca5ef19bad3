import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { gate, hold, reply, type ModelRequest, type Server } from "@pass-over/rehearsal"
import { createEngineWorld } from "../support/engine"
import { answerGate } from "../../../src/pass-over/service/gate"
import { createWorld, endWorld, type World } from "../support/opencode"
import { answerOf, back, to } from "../support/script"
import { until } from "../support/until"

setDefaultTimeout(120_000)

// Two opencode processes on one project share one database, and with it caps, budgets and questions.
const held = {} as { world: World; other: Server }

beforeAll(async () => {
  held.world = await createWorld({ preferences: {} })
  held.other = await held.world.box.serve()
  await held.other.client.app.agents()
})
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const use = (preferences: unknown) => held.world.box.write(".opencode/pass-over.json", JSON.stringify(preferences))

test("no more run at once than may, over both, and the next one starts when a place is free", async () => {
  const { model, server, store } = held.world
  use({ limits: { running: 1 } })
  const door = gate()
  model.play({
    agents: {
      alice: [to("audit", "First"), answerOf],
      build: [to("scout", "Second"), answerOf],
      audit: [reply(hold(door), back)],
      scout: [back],
    },
  })
  const first = server.prompt({ agent: "alice", text: "Go." })
  await until("the child", async () => (model.requests({ agent: "audit" }).length > 0 ? true : undefined))
  const second = held.other.prompt({ agent: "build", text: "Go." })
  const waiting = await until("the pass of the other", async () =>
    (await store.list({})).find((pass) => pass.subagent_id === "scout"),
  )
  await Bun.sleep(600)
  expect(model.requests({ agent: "scout" })).toHaveLength(0)
  expect((await store.find(waiting.id))?.status).toBe("initial")
  door.open()
  expect((await first).text).toContain("audit: approved")
  expect((await second).text).toContain("scout: approved")
})

test("a question that one process asks is answered from outside, and both see it", async () => {
  const { model, server, store } = held.world
  use({ pairs: { "alice->audit": { require_confirmation: true } } })
  model.play({ agents: { alice: [to("audit", "Ask first"), answerOf], audit: [back] } })
  const turn = server.prompt({ agent: "alice", text: "Go." })
  const asked = await until("the question", async () => (await store.gates({ status: ["pending"] }))[0])
  using outside = createEngineWorld({ store, owner: "99", seed: 9_000 })
  const said = await answerGate(outside.engine, asked.gate_id, {
    verdict: "approve",
    note: null,
    by: "ada",
    surface: "the terminal",
  })
  expect(said.ok).toBe(true)
  expect((await turn).text).toContain("audit: approved")
  // The host's own dialog was taken off the screen.
  expect((await server.client.permission.list()).data).toEqual([])
})

test("one budget for a tree holds over both", async () => {
  const { model, server, store } = held.world
  use({ limits: { tree: { passes: 1 } }, pairs: { "scout->audit": {} } })
  const told: string[] = []
  model.play({
    agents: {
      alice: [to("scout", "Use it up"), answerOf],
      scout: [
        to("audit", "One too many"),
        (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), back),
      ],
    },
  })
  const { text } = await server.prompt({ agent: "alice", text: "Go." })
  expect(text).toContain("scout: approved")
  expect(told[0]).toStartWith("Not done. E015 BUDGET_EXCEEDED")
  expect(await store.audit({ action: "refused" })).toMatchObject([{ error_code: "E015" }])
})
