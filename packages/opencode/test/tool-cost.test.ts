import { expect, test } from "bun:test"
import { tokens } from "../src/session/tokens"
import { TOOLS } from "../src/tool/shown.gen"

// Every tool costs tokens in every prompt of the agents that see it.
const ORIGINATOR = ["pass_over", "pass_over_read", "pass_over_review", "flow"]
const CHILD = ["pass_over_return"]

/** What a provider is sent for a tool: name, description and schema, as the host puts them together. */
async function cost(names: readonly string[]): Promise<number> {
  const count = await tokens()
  return TOOLS.filter(({ name }) => names.includes(name)).reduce((sum, { name, description, parameters }) => {
    const sent = { type: "function", function: { name, description, parameters } }
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
