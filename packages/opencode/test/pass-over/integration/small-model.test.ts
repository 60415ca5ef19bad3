import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { fault, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { generateSummary } from "../../../src/pass-over/service/summary"
import { MODEL_AGENT } from "../../../src/agent/agent"
import { askSmallModel } from "../../../src/session/small-model"
import { tokens } from "../../../src/session/tokens"
import { createWorld, endWorld, type World } from "../support/opencode"
import { finding } from "../sample"

setDefaultTimeout(60_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const sessions = async () => (await held.world.server.client.session.list()).data ?? []

test("the small model answers from a session without tools that is gone afterwards", async () => {
  const { model, server } = held.world
  model.play({ agents: { [MODEL_AGENT]: (request: ModelRequest) => say(`You said: ${request.user}`) } })
  const text = await askSmallModel(server.client, { prompt: "Hello there.", max_tokens: 50 })
  expect(text).toBe("You said: Hello there.")
  const [request] = model.requests({ agent: MODEL_AGENT })
  expect(request?.tools).toEqual([])
  expect(request?.system).toContain("Answer exactly what is asked")
  expect(await sessions()).toEqual([])
})

test("a summary is told by it, and by rules where it fails", async () => {
  const { model, server } = held.world
  const deps = {
    host: { generate: (input: { prompt: string; max_tokens: number }) => askSmallModel(server.client, input) },
    tokens,
    nonce: () => "0123456789abcdef0123456789abcdef",
  }
  const request = { artifacts: [finding()], style: "narrative", focus: "all" } as const
  model.play({ agents: { [MODEL_AGENT]: [say("It sums the wrong column."), reply(fault.status(400))] } })
  expect(await generateSummary(deps, { ...request, artifacts: [...request.artifacts] })).toBe(
    "It sums the wrong column.",
  )
  expect(await generateSummary(deps, { ...request, artifacts: [...request.artifacts] })).toBe(
    "The work brought 1 finding (1 warning).\nThe most serious is warning: sums the wrong column.",
  )
  expect(await sessions()).toEqual([])
})
