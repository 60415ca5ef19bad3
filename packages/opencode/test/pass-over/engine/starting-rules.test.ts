import { expect, test } from "bun:test"
import { rightsOf, startingRules } from "../../../src/pass-over/service/right"
import { started } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const allow = (permission: string) => ({ permission, pattern: "*", action: "allow" as const })

async function rulesWith(own: ReturnType<typeof allow>[]) {
  using world = createEngineWorld()
  const { agents } = world.host
  world.host.agents = async () => (await agents()).map((agent) => ({ ...agent, rules: own }))
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  return startingRules(await rightsOf(world.engine, world.project, pass), pass)
}

const denied = (rules: Awaited<ReturnType<typeof rulesWith>>) =>
  rules.flatMap(({ permission, action }) => (action === "deny" ? [permission] : []))

test("a child has no list of todos in its prompt, unless its agent is made to have one", async () => {
  expect(denied(await rulesWith([allow("*")]))).toContain("todowrite")
  expect(denied(await rulesWith([allow("*"), allow("todowrite")]))).not.toContain("todowrite")
})

test("a child never has the host's own task, and always its way to return", async () => {
  const rules = await rulesWith([allow("*"), allow("task")])
  expect(denied(rules)).toContain("task")
  expect(rules.at(-1)).toEqual(allow("pass_over_return"))
})
