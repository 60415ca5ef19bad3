import { expect, test } from "bun:test"
import type { Runner } from "../../../src/pass-over/service/runner"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import type { Child } from "../support/scripted-host"

const MINUTE = 60_000
const RATE = "Rate limit reached for requests"

async function back(child: Child) {
  await child.return(VERDICT)
  child.step()
  await child.told
}

test("a provider that asks for five minutes is given them, and nobody above is silent meanwhile", async () => {
  using world = createEngineWorld()
  const nested = {} as { runner: Runner }
  world.host.script("scout", async (child) => {
    nested.runner = await started(world, { timeout_ms: 9 * MINUTE }, { agent: "scout", session_id: child.session_id })
    await nested.runner.outcome
    await back(child)
  })
  world.host.script("audit", async (child) => {
    child.putOff(5 * MINUTE, RATE)
    await child.wait(5 * MINUTE)
    await back(child)
  })
  const runner = await started(world, { subagent: "scout", timeout_ms: 10 * MINUTE })
  const { output, error_code } = await outcomeOf(world, runner)
  expect([output.status, error_code]).toEqual(["completed", null])
  expect(world.host.prompts.map(({ agent, kind }) => `${agent} ${kind}`)).toEqual(["scout first", "audit first"])
  expect((await nested.runner.outcome).output.metadata.wall_time_ms).toBe(5 * MINUTE)
})

test("who would be asked again only when their time is up is told so at once, with what was done", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.step()
    child.putOff(5 * MINUTE, RATE)
    await child.told
  })
  const runner = await started(world, { timeout_ms: 3 * MINUTE })
  const { output, error_code } = await outcomeOf(world, runner)
  expect(error_code).toBe("E010")
  expect(output.metadata.wall_time_ms).toBeLessThan(1_000)
  expect(output.artifacts.map(({ type }) => type)).toContain("tool_result")
  expect(output.completion_reason).toContain(
    `its provider asks for patience for 5 min 00 s, and only 3 min 00 s of its time were left: ${RATE}`,
  )
  expect(await world.engine.store.find(runner.pass.id)).toMatchObject({ status: "timed_out" })
})
