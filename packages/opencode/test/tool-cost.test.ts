import { expect, test } from "bun:test"
import { createPlugin } from "../src/plugin"
import { tokens } from "../src/session/tokens"

// Every tool costs tokens in every prompt of the agents that see it.
const ORIGINATOR = ["pass_over", "pass_over_read", "pass_over_review", "flow"]
const CHILD = ["pass_over_return"]

/** What a provider is sent for a tool: name, description and schema, as the host puts them together. */
async function cost(names: readonly string[]): Promise<number> {
  process.env.PASS_OVER_DB = ":memory:"
  const client = new Proxy(
    {},
    { get: () => new Proxy(() => Promise.resolve({}), { get: () => () => Promise.resolve({}) }) },
  )
  const plugin = createPlugin({
    client: client as never,
    directory: "/project",
    worktree: "/project",
    serverUrl: new URL("http://localhost:4096"),
  })
  const count = await tokens()
  return names.reduce((sum, name) => {
    const tool = plugin.tools[name]
    if (!tool) return sum
    const shown: { jsonSchema?: unknown } = {}
    plugin.define(name, shown)
    const sent = { type: "function", function: { name, description: tool.description, parameters: shown.jsonSchema } }
    return sum + count(JSON.stringify(sent))
  }, 0)
}

test("an originator's tools cost at most 900 tokens in each prompt", async () => {
  const sum = await cost(ORIGINATOR)
  expect(sum).toBeGreaterThan(200)
  expect(sum).toBeLessThanOrEqual(900)
})

test("a child's tool costs at most 350", async () => {
  const sum = await cost(CHILD)
  expect(sum).toBeGreaterThan(100)
  expect(sum).toBeLessThanOrEqual(350)
})
