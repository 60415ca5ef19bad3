import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { AGENTS } from "../../../src/agent/agent"
import { evaluate } from "../../../src/pass-over/domain/right"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(60_000)

const held = {} as { world: World }

const mine = {
  mode: "all",
  description: "Mine",
  prompt: "You are mine.",
  model: "rehearsal/script",
  variant: "high",
  temperature: 0.1,
  color: "#ff0000",
  steps: 3,
} as const

beforeAll(async () => {
  const agent = {
    audit: { permission: "allow" },
    scout: { permission: { edit: { "docs/*": "allow" } } },
    alice: mine,
  }
  held.world = await createWorld({ config: { agent, permission: { edit: "allow", task: "allow" } } })
})
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const known = async (name: string) =>
  (await held.world.server.client.app.agents()).data!.find((agent) => agent.name === name)!

/** What opencode's own list of an agent's rules says. */
const said = async (name: string, asked: readonly (readonly [permission: string, pattern: string])[]) => {
  const { permission } = await known(name)
  return asked.map(([what, pattern]) => evaluate(permission, what, pattern).action)
}

const HOST = [
  ["edit", "src/a"],
  ["edit", "docs/a"],
  ["task", "general"],
] as const

test("what a user sets in an agent of our name holds in opencode, and the rest is ours", async () => {
  const { model, ...fields } = mine
  const [providerID = "", modelID = ""] = model.split("/")
  expect(await known("alice")).toMatchObject({ ...fields, model: { providerID, modelID } })
  const ours = AGENTS.find(({ name }) => name === "audit")!.host
  const { mode, description, prompt } = await known("audit")
  expect<object>({ mode, description, prompt: prompt?.trim() }).toEqual({
    mode: ours.mode,
    description: ours.description,
    prompt: ours.prompt?.trim(),
  })
})

test("a user's rules in an agent of our name come behind ours, and those for all agents before", async () => {
  expect(await said("audit", HOST)).toEqual(["allow", "allow", "allow"])
  expect(await said("scout", HOST)).toEqual(["deny", "allow", "deny"])
  expect(await said("inspector", HOST)).toEqual(["deny", "deny", "deny"])
  expect(await said("alice", HOST)).toEqual(["allow", "allow", "deny"])
})

test("who sees our tools does not depend on it", async () => {
  const tools = ["pass_over", "pass_over_read", "pass_over_return", "flow", "pass_over_gate"].map(
    (name) => [name, "*"] as const,
  )
  expect(await said("audit", tools)).toEqual(["deny", "deny", "deny", "deny", "ask"])
  expect(await said("alice", tools)).toEqual(["allow", "allow", "deny", "allow", "ask"])
})
